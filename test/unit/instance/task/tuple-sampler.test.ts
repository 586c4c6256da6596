import assert from 'node:assert/strict';
import { test, type TestContext } from 'node:test';
import { BasicBolt } from '../../../../src/api/basic-bolt.ts';
import type { TaskHook } from '../../../../src/api/topology-context.ts';
import type { AnyTuple } from '../../../../src/api/tuple.ts';
import { TaskInTest } from '../../../support/task-in-test.ts';
import { aTrackedSpout } from '../../../support/tracked-spout.ts';
import { aTuple } from '../../../support/tuple-sets.ts';

class Twice extends BasicBolt.of({ default: ['word'], unread: ['word'] }) {
  override execute({ values: [word] }: AnyTuple): void {
    this.emit('unread', [word]);
    this.emit([word]);
  }
}

async function aRunningTask(t: TestContext, hooks: readonly (() => TaskHook)[] = []) {
  const task = new TaskInTest(new Twice(), { taskHooks: hooks });
  t.after(() => task.running.stop());
  void task.start();
  await task.turn();
  const feed = async (...words: readonly string[]): Promise<void> => {
    task.feed({ tuples: words.map((word) => aTuple(word)) });
    await task.turn();
  };
  return { task, feed };
}

test('the next tuples are taken, of all streams or of one, until there are enough', async (t) => {
  const { task, feed } = await aRunningTask(t);
  await feed('before');
  const three = task.running.sample({ count: 3, seconds: 10 });
  await feed('a', 'b');
  const { tuples, fields } = await three;
  assert.deepEqual(
    tuples.map(({ stream, values }) => [stream, ...values]),
    [
      ['unread', 'a'],
      ['default', 'a'],
      ['unread', 'b'],
    ],
  );
  assert.deepEqual(fields, { default: ['word'], unread: ['word'] });
  const one = task.running.sample({ count: 1, seconds: 10, stream: 'default' });
  await feed('c');
  const atMs = task.clock.wallNow();
  assert.deepEqual((await one).tuples, [{ stream: 'default', values: ['c'], atMs }]);
});

test('a sample ends with its time, and with the task', async (t) => {
  const { task, feed } = await aRunningTask(t);
  const late = task.running.sample({ count: 5, seconds: 2 });
  await feed('a');
  task.clock.advance(2_000);
  assert.equal((await late).tuples.length, 2);
  const last = task.running.sample({ count: 5, seconds: 60 });
  task.feedEnds();
  await task.turn();
  assert.deepEqual((await last).tuples, []);
});

test('hooks hear of tuples during a sample and after it, once each', async (t) => {
  const heard: unknown[] = [];
  const { task, feed } = await aRunningTask(t, [
    () => ({ emit: ({ values }) => heard.push(...values) }),
  ]);
  const sample = task.running.sample({ count: 1, seconds: 10 });
  await feed('a');
  await sample;
  await feed('b');
  assert.deepEqual(heard, ['a', 'a', 'b', 'b']);
});

test('a stream that there is not is refused with those that there are', async (t) => {
  const { task } = await aRunningTask(t);
  const sample = task.running.sample({ count: 1, seconds: 1, stream: 'words' });
  await assert.rejects(sample, /there is no stream 'words', only 'default', 'unread'/);
});

test("a spout's tuples show message and tree", async (t) => {
  const { task } = aTrackedSpout(['a']);
  t.after(() => task.running.stop());
  await task.running.open();
  const sample = task.running.sample({ count: 1, seconds: 10 });
  void task.running.run(true);
  await task.turn();
  const [tuple] = (await sample).tuples;
  assert.equal(tuple?.messageId, 'a');
  assert.match(tuple.roots?.join() ?? '', /^1:[0-9a-f]{8}00000001$/);
});
