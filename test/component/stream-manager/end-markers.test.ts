import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { encodePacket, NO_REQUEST_ID } from '../../../src/wire/frame.ts';
import { TUPLE_SET_TYPE } from '../../../src/wire/tuple-set-format.ts';
import { eventually } from '../../support/eventually.ts';
import { aPlanOf } from '../../support/planned-tasks.ts';
import { RunningStreamManagers } from '../../support/running-stream-managers.ts';
import { aBolt, anInput, aSpout, aTopology } from '../../support/topologies.ts';
import { aTuple, tupleSetBytes } from '../../support/tuple-sets.ts';

const topology = aTopology([
  aSpout('word'),
  aBolt('count', [anInput('word', { kind: 'all' })]),
  aBolt('sink', ['count']),
]);
const plan = aPlanOf(topology, ['word', 1], ['word', 2], ['count', 1], ['count', 2], ['sink', 1]);

function data(task: number, count: number): Uint8Array {
  const tuples = Array.from({ length: count }, (_, index) => aTuple(`${task}-${index}`));
  return tupleSetBytes({ task, tuples });
}

const packetOf = (set: Uint8Array): Uint8Array => encodePacket(TUPLE_SET_TYPE, NO_REQUEST_ID, set);

const end = (task: number): Uint8Array => tupleSetBytes({ task, endOfInput: true });

describe('the end of a task', () => {
  it('reaches every task of every reader behind the data, and nobody else', async (t) => {
    const running = await RunningStreamManagers.start(t, plan);
    const all = await running.instances();
    // In one piece, so that the end is read in the same turn as the data.
    all.get(1)?.sendBytes(Buffer.concat([packetOf(data(1, 5_000)), packetOf(end(1))]));
    for (const task of [3, 4]) {
      const count = all.get(task);
      await eventually(() => count?.endedTasks.includes(1) === true);
      assert.deepEqual(count?.endedTasks, [1]);
      assert.deepEqual(count?.tuplesBeforeEnd, [5_000]);
    }
    assert.deepEqual(all.get(5)?.endedTasks, []);
  });

  it('does not overtake data that waits for credit', async (t) => {
    const config = new Map([['heron.streammgr.credit.bytes', '65536']]);
    const running = await RunningStreamManagers.start(t, plan, { config });
    const all = await running.instances();
    const count = all.get(4);
    assert.ok(count !== undefined);
    count.isSlow = true;
    for (let round = 0; round < 60; round += 1) all.get(1)?.sendSet(data(1, 200));
    all.get(1)?.sendSet(end(1));
    await eventually(() => running.managerOf(1).count('__server/__tuples_from_workers') === 12_000);
    await eventually(() => all.get(3)?.endedTasks.length === 1);
    assert.deepEqual(count.endedTasks, []);
    count.isSlow = false;
    count.consume();
    await eventually(() => count.endedTasks.length === 1);
    assert.deepEqual(count.tuplesBeforeEnd, [12_000]);
  });

  it('is told to the master at once, and again to its successor', async (t) => {
    const config = new Map([['heron.streammgr.tmanager.heartbeat.interval.ms', '60000']]);
    const running = await RunningStreamManagers.start(t, plan, { config });
    const all = await running.instances();
    // The second end comes while the heartbeat of the first still waits for its answer.
    for (const task of [1, 3]) all.get(task)?.sendSet(end(task));
    const { heartbeats } = running.master;
    await eventually(() => heartbeats.some((tasks) => tasks.includes(1) && tasks.includes(3)));
    await running.master.close();
    const successor = await running.startMaster();
    await eventually(() => successor.heartbeats.some((tasks) => tasks.includes(1)));
  });

  it('makes a later loss harmless: the master hears of an earlier one only', async (t) => {
    const running = await RunningStreamManagers.start(t, plan);
    const all = await running.instances();
    all.get(1)?.sendSet(end(1));
    const { master } = running;
    await eventually(() => master.heartbeats.some((tasks) => tasks.includes(1)));
    all.get(1)?.kill();
    all.get(3)?.kill();
    const { log } = running.managerOf(1);
    await eventually(() => log.filter((line) => line === 'lost an instance').length === 2);
    const again = await running.instance(3);
    again.sendSet(end(3));
    await eventually(() => master.heartbeats.at(-1)?.includes(3) === true);
    assert.deepEqual(master.lostTasks, [3]);
  });

  it('is told again to a reader that comes back, for local and remote tasks', async (t) => {
    const running = await RunningStreamManagers.start(t, plan);
    const all = await running.instances();
    all.get(1)?.sendSet(end(1));
    all.get(2)?.sendSet(end(2));
    await eventually(() => all.get(3)?.endedTasks.length === 2);
    all.get(3)?.kill();
    await eventually(() => running.managerOf(1).log.includes('lost an instance'));
    const again = await running.instance(3);
    await eventually(() => again.endedTasks.length === 2);
    assert.deepEqual(
      again.endedTasks.toSorted((a, b) => a - b),
      [1, 2],
    );
  });

  it('is told again when a link comes back', async (t) => {
    const running = await RunningStreamManagers.start(t, plan);
    const all = await running.instances();
    all.get(1)?.sendSet(end(1));
    await eventually(() => all.get(4)?.endedTasks.length === 1);
    const { localData, data: dataPort } = running.managerOf(2).manager.ports;
    const id = plan.streamManagers[1]?.id;
    assert.ok(id !== undefined);
    await running.managerOf(2).stop();
    await running.startManager(id, { localDataPort: localData, dataPort });
    const [word, count] = [await running.instance(2), await running.instance(4)];
    await eventually(() => count.endedTasks.includes(1));
    word.sendSet(end(2));
    await eventually(() => all.get(3)?.endedTasks.includes(2) === true);
  });

  it('is said once however often the task repeats it', async (t) => {
    const running = await RunningStreamManagers.start(t, plan);
    const all = await running.instances();
    for (let round = 0; round < 3; round += 1) all.get(1)?.sendSet(end(1));
    // Tuples that are sent behind the repeated ends arrive behind what came of them.
    all.get(1)?.sendSet(data(1, 1));
    await eventually(() => all.get(3)?.tupleCount === 1);
    assert.deepEqual(all.get(3)?.endedTasks, [1]);
  });

  it('is told to a process that is started again for the task, and to no other', async (t) => {
    const running = await RunningStreamManagers.start(t, plan);
    const all = await running.instances();
    assert.equal((await all.get(1)?.registrationAnswer())?.ended, false);
    all.get(1)?.sendSet(end(1));
    await eventually(() => all.get(3)?.endedTasks.length === 1);
    for (const task of [1, 3]) all.get(task)?.kill();
    await eventually(() => running.managerOf(1).log.includes('lost an instance'));
    const [word, count] = [await running.instance(1), await running.instance(3)];
    assert.equal((await word.registrationAnswer()).ended, true);
    assert.equal((await count.registrationAnswer()).ended, false);
  });
});
