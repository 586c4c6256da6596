import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { Histogram } from '../../../src/metrics/histogram.ts';
import { taskId } from '../../../src/base/ids.ts';
import {
  type Backlog,
  causeOf,
  Congestion,
  isBehindBy,
  type WatchedQueue,
} from '../../../src/stream-manager/congestion.ts';

const marks = { highBytes: 1_000, lowBytes: 250, ageMs: 400 };

const CASES: readonly (readonly [why: string, was: boolean, backlog: Backlog, is: boolean])[] = [
  ['nothing waits', false, { isAway: false, waitingBytes: 0, oldestMs: 0 }, false],
  ['just below the high mark', false, { isAway: false, waitingBytes: 999, oldestMs: 0 }, false],
  ['at the high mark', false, { isAway: false, waitingBytes: 1_000, oldestMs: 0 }, true],
  ['just below the age', false, { isAway: false, waitingBytes: 0, oldestMs: 399 }, false],
  ['at the age', false, { isAway: false, waitingBytes: 0, oldestMs: 400 }, true],
  ['away with nothing', false, { isAway: true, waitingBytes: 0, oldestMs: 0 }, true],
  ['between the marks', true, { isAway: false, waitingBytes: 251, oldestMs: 0 }, true],
  ['at the low mark', true, { isAway: false, waitingBytes: 250, oldestMs: 0 }, false],
  ['at half the age', true, { isAway: false, waitingBytes: 0, oldestMs: 200 }, true],
  ['below half the age', true, { isAway: false, waitingBytes: 0, oldestMs: 199 }, false],
  ['few bytes, but old', true, { isAway: false, waitingBytes: 10, oldestMs: 300 }, true],
  ['young, but many bytes', true, { isAway: false, waitingBytes: 600, oldestMs: 10 }, true],
  ['still away', true, { isAway: true, waitingBytes: 0, oldestMs: 0 }, true],
  ['back, with little', true, { isAway: false, waitingBytes: 100, oldestMs: 0 }, false],
];

describe('isBehindBy', () => {
  for (const [why, was, backlog, is] of CASES) {
    it(`${was ? 'was behind' : 'was not behind'}, ${why}: ${is}`, () => {
      assert.equal(isBehindBy(marks, was, backlog), is);
    });
  }
});

describe('causeOf', () => {
  it('names the first that holds of away, bytes and age', () => {
    assert.equal(causeOf(marks, { isAway: true, waitingBytes: 2_000, oldestMs: 500 }), 'away');
    assert.equal(causeOf(marks, { isAway: false, waitingBytes: 2_000, oldestMs: 500 }), 'bytes');
    assert.equal(causeOf(marks, { isAway: false, waitingBytes: 20, oldestMs: 500 }), 'age');
  });
});

interface SettableQueue extends WatchedQueue {
  isAway: boolean;
  waitingBytes: number;
  tuplesOut: number;
  acceptedBytes: number;
  takenBytes: number;
}

function watched() {
  const queue: SettableQueue = {
    task: taskId(7),
    isAway: false,
    waitingBytes: 0,
    tuplesOut: 10,
    acceptedBytes: 0,
    takenBytes: 0,
  };
  const time = { nowMs: 0 };
  const changes: boolean[] = [];
  const ages = new Histogram();
  const congestion = new Congestion(queue, {
    marks,
    workingMax: 2,
    awaitsTuples: () => true,
    now: () => time.nowMs,
    onChange: ({ isBehind }) => changes.push(isBehind),
    ages,
  });
  return { queue, time, changes, congestion, ages };
}

describe('Congestion', () => {
  it('begins in the call that reaches the high mark, ends in the one that reaches the low', () => {
    const { queue, changes, congestion } = watched();
    for (const waitingBytes of [500, 1_000, 1_500, 700, 250, 100]) {
      const grows = waitingBytes > queue.waitingBytes;
      queue.waitingBytes = waitingBytes;
      if (grows) congestion.onWaiting(waitingBytes);
      else congestion.onProgress(waitingBytes);
      assert.equal(congestion.isBehind, waitingBytes >= 1_000 || waitingBytes === 700);
    }
    assert.deepEqual(changes, [true, false]);
  });

  it('notes at each sample how old the oldest is, where there is something', () => {
    const { queue, time, congestion, ages } = watched();
    congestion.sample();
    assert.equal(ages.count, 0, 'nothing is out');
    queue.acceptedBytes = 10;
    for (; time.nowMs <= 300; time.nowMs += 100) congestion.sample();
    assert.deepEqual([ages.count, ages.max], [4, 300]);
    queue.takenBytes = 10;
    congestion.sample();
    assert.equal(ages.count, 4);
  });

  it('begins and ends by age at a sample', () => {
    const { queue, time, changes, congestion } = watched();
    queue.acceptedBytes = 10;
    for (; time.nowMs <= 450; time.nowMs += 50) {
      congestion.sample();
      assert.equal(congestion.isBehind, time.nowMs >= 400);
    }
    queue.takenBytes = 10;
    congestion.sample();
    assert.deepEqual(changes, [true, false]);
  });

  it('does not count the age of what the task may be working on just now', () => {
    const { queue, time, changes, congestion } = watched();
    queue.acceptedBytes = 10;
    queue.tuplesOut = 2;
    congestion.sample();
    time.nowMs = 60_000;
    congestion.sample();
    assert.deepEqual(changes, []);
    queue.tuplesOut = 3;
    congestion.sample();
    queue.tuplesOut = 2;
    congestion.sample();
    assert.deepEqual(changes, [true, false]);
  });

  it('does not end while the rest is old, however little it is', () => {
    const { queue, time, changes, congestion } = watched();
    queue.acceptedBytes = 2_000;
    queue.waitingBytes = 1_000;
    congestion.sample();
    time.nowMs = 300;
    queue.waitingBytes = 0;
    queue.takenBytes = 1_900;
    congestion.onProgress(0);
    assert.deepEqual(changes, [true]);
    queue.takenBytes = 2_000;
    congestion.sample();
    assert.deepEqual(changes, [true, false]);
  });
});
