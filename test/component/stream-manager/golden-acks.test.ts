import assert from 'node:assert/strict';
import { describe, it, type TestContext } from 'node:test';
import { assertDefined } from '../../../src/base/assert.ts';
import { eventually } from '../../support/eventually.ts';
import {
  packet,
  receivedTuples,
  recording,
  startRecorded,
  type Tuples,
} from '../../support/golden-conversation.ts';
import type { ScriptedInstance } from '../../support/scripted-instance.ts';
import { readTupleSet } from '../../support/tuple-sets.ts';

/*
  The acks and fails of Heron's own instances, sent to our stream managers, which have to give their
  spouts what Heron gave them. Their bytes are as they were recorded but for the keys of the acked
  tuples: a stream manager makes new ones for each copy, and an instance only repeats them.
*/

const AT_LEAST_ONCE = new Map([['topology.reliability.mode', 'ATLEAST_ONCE']]);

type Instances = ReadonlyMap<number, ScriptedInstance>;

const instanceOf = (all: Instances, task: number): ScriptedInstance =>
  assertDefined(all.get(task), `task ${task} is in the plan`);

const only = (tuples: Tuples, root: string) =>
  assertDefined(
    tuples.find(({ roots }) => roots.includes(root)),
    `a tuple of ${root} has come`,
  );

/** Sends a recorded set of acks or fails, with the keys under which `receiver` got these tuples. */
function sendAcks(all: Instances, name: string, receivers: readonly number[]): void {
  const { bytes, payload } = packet(name);
  const sent = Buffer.from(bytes);
  const { srcTaskId, control } = readTupleSet(payload);
  for (const { roots, ackedtuple } of [...(control?.acks ?? []), ...(control?.fails ?? [])]) {
    const [root] = roots;
    if (root === undefined) continue;
    const key = keyOf(all, receivers, `${root.taskid}:${root.key}`);
    sent.writeBigInt64LE(key, sent.indexOf(littleEndian(ackedtuple)));
  }
  instanceOf(all, srcTaskId).sendBytes(sent);
}

/** The key of the copy that the last of these tasks got. */
function keyOf(all: Instances, receivers: readonly number[], root: string): bigint {
  const copies = receivers.flatMap((task) =>
    receivedTuples(all.get(task)).filter(({ roots }) => roots.includes(root)),
  );
  return assertDefined(copies.at(-1), `a tuple of ${root} has come`).key;
}

function littleEndian(value: bigint): Buffer {
  const bytes = Buffer.alloc(8);
  bytes.writeBigInt64LE(value);
  return bytes;
}

/** The roots in what a spout was told, and nothing but roots. */
function toldOf(spout: ScriptedInstance, kind: 'acks' | 'fails'): readonly string[] {
  const told = spout.controls.flatMap((control) => control[kind]);
  assert.ok(told.every(({ ackedtuple }) => ackedtuple === 0n));
  return told.flatMap(({ roots }) => roots.map(({ taskid, key }) => `${taskid}:${key}`)).toSorted();
}

/** What Heron told it. */
function recordedRoots(names: readonly string[], kind: 'acks' | 'fails'): readonly string[] {
  return names
    .flatMap((name) => readTupleSet(packet(name).payload).control?.[kind] ?? [])
    .flatMap(({ roots }) => roots.map(({ taskid, key }) => `${taskid}:${key}`))
    .toSorted();
}

async function startJava(t: TestContext) {
  const { running, all } = await startRecorded(t, recording('java-acked', 'jacked'), AT_LEAST_ONCE);
  await Promise.all([...all.values()].map((instance) => instance.plan()));
  for (const n of [1, 2]) {
    const { bytes, payload } = packet(`java-acked-from-word-HeronTupleSet-data-word-default-${n}`);
    instanceOf(all, readTupleSet(payload).srcTaskId).sendBytes(bytes);
  }
  // As in the recording, all eight words belong to the same task.
  await eventually(() => instanceOf(all, 4).tupleCount === 8);
  return { running, all };
}

describe("Heron's Java instances, at least once", () => {
  it('get each tuple with its root and a key of its own', async (t) => {
    const { all } = await startJava(t);
    const tuples = receivedTuples(all.get(4));
    const sent = [1, 2].map((n) => `java-acked-to-count-HeronTupleSet2-data-word-default-${n}`);
    const recorded = sent.flatMap((name) =>
      (readTupleSet(packet(name).payload).data?.tuples ?? []).flatMap(({ roots }) =>
        roots.map(({ taskid, key }) => `${taskid}:${key}`),
      ),
    );
    assert.deepEqual(tuples.flatMap(({ roots }) => roots).toSorted(), recorded.toSorted());
    assert.ok(tuples.every(({ key }) => key !== 0n));
    assert.equal(new Set(tuples.map(({ key }) => key)).size, tuples.length);
  });

  it('ack and fail in two containers: their spouts hear what Heron told them', async (t) => {
    const { all } = await startJava(t);
    for (const n of [1, 2]) {
      const { bytes } = packet(`java-acked-from-count-HeronTupleSet-data-count-default-${n}`);
      instanceOf(all, 4).sendBytes(bytes);
    }
    await eventually(() => instanceOf(all, 3).tupleCount === 2);
    for (const n of [1, 2]) {
      sendAcks(all, `java-acked-from-count-HeronTupleSet-acks-${n}`, [4]);
      sendAcks(all, `java-acked-from-count-HeronTupleSet-fails-${n}`, [4]);
      // Of the words whose way from the count to the sink was not recorded, the sink repeats the
      // keys of the count.
      sendAcks(all, `java-acked-from-sink-HeronTupleSet-acks-${n}`, [4, 3]);
    }
    for (const [task, recorded] of [
      [2, 1],
      [1, 2],
    ] as const) {
      const spout = instanceOf(all, task);
      const failed = recordedRoots(
        [`java-acked-to-word-HeronTupleSet2-fails-${recorded}`],
        'fails',
      );
      await eventually(() => assert.deepEqual(toldOf(spout, 'fails'), failed));
    }
    const ackedOfTwo = recordedRoots(['java-acked-to-word-HeronTupleSet2-acks-1'], 'acks');
    await eventually(() => assert.deepEqual(toldOf(instanceOf(all, 2), 'acks'), ackedOfTwo));
    const ackedOfOne = [
      ...recordedRoots(['java-acked-to-word-HeronTupleSet2-acks-2'], 'acks'),
      ...recordedRoots(['java-acked-from-sink-HeronTupleSet-acks-2'], 'acks'),
    ].toSorted();
    await eventually(() => assert.deepEqual(toldOf(instanceOf(all, 1), 'acks'), ackedOfOne));
  });

  it('do not hear of a tree before its last tuple is acked', async (t) => {
    const { running, all } = await startJava(t);
    const counts = packet('java-acked-from-count-HeronTupleSet-data-count-default-1');
    instanceOf(all, 4).sendBytes(counts.bytes);
    await eventually(() => instanceOf(all, 3).tupleCount === 1);
    sendAcks(all, 'java-acked-from-count-HeronTupleSet-acks-1', [4]);
    // Sent behind it on the same connection, and answered.
    sendAcks(all, 'java-acked-from-count-HeronTupleSet-fails-1', [4]);
    const spout = instanceOf(all, 2);
    await eventually(() => toldOf(spout, 'fails').length === 1);
    assert.deepEqual(toldOf(spout, 'acks'), []);
    const { roots } = only(receivedTuples(all.get(3)), '2:78414647531031555');
    assert.deepEqual(roots, ['2:78414647531031555']);
    assert.ok([...all.values()].every(({ isClosed }) => !isClosed));
    assert.deepEqual(running.managerOf(2).failures, []);
  });
});

describe("Heron's Python instances, at least once", () => {
  it('ack, fail, and ack tuples without roots', async (t) => {
    const { running, all } = await startRecorded(
      t,
      recording('py-acked', 'acked', 'py-acked-to-RegisterInstanceResponse-1'),
      AT_LEAST_ONCE,
    );
    await Promise.all([...all.values()].map((instance) => instance.plan()));
    for (const n of [1, 2]) {
      const { bytes, payload } = packet(`py-acked-from-word-HeronTupleSet-data-word-default-${n}`);
      instanceOf(all, readTupleSet(payload).srcTaskId).sendBytes(bytes);
    }
    const [three, four, sink] = [3, 4, 5].map((task) => instanceOf(all, task));
    await eventually(() => (three?.tupleCount ?? 0) + (four?.tupleCount ?? 0) === 8);
    for (const stream of ['count-default', 'count-totals']) {
      for (const n of [1, 2]) {
        const { bytes, payload } = packet(`py-acked-from-count-HeronTupleSet-data-${stream}-${n}`);
        instanceOf(all, readTupleSet(payload).srcTaskId).sendBytes(bytes);
      }
    }
    await eventually(() => sink?.tupleCount === 4);
    // Its bolts cannot anchor: nobody waits for these.
    assert.ok(receivedTuples(sink).every(({ key, roots }) => key === 0n && roots.length === 0));
    for (const n of [1, 2]) {
      sink?.sendBytes(packet(`py-acked-from-sink-HeronTupleSet-acks-${n}`).bytes);
      sendAcks(all, `py-acked-from-count-HeronTupleSet-acks-${n}`, [4]);
      sendAcks(all, `py-acked-from-count-HeronTupleSet-fails-${n}`, [3]);
    }
    const told = ['acks-1', 'acks-2'].map((name) => `py-acked-to-word-HeronTupleSet2-${name}`);
    const acked = recordedRoots(told, 'acks');
    await eventually(() => assert.deepEqual(toldOf(instanceOf(all, 2), 'acks'), acked));
    for (const [task, n] of [
      [2, 1],
      [1, 2],
    ] as const) {
      const failed = recordedRoots([`py-acked-to-word-HeronTupleSet2-fails-${n}`], 'fails');
      await eventually(() => assert.deepEqual(toldOf(instanceOf(all, task), 'fails'), failed));
    }
    assert.deepEqual(toldOf(instanceOf(all, 1), 'acks'), []);
    assert.ok([...all.values()].every(({ isClosed }) => !isClosed));
    assert.deepEqual(running.managerOf(1).failures, []);
  });
});
