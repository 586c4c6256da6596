import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { epoch } from '../../../src/base/ids.ts';
import { paths } from '../../../src/state-manager/paths.ts';
import { StatusCode } from '../../../src/wire/messages.ts';
import { eventually } from '../../support/eventually.ts';
import { aPlanOf } from '../../support/planned-tasks.ts';
import {
  ENGINE_VERSION,
  RunningStreamManagers,
  TOKEN,
} from '../../support/running-stream-managers.ts';
import { aBolt, aSpout, aTopology } from '../../support/topologies.ts';
import { aTuple, tupleSetBytes } from '../../support/tuple-sets.ts';

const topology = aTopology([aSpout('word'), aBolt('count', ['word'])]);
const plan = aPlanOf(topology, ['word', 1], ['count', 2]);
const one = tupleSetBytes({ task: 1, tuples: [aTuple('x')] });

describe('the topology master', () => {
  it('learns who registers, from where and with which instances', async (t) => {
    const running = await RunningStreamManagers.start(t, plan);
    await running.instances();
    const [id] = running.master.registrations.keys();
    const registration = id && running.master.registrations.get(id);
    assert.equal(registration?.token, TOKEN);
    assert.equal(registration?.engineVersion, ENGINE_VERSION);
    assert.equal(registration?.masterEpoch, 1n);
    const { ports } = running.managerOf(1).manager;
    assert.equal(registration?.stmgr?.dataPort, ports.data);
    assert.equal(registration?.stmgr?.localDataPort, ports.localData);
    await eventually(() => running.master.heartbeats.length > 4);
  });

  it('may go away: tuples flow on, and its successor is found', async (t) => {
    const running = await RunningStreamManagers.start(t, plan);
    const all = await running.instances();
    await running.master.close();
    all.get(1)?.sendSet(one);
    await eventually(() => all.get(2)?.tupleCount === 1);
    const successor = await running.startMaster({ masterEpoch: epoch(2) });
    await eventually(() => successor.registrations.size === 2);
    // The same plan once more changes nothing for the instances.
    successor.plan = { ...plan, epoch: epoch(2), topology: { ...topology, state: 'PAUSED' } };
    successor.publish();
    await eventually(() => all.get(1)?.plans.length === 2);
    assert.equal(all.get(1)?.plans[1]?.epoch, 2n);
  });

  it('of an older epoch is not listened to, wherever it speaks', async (t) => {
    const running = await RunningStreamManagers.start(t, plan, { withoutMaster: true });
    const current = await running.startMaster({ masterEpoch: epoch(5) });
    const all = await running.instances();
    const { log } = running.managerOf(1);
    current.masterEpoch = epoch(4);
    current.plan = { ...plan, epoch: epoch(9) };
    current.publish();
    await eventually(() => log.includes('refused a plan of an older topology master'));
    await current.publishLocation({ epoch: epoch(3) });
    await eventually(() => log.includes('refused a location of an older topology master'));
    assert.equal(all.get(1)?.plans.length, 1);
  });

  it('cannot bring back an older plan', async (t) => {
    const running = await RunningStreamManagers.start(t, { ...plan, epoch: epoch(3) });
    const all = await running.instances();
    running.master.plan = { ...plan, epoch: epoch(2) };
    running.master.publish();
    await eventually(() => running.managerOf(1).log.includes('refused a plan'));
    assert.equal(all.get(1)?.plans.length, 1);
  });

  it('that refuses is asked again', async (t) => {
    const running = await RunningStreamManagers.start(t, plan);
    running.master.status = StatusCode.DUPLICATE_STRMGR;
    const [first, second] = [await running.instance(1), await running.instance(2)];
    await eventually(() => running.managerOf(1).log.includes('no connection with topology master'));
    running.master.status = StatusCode.OK;
    await Promise.all([first.plan(), second.plan()]);
  });

  it('of another submit ends the process as refused', async (t) => {
    const running = await RunningStreamManagers.start(t, plan);
    await running.master.publishLocation({ topologyId: 'words-2' });
    const { failures } = running.managerOf(1);
    await eventually(() => failures.length > 0);
    assert.equal(failures[0]?.code, 'WRONG_TOPOLOGY');
  });

  it('that is not found in time ends the process', async (t) => {
    const config = new Map([['heron.check.tmanager.location.interval.ms', '50']]);
    const running = await RunningStreamManagers.start(t, plan, { config, withoutMaster: true });
    const { failures } = running.managerOf(1);
    await eventually(() => failures.length > 0);
    assert.equal(failures[0]?.code, 'START_TIMEOUT');
  });

  it('whose location is garbage is looked for further', async (t) => {
    const running = await RunningStreamManagers.start(t, plan, { withoutMaster: true });
    await running.stateManager.write(paths.topologyMaster(topology.name), Buffer.from('garbage'));
    const { log } = running.managerOf(1);
    await eventually(() => log.includes('the location of the topology master is corrupted'));
    await running.startMaster();
    await running.instances();
  });

  it('may change the state: every instance gets the newer plan', async (t) => {
    const running = await RunningStreamManagers.start(t, plan);
    const all = await running.instances();
    running.master.plan = { ...plan, epoch: epoch(2) };
    running.master.publish();
    for (const instance of all.values()) {
      await eventually(() => instance.plans.length === 2);
      assert.equal(instance.plans[1]?.epoch, 2n);
    }
  });

  it('is refused where it has instances that nobody expects, and works elsewhere', async (t) => {
    const running = await RunningStreamManagers.start(t, plan);
    await running.instances();
    const other = aPlanOf(topology, ['word', 1], ['count', 2], ['count', 2]);
    running.master.plan = { ...other, epoch: epoch(2) };
    running.master.publish();
    const [first, second] = [running.managerOf(1), running.managerOf(2)];
    await eventually(() => second.log.includes('refused a plan'));
    await eventually(() => first.manager.plan?.epoch === 2);
    assert.equal(second.manager.plan?.epoch, 1);
    assert.deepEqual([...first.failures, ...second.failures], []);
  });
});

describe('a stream manager that starts again', () => {
  it('takes its instances and links back, and data flows again both ways', async (t) => {
    const both = aPlanOf(topology, ['word', 1], ['word', 2], ['count', 1], ['count', 2]);
    const running = await RunningStreamManagers.start(t, both);
    const all = await running.instances();
    const { data, localData } = running.managerOf(1).manager.ports;
    const id = both.streamManagers[0]?.id;
    assert.ok(id !== undefined);
    await running.managerOf(1).stop();
    await eventually(() => all.get(1)?.isClosed === true);
    await running.startManager(id, { dataPort: data, localDataPort: localData });
    const [word, count] = [await running.instance(1), await running.instance(3)];
    await Promise.all([word.plan(), count.plan()]);
    for (let index = 0; index < 20; index += 1) {
      word.sendSet(one);
      all.get(2)?.sendSet(tupleSetBytes({ task: 2, tuples: [aTuple('y')] }));
    }
    await eventually(() => count.tupleCount + (all.get(4)?.tupleCount ?? 0) === 40);
    assert.ok(count.tupleCount === 20);
  });
});
