import assert from 'node:assert/strict';
import { describe, it, type TestContext } from 'node:test';
import { StoredTopology } from '../../../src/wire/messages.ts';
import { eventually } from '../../support/eventually.ts';
import {
  packet,
  receivedTuples,
  recording,
  startRecorded,
  type Tuples,
  tuplesOf,
} from '../../support/golden-conversation.ts';
import type { ScriptedInstance } from '../../support/scripted-instance.ts';
import { readTupleSet } from '../../support/tuple-sets.ts';

/*
  What Heron's own Python and Java instances sent to a stream manager, sent to ours byte for byte:
  it registers them, gives them a plan that they can read, and takes their tuples where Heron takes
  them.
*/

const start = (t: TestContext, session: string, topology: string) =>
  startRecorded(t, recording(session, topology));

const byValue = (tuples: Tuples): Tuples =>
  tuples.toSorted((a, b) => a.values.join().localeCompare(b.values.join()));

describe("Heron's Python instances", () => {
  it('register, get the whole plan, and stay connected', async (t) => {
    const { definition, all } = await start(t, 'py-plain', 'plain');
    for (const instance of all.values()) {
      const plan = await instance.plan();
      assert.equal(plan.topology.name, 'g-plain');
      const [given] = instance.plans;
      assert.deepEqual(
        StoredTopology.encode(given?.topology ?? assert.fail('a plan has its topology')),
        StoredTopology.encode(definition),
      );
      assert.ok(!instance.isClosed);
    }
  });

  it('send tuples, which arrive as they were sent, at the tasks that Heron chooses', async (t) => {
    const { all } = await start(t, 'py-plain', 'plain');
    await all.get(1)?.plan();
    const words = packet('py-plain-from-word-HeronTupleSet-data-word-default-1');
    all.get(2)?.sendBytes(words.bytes);
    const counts = [all.get(3), all.get(4)];
    await eventually(() => counts.reduce((sum, one) => sum + (one?.tupleCount ?? 0), 0) === 4);
    assert.deepEqual(byValue(counts.flatMap(receivedTuples)), byValue(tuplesOf(words.payload)));
    // fields-grouping.json, two tasks: "hello" and "good" are odd; "bad" is even.
    const texts = (one: ScriptedInstance | undefined): string =>
      one?.firstValues.map((value) => value.slice(13, -2)).join(' ') ?? '';
    assert.equal(texts(all.get(4)), 'hello bye good');
    assert.equal(texts(all.get(3)), 'bad');
    assert.equal(readTupleSet(all.get(4)?.sets[0] ?? words.payload).srcTaskId, 2);
  });

  it('send on two streams, shuffled and global', async (t) => {
    const { all } = await start(t, 'py-plain', 'plain');
    await all.get(1)?.plan();
    const sets = ['count-default-1', 'count-totals-1'].map((name) =>
      packet(`py-plain-from-count-HeronTupleSet-data-${name}`),
    );
    for (const { bytes } of sets) all.get(4)?.sendBytes(bytes);
    await eventually(() => all.get(5)?.tupleCount === 4);
    assert.deepEqual(
      receivedTuples(all.get(5)),
      sets.flatMap(({ payload }) => tuplesOf(payload)),
    );
  });

  it('choose tasks themselves, by a custom grouping', async (t) => {
    const { all } = await start(t, 'py-custom', 'custom');
    await all.get(1)?.plan();
    const counts = packet('py-custom-from-count-HeronTupleSet-data-count-default-1');
    all.get(4)?.sendBytes(counts.bytes);
    await eventually(() => all.get(6)?.tupleCount === 3);
    assert.deepEqual(receivedTuples(all.get(6)), tuplesOf(counts.payload));
    assert.equal(all.get(5)?.tupleCount, 0);
  });
});

describe("Heron's Java instances", () => {
  it('work in two containers', async (t) => {
    const { all } = await start(t, 'java-acked', 'jacked');
    await all.get(1)?.plan();
    await all.get(2)?.plan();
    const words = packet('java-acked-from-word-HeronTupleSet-data-word-default-1');
    all.get(2)?.sendBytes(words.bytes);
    const counts = [all.get(4), all.get(5)];
    await eventually(() => counts.reduce((sum, one) => sum + (one?.tupleCount ?? 0), 0) === 4);
    assert.deepEqual(byValue(counts.flatMap(receivedTuples)), byValue(tuplesOf(words.payload)));
  });

  it('may ack and fail; at most once, nobody listens', async (t) => {
    const { running, all } = await start(t, 'java-acked', 'jacked');
    await all.get(1)?.plan();
    for (const kind of ['acks-1', 'fails-1']) {
      const { bytes } = packet(`java-acked-from-count-HeronTupleSet-${kind}`);
      all.get(4)?.sendBytes(bytes);
    }
    const manager = running.managerOf(2);
    await eventually(() => manager.count('__server/__fail_tuples_from_workers') > 0);
    assert.ok(manager.count('__server/__ack_tuples_from_workers') > 0);
    assert.ok([...all.values()].every(({ isClosed }) => !isClosed));
  });
});
