import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { epoch } from '../../../src/base/ids.ts';
import { StatusCode } from '../../../src/wire/messages.ts';
import { AckingBolt, settledKeys } from '../../support/acking-bolt.ts';
import { eventually } from '../../support/eventually.ts';
import { FaultyProxy } from '../../support/faulty-proxy.ts';
import {
  topology,
  plan,
  AT_LEAST_ONCE,
  FIRST,
  SECOND,
  numbered,
  tracked,
  numbersOf,
  upTo,
  registered,
  running,
  begin,
  retired,
  worksBy,
} from '../../support/live-updates.ts';
import { tupleSetBytes } from '../../support/tuple-sets.ts';
import { updated } from '../../support/updated-plans.ts';

describe('an update that adds a task', () => {
  it('lets its instance register by the packing plan, and says so on its connection', async (t) => {
    const { managers } = await running(t, plan);
    const { master } = managers;
    await worksBy(managers, 1, FIRST, SECOND);
    const before = master.registered.length;
    const union = updated(plan, { add: [['count', 2]] });
    managers.plan = union;
    const refused = await (await managers.instance(4)).registrationAnswer();
    assert.match(refused.status?.message ?? '', /is not an instance of this container/);
    await managers.storePacking(union);
    const added = await registered(managers, 4);
    await eventually(() => master.registered.length === before + 1);
    const last = master.registered.at(-1);
    assert.equal(last?.stmgr?.id, SECOND);
    assert.deepEqual(new Set(last?.instances.map(({ info }) => info?.taskId)), new Set([2, 4]));
    assert.ok(!managers.managerOf(2).log.includes('lost the topology master'));
    assert.deepEqual(added.plans, []); // The plan in force does not have it.
  });

  it('says so again on that connection when the master does not know of it yet', async (t) => {
    const { managers } = await running(t, plan);
    const { master } = managers;
    await worksBy(managers, 1, FIRST, SECOND);
    const before = master.registered.length;
    master.status = StatusCode.NOTOK;
    const union = updated(plan, { add: [['count', 2]] });
    managers.plan = union;
    await managers.storePacking(union);
    await registered(managers, 4);
    const { log } = managers.managerOf(2);
    const refused = (): number =>
      log.filter((line) => line === 'the topology master does not know these instances yet').length;
    await eventually(() => refused() > 1);
    master.status = StatusCode.OK;
    await eventually(() => master.registered.length === before + 1);
    assert.equal(log.filter((line) => line === 'connected with topology master').length, 1);
  });

  it('gives it its part of what is emitted from then on; all comes, and once', async (t) => {
    const { managers, instance } = await running(t, plan);
    const word = instance(1);
    word.sendSet(numbered(0, 1_000));
    const added = await begin(managers, updated(plan, { add: [['count', 2]] }));
    await eventually(() => managers.managerOf(1).manager.plan?.epoch === 2);
    word.sendSet(numbered(1_000, 4_000));
    const counts = [instance(2), instance(3), added(4)];
    await eventually(() => numbersOf(...counts).length === 4_000);
    assert.deepEqual(numbersOf(...counts), upTo(4_000));
    assert.equal(added(4).tupleCount, 1_000);
  });

  it('links with its stream manager when that is new; tuples wait for it meanwhile', async (t) => {
    const { managers, instance } = await running(t, plan, AT_LEAST_ONCE);
    const word = instance(1);
    word.sendSet(tracked(0, 300));
    const added = await begin(managers, updated(plan, { add: [['count', 3]] }));
    await eventually(() => managers.managerOf(1).manager.plan?.epoch === 2);
    word.sendSet(tracked(300, 600));
    await eventually(() => added(4).tupleCount === 100);
    const bolts = [
      new AckingBolt(instance(2), 2),
      new AckingBolt(instance(3), 3),
      new AckingBolt(added(4), 4),
    ];
    await eventually(() => {
      for (const bolt of bolts) bolt.ackAll();
      return settledKeys(word).acked.length === 600;
    });
    assert.deepEqual(settledKeys(word).failed, []);
  });

  it('S07: a spout that is added has all of its acks come back', async (t) => {
    const { managers, instance } = await running(t, plan, AT_LEAST_ONCE);
    const added = await begin(managers, updated(plan, { add: [['word', 2]] }));
    const bolts = [new AckingBolt(instance(2), 2), new AckingBolt(instance(3), 3)];
    const spouts = [
      [instance(1), 1],
      [added(4), 4],
    ] as const;
    for (const [spout, task] of spouts) spout.sendSet(tracked(0, 1_000, task));
    await eventually(() => {
      for (const bolt of bolts) bolt.ackAll();
      return spouts.every(([spout]) => settledKeys(spout).acked.length === 1_000);
    });
    for (const [spout] of spouts) assert.deepEqual(settledKeys(spout).failed, []);
  });
});

describe('an update that takes a task away', () => {
  for (const [mode, config] of [
    ['at most once', new Map()],
    ['at least once', AT_LEAST_ONCE],
  ] as const) {
    it(`${mode}: what waits and what is under way comes, and once`, async (t) => {
      const small = new Map([...config, ['heron.streammgr.credit.bytes', '65536']]);
      const { managers, instance } = await running(t, plan, small);
      const [word, leaving, staying] = [instance(1), instance(2), instance(3)];
      leaving.isSlow = true;
      const send = mode === 'at most once' ? numbered : tracked;
      for (let from = 0; from < 2_000; from += 100) word.sendSet(send(from, from + 100));
      await eventually(() => leaving.receivedBytes >= 65_536);
      const union = updated(plan, { retire: [2] });
      await begin(managers, union);
      await worksBy(managers, 2, FIRST, SECOND);
      word.sendSet(send(2_000, 3_000));
      assert.deepEqual(leaving.endedTasks, []);
      leaving.isSlow = false;
      leaving.consume();
      await eventually(() => leaving.endedTasks.includes(1));
      await eventually(() => leaving.tupleCount + staying.tupleCount === 3_000);
      assert.deepEqual(numbersOf(leaving, staying), upTo(3_000));
      const bolts = [new AckingBolt(leaving, 2), new AckingBolt(staying, 3)];
      for (const bolt of bolts) bolt.ackAll();
      assert.deepEqual(managers.master.retired.get(SECOND), []);
      bolts[0]?.end();
      await retired(managers, SECOND, 2);
      managers.publish(updated(union, { remove: [2] }));
      await worksBy(managers, 3, FIRST, SECOND);
      word.sendSet(send(3_000, 3_500));
      await eventually(() => staying.tupleCount + leaving.tupleCount === 3_500);
      if (mode === 'at most once') return;
      await eventually(() => {
        for (const bolt of bolts) bolt.ackAll();
        return settledKeys(word).acked.length === 3_500;
      });
      assert.deepEqual(settledKeys(word).failed, []);
    });
  }

  it('that is a spout waits for its end, and then nothing of it is left', async (t) => {
    const before = updated(plan, { add: [['word', 2]] });
    const { managers, instance } = await running(t, before, AT_LEAST_ONCE);
    const [spout, bolt] = [instance(4), instance(3)];
    spout.sendSet(tracked(0, 10, 4));
    await eventually(() => bolt.tupleCount + instance(2).tupleCount === 10);
    const union = updated(before, { retire: [4] });
    await begin(managers, union);
    await eventually(() => spout.plans.at(-1)?.epoch === BigInt(union.epoch));
    const bolts = [new AckingBolt(instance(2), 2), new AckingBolt(bolt, 3)];
    for (const one of bolts) one.ackAll();
    await eventually(() => settledKeys(spout).acked.length === 10);
    spout.sendSet(tupleSetBytes({ task: 4, endOfInput: true }));
    await retired(managers, SECOND, 4);
    managers.publish(updated(union, { remove: [4] }));
    await worksBy(managers, union.epoch + 1, FIRST, SECOND);
    const { manager, metrics } = managers.managerOf(2);
    assert.equal(manager.liveTrees, 0);
    const names = metrics.collect().map(({ name }) => name);
    assert.deepEqual(
      names.filter((name) => name.startsWith('__live_trees/')),
      [],
    );
    assert.ok(!spout.isClosed); // Its executor ends it.
    await managers.storePacking(updated(union, { remove: [4] }));
    await eventually(() => spout.isClosed);
  });

  it('O35: with its container: the link ends with the process, and for good', async (t) => {
    const { managers, instance } = await running(t, plan, AT_LEAST_ONCE);
    const proxy = await FaultyProxy.start(t, managers.managerOf(2).manager.ports.data);
    const dialled = managers.master.addresses.map((address) =>
      address.id === SECOND ? { ...address, dataPort: proxy.port } : address,
    );
    managers.master.plan = { ...plan, epoch: epoch(2) };
    managers.master.publish(dialled);
    const { log } = managers.managerOf(1);
    const times = (what: string): number => log.filter((line) => line === what).length;
    await eventually(() => times('linked with a stream manager') === 2);
    const [word, leaving, staying] = [instance(1), instance(2), instance(3)];
    const bolts = [new AckingBolt(leaving, 2), new AckingBolt(staying, 3)];
    word.sendSet(tracked(0, 100));
    await eventually(() => leaving.tupleCount + staying.tupleCount === 100);
    const union = updated({ ...plan, epoch: epoch(2) }, { retire: [2] });
    managers.master.plan = union;
    managers.master.publish(dialled);
    await eventually(() => leaving.endedTasks.includes(1));
    bolts[0]?.ackAll();
    bolts[0]?.end();
    await retired(managers, SECOND, 2);
    managers.publish(updated(union, { remove: [2] }));
    await worksBy(managers, 4, FIRST, SECOND);
    assert.equal(times('lost a stream manager'), 1); // When it moved behind the proxy.
    await managers.managerOf(2).stop();
    await eventually(() => log.includes('a stream manager has left'));
    word.sendSet(tracked(100, 200));
    await eventually(() => {
      bolts[1]?.ackAll();
      return settledKeys(word).acked.length === 200;
    });
    assert.deepEqual(settledKeys(word).failed, []);
    assert.deepEqual([proxy.connections, times('lost a stream manager')], [1, 1]);
  });

  it('acts as always when the link breaks while the container is in the plan', async (t) => {
    const { managers, instance } = await running(t, plan, AT_LEAST_ONCE);
    const [word, leaving] = [instance(1), instance(2)];
    leaving.isSlow = true;
    word.sendSet(tracked(0, 100));
    await eventually(() => leaving.tupleCount === 50);
    await begin(managers, updated(plan, { retire: [2] }));
    await managers.managerOf(2).stop();
    await eventually(() => settledKeys(word).failed.length === 100);
    assert.ok(managers.managerOf(1).log.includes('lost a stream manager'));
  });
});

describe('plans in another order', () => {
  it('that are older than the one in force are refused, at every step of an update', async (t) => {
    const { managers, instance } = await running(t, plan);
    const union = updated(plan, { retire: [2] });
    await begin(managers, union);
    await worksBy(managers, 2, FIRST, SECOND);
    managers.publish(plan);
    const { log, manager } = managers.managerOf(1);
    await eventually(() => log.includes('refused a plan'));
    assert.equal(manager.plan?.epoch, 2);
    instance(1).sendSet(numbered(0, 100));
    await eventually(() => instance(3).tupleCount === 100);
    assert.equal(instance(2).tupleCount, 0);
  });

  it('of packing are passed over, as are those that cannot be read', async (t) => {
    const { managers } = await running(t, plan);
    const union = updated(plan, { add: [['count', 2]] });
    managers.plan = union;
    await managers.storePacking(union);
    const { log } = managers.managerOf(2);
    await eventually(() => log.includes('the container gets other instances'));
    await managers.storePacking(plan);
    await eventually(() => log.includes('an old packing plan is passed over'));
    const path = `packingplans/${topology.name}`;
    await managers.stateManager.write(path, Buffer.from([255, 255, 255]));
    const unread = 'the packing plan cannot be read; waiting for another one';
    await eventually(() => log.includes(unread));
    await registered(managers, 4);
  });
});
