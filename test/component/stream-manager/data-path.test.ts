import assert from 'node:assert/strict';
import { describe, it, type TestContext } from 'node:test';
import type { PhysicalPlan } from '../../../src/model/physical-plan.ts';
import { eventually } from '../../support/eventually.ts';
import { aPlanOf } from '../../support/planned-tasks.ts';
import { RunningStreamManagers } from '../../support/running-stream-managers.ts';
import { aBolt, anInput, anOutput, aSpout, aTopology } from '../../support/topologies.ts';
import { aTuple, readTupleSet, tupleSetBytes, valueBytes } from '../../support/tuple-sets.ts';

const text = (word: string): string => Buffer.from(valueBytes(word)).toString('latin1');
const words = (count: number, prefix = 'w'): string[] =>
  Array.from({ length: count }, (_, index) => `${prefix}${index}`);

function setOf(task: number, texts: readonly string[], stream = 'default') {
  return tupleSetBytes({ task, stream, tuples: texts.map((word) => aTuple(word)) });
}

/** Everything of a plan, registered and connected. */
async function start(t: TestContext, plan: PhysicalPlan) {
  const running = await RunningStreamManagers.start(t, plan);
  return { running, all: await running.instances() };
}

/** Task 1 of `word` in container 1, task 2 of `count`, which reads it, in another or the same. */
function aPair(countContainer: number): PhysicalPlan {
  const topology = aTopology([aSpout('word'), aBolt('count', ['word'])]);
  return aPlanOf(topology, ['word', 1], ['count', countContainer]);
}

describe('the way of a tuple', () => {
  it('leads from a local instance to a local one, bytes unchanged', async (t) => {
    const { all } = await start(t, aPair(1));
    const set = setOf(1, ['a', 'bb', '']);
    all.get(1)?.sendSet(set);
    const received = await eventually(() => all.get(2)?.sets[0] ?? false);
    assert.deepEqual(received, Buffer.from(set));
  });

  it('leads to other containers, both ways on one link', async (t) => {
    const topology = aTopology([
      aSpout('word'),
      aBolt('count', [anInput('word', { kind: 'all' })], { parallelism: 2 }),
    ]);
    const plan = aPlanOf(topology, ['word', 1], ['word', 2], ['count', 1], ['count', 2]);
    const { running, all } = await start(t, plan);
    all.get(1)?.sendSet(setOf(1, ['from 1']));
    all.get(2)?.sendSet(setOf(2, ['from 2']));
    for (const task of [3, 4]) {
      const instance = all.get(task);
      await eventually(() => instance?.tupleCount === 2);
      assert.deepEqual(instance?.firstValues.toSorted(), [text('from 1'), text('from 2')]);
    }
    assert.equal(running.managerOf(1).count('__client_stmgr-2/__tuples_to_stmgrs'), 1);
    assert.equal(running.managerOf(2).count('__server/__tuples_from_stmgrs'), 1);
    assert.equal(running.managerOf(2).count('__server/__tuples_from_workers'), 1);
    assert.equal(running.managerOf(2).count('__server/__tuples_to_workers'), 2);
  });

  it('keeps the order of one source, across streams and batches', async (t) => {
    const topology = aTopology([
      aSpout('word', { outputs: [anOutput(['word']), anOutput(['word'], 'other')] }),
      aBolt('count', [
        anInput('word', { kind: 'global' }),
        anInput('word', { kind: 'global' }, 'other'),
      ]),
    ]);
    const plan = aPlanOf(topology, ['word', 1], ['count', 2]);
    const { all } = await start(t, plan);
    const sent: string[] = [];
    for (let round = 0; round < 200; round += 1) {
      const some = words(1 + (round % 40), `${'.'.repeat(round)}${round}-`);
      sent.push(...some.map(text));
      all.get(1)?.sendSet(setOf(1, some, round % 3 === 0 ? 'other' : 'default'));
    }
    const sink = all.get(2);
    await eventually(() => sink?.tupleCount === sent.length);
    assert.deepEqual(sink?.firstValues, sent);
  });

  it('gives a key to one task from every container', async (t) => {
    const topology = aTopology([
      aSpout('word'),
      aBolt('count', [anInput('word', { kind: 'fields', fields: ['word'] })]),
    ]);
    const plan = aPlanOf(
      topology,
      ['word', 1],
      ['word', 2],
      ['word', 3],
      ['count', 1],
      ['count', 2],
      ['count', 3],
      ['count', 3],
    );
    const { all } = await start(t, plan);
    const keys = words(500, 'ключ ');
    for (const task of [1, 2, 3]) all.get(task)?.sendSet(setOf(task, keys));
    const counts = [4, 5, 6, 7].map((task) => all.get(task));
    const total = (): number => counts.reduce((sum, one) => sum + (one?.tupleCount ?? 0), 0);
    await eventually(() => total() === 1_500);
    const owners = new Map<string, number[]>();
    for (const [index, one] of counts.entries()) {
      for (const key of one?.firstValues ?? []) {
        owners.set(key, [...(owners.get(key) ?? []), index]);
      }
    }
    assert.equal(owners.size, 500);
    for (const [key, indexes] of owners) {
      assert.deepEqual(indexes, [indexes[0], indexes[0], indexes[0]], key);
    }
    assert.equal(new Set([...owners.values()].flat()).size, 4);
  });

  it('carries a tuple that is larger than a batch, and than a window', async (t) => {
    const { all } = await start(t, aPair(2));
    const large = Buffer.alloc(3 * 1024 * 1024, 'x');
    const value = Buffer.concat([Buffer.from([0xc6, 0, 0x30, 0, 0]), large]);
    for (let round = 0; round < 3; round += 1) {
      all
        .get(1)
        ?.sendSet(tupleSetBytes({ task: 1, tuples: [{ values: [value] }, aTuple('small')] }));
    }
    const sink = all.get(2);
    await eventually(() => sink?.tupleCount === 6);
    for (const [index, first] of sink?.firstValues.entries() ?? []) {
      assert.equal(first.length, index % 2 === 0 ? value.length : text('small').length);
    }
  });

  it('ends where nobody reads, with a count', async (t) => {
    const plan = aPlanOf(aTopology([aSpout('word')]), ['word', 1]);
    const { running, all } = await start(t, plan);
    all.get(1)?.sendSet(setOf(1, ['a', 'b']));
    await eventually(
      () => running.managerOf(1).count('__server/__tuples_without_destination') === 2,
    );
  });

  it('ends for a set that claims another source, together with its connection', async (t) => {
    const { all } = await start(t, aPair(1));
    all.get(1)?.sendSet(setOf(2, ['a']));
    await eventually(() => all.get(1)?.isClosed === true);
    assert.equal(all.get(2)?.isClosed, false);
  });

  it('waits for an instance that is away, and loses nothing that waits', async (t) => {
    const plan = aPlanOf(
      aTopology([aSpout('word'), aBolt('count', [anInput('word', { kind: 'global' })])]),
      ['word', 1],
      ['word', 2],
      ['count', 1],
    );
    const { running, all } = await start(t, plan);
    all.get(3)?.kill();
    const manager = running.managerOf(1);
    await eventually(() => manager.log.includes('lost an instance'));
    all.get(2)?.sendSet(setOf(2, words(10, 'far')));
    await eventually(() => manager.count('__server/__tuples_from_stmgrs') === 10);
    all.get(1)?.sendSet(setOf(1, words(10, 'near')));
    await eventually(() => manager.count('__server/__tuples_from_workers') === 10);
    const again = await running.instance(3);
    await eventually(() => again.tupleCount === 20);
    assert.equal(again.plans.length, 1);
    assert.equal(manager.count('__server/__tuples_to_workers_lost'), 0);
    const set = readTupleSet(again.sets[0] ?? Buffer.alloc(0));
    assert.equal(set.data?.stream?.componentName, 'word');
  });

  it('counts what an instance had and did not consume', async (t) => {
    const { running, all } = await start(t, aPair(1));
    const sink = all.get(2);
    assert.ok(sink !== undefined);
    sink.isSlow = true;
    all.get(1)?.sendSet(setOf(1, ['a', 'b', 'c']));
    await eventually(() => sink.tupleCount === 3);
    sink.kill();
    await eventually(() => running.managerOf(1).count('__server/__tuples_to_workers_lost') === 3);
  });
});
