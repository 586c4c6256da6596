import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { taskId } from '../../../src/base/ids.ts';
import { createSeededRandom } from '../../../src/base/random.ts';
import { Congestion } from '../../../src/stream-manager/congestion.ts';
import {
  type AnnouncementStep,
  announcementStep,
  PressureAnnouncer,
} from '../../../src/stream-manager/pressure-announcer.ts';
import { ManualClock } from '../../support/manual-clock.ts';

const CASES: readonly (readonly [boolean, boolean, number, AnnouncementStep])[] = [
  [false, false, 0, 'none'],
  [true, true, 0, 'none'],
  [true, true, 1_000, 'none'],
  [false, true, 0, 'stop'],
  [false, true, 1_000, 'stop'],
  [true, false, 99, 'wait'],
  [true, false, 100, 'start'],
  [true, false, Number.POSITIVE_INFINITY, 'start'],
];

describe('announcementStep', () => {
  for (const [isBehind, isAnnounced, sinceStartMs, step] of CASES) {
    it(`behind ${isBehind}, announced ${isAnnounced}, ${sinceStartMs} ms: ${step}`, () => {
      assert.equal(announcementStep(isBehind, isAnnounced, sinceStartMs), step);
    });
  }
});

const LEASE_MS = 3_000;

function anAnnouncer(clock: ManualClock) {
  const log: string[] = [];
  const say = (what: string, { task }: Congestion): void => {
    log.push(`${clock.now()} ${what} ${task}`);
  };
  const announcer = new PressureAnnouncer(clock, LEASE_MS, {
    onStart: (congestion) => say('start', congestion),
    onRenew: (congestion) => say('renew', congestion),
    onStop: (congestion) => say('stop', congestion),
  });
  const congestions = new Map<number, Congestion>();
  const aTask = (task: number) => {
    const queue = { task: taskId(task), isAway: false, waitingBytes: 0, ...NO_DATA };
    const congestion = new Congestion(queue, {
      marks: { highBytes: 100, lowBytes: 10, ageMs: 1_000 },
      workingMax: 2,
      awaitsTuples: () => true,
      now: () => clock.now(),
      onChange: (changed) => announcer.onChange(changed),
    });
    congestions.set(task, congestion);
    return (waitingBytes: number): void => {
      queue.waitingBytes = waitingBytes;
      congestion.judge();
    };
  };
  const forget = (task: number): void => {
    const said = congestions.get(task);
    if (said !== undefined) announcer.forget(said);
  };
  return { log, announcer, aTask, forget };
}

const NO_DATA = { tuplesOut: 0, acceptedBytes: 0, takenBytes: 0 };

describe('PressureAnnouncer', () => {
  it('says nothing in the middle of a turn, and nothing of what is over by its end', () => {
    const clock = new ManualClock();
    const { log, aTask } = anAnnouncer(clock);
    const task = aTask(1);
    task(100);
    assert.deepEqual(log, []);
    task(0);
    clock.runSoon();
    assert.deepEqual(log, []);
  });

  it('renews three times a lease until the stop, for each task', () => {
    const clock = new ManualClock();
    const { log, aTask } = anAnnouncer(clock);
    const [one, two] = [aTask(1), aTask(2)];
    one(100);
    clock.advance(1_500);
    two(100);
    clock.advance(1_500);
    one(0);
    clock.advance(1_000);
    two(0);
    clock.advance(5_000);
    assert.deepEqual(log, [
      '0 start 1',
      '1000 renew 1',
      '1500 start 2',
      '2000 renew 1',
      '2000 renew 2',
      '3000 renew 1',
      '3000 renew 2',
      '3000 stop 1',
      '4000 renew 2',
      '4000 stop 2',
    ]);
    assert.equal(clock.pendingTimers, 0);
  });

  it('starts at most ten times a second, and stops at once', () => {
    const clock = new ManualClock();
    const { log, aTask } = anAnnouncer(clock);
    const task = aTask(1);
    task(100);
    clock.advance(10);
    task(0);
    clock.advance(10);
    task(100);
    clock.advance(79);
    assert.deepEqual(log, ['0 start 1', '10 stop 1']);
    clock.advance(1);
    assert.deepEqual(log.at(-1), '100 start 1');
    task(0);
    clock.advance(1);
    task(100);
    clock.advance(1);
    task(0);
    clock.advance(1_000);
    assert.deepEqual(log.slice(2), ['100 start 1', '100 stop 1']);
    task(100);
    clock.runSoon();
    for (const waitingBytes of [0, 100, 0, 100, 0, 100]) {
      task(waitingBytes);
      clock.runSoon();
    }
    assert.equal(clock.pendingTimers, 1, 'one that waits');
    task(0);
    clock.runSoon();
    assert.equal(clock.pendingTimers, 0);
  });

  it('keeps to these for any ups and downs, and ends where the task is', () => {
    const random = createSeededRandom(3);
    const clock = new ManualClock();
    const { log, announcer, aTask } = anAnnouncer(clock);
    const task = aTask(1);
    for (let step = 0; step < 5_000; step += 1) {
      task(random.below(10) < 5 ? 100 : 0);
      clock.advance(random.below(40));
    }
    task(100);
    clock.advance(100);
    assert.equal(announcer.announced.length, 1);
    task(0);
    clock.advance(1);
    const said = log.map((line) => line.split(' ')).filter(([, what]) => what !== 'renew');
    for (const [index, [, what]] of said.entries()) {
      assert.equal(what, index % 2 === 0 ? 'start' : 'stop');
    }
    const starts = said.filter(([, what]) => what === 'start').map(([at]) => Number(at));
    assert.ok(starts.length > 100);
    for (const [index, at] of starts.entries()) {
      assert.ok(index === 0 || at - (starts[index - 1] as number) >= 100);
    }
  });

  it('leaves no timer when it is closed, and begins none', () => {
    const clock = new ManualClock();
    const { log, announcer, aTask } = anAnnouncer(clock);
    const [one, two, three] = [aTask(1), aTask(2), aTask(3)];
    one(100);
    two(100);
    clock.advance(1);
    two(0);
    clock.advance(1);
    two(100);
    clock.advance(1);
    announcer.close();
    three(100);
    clock.advance(10_000);
    assert.deepEqual(log, ['0 start 1', '0 start 2', '1 stop 2']);
    assert.equal(clock.pendingTimers, 0);
  });

  it('takes back what it has said of a task that gets no more, and leaves the others', () => {
    const clock = new ManualClock();
    const { log, announcer, aTask, forget } = anAnnouncer(clock);
    const [one, two, three] = [aTask(1), aTask(2), aTask(3)];
    one(100);
    two(100);
    clock.runSoon();
    three(100); // Not said yet.
    for (const task of [1, 3, 4]) forget(task);
    clock.runSoon();
    assert.deepEqual(log, ['0 start 1', '0 start 2', '0 stop 1']);
    assert.deepEqual(
      announcer.announced.map(({ task }) => task),
      [2],
    );
    two(0);
    clock.runSoon();
    assert.equal(clock.pendingTimers, 0);
  });

  it('does not start for one that waits for its turn when it is forgotten', () => {
    const clock = new ManualClock();
    const { log, aTask, forget } = anAnnouncer(clock);
    const task = aTask(1);
    task(100);
    clock.advance(10);
    task(0);
    clock.advance(10);
    task(100);
    clock.advance(10);
    forget(1);
    clock.advance(1_000);
    assert.deepEqual(log, ['0 start 1', '10 stop 1']);
    assert.equal(clock.pendingTimers, 0);
  });
});
