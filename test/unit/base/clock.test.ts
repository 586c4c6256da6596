import assert from 'node:assert/strict';
import test from 'node:test';
import { type Clock, delay, systemClock } from '../../../src/base/clock.ts';
import { ManualClock } from '../../support/manual-clock.ts';

test('the system clock calls not before its time, and soon before later', async () => {
  const startMs = systemClock.now();
  const order: string[] = [];
  const later = delay(systemClock, 20).then(() => order.push('later'));
  systemClock.soon(() => order.push('soon'));
  await later;
  assert.deepEqual(order, ['soon', 'later']);
  // Node's timers count whole milliseconds from a rounded start.
  assert.ok(systemClock.now() - startMs >= 19);
});

test('a cancelled call does not happen, and cancelling twice is harmless', async () => {
  const calls: string[] = [];
  const timers = [
    systemClock.after(1, () => calls.push('after')),
    systemClock.every(1, () => calls.push('every')),
    systemClock.soon(() => calls.push('soon')),
  ];
  for (const timer of [...timers, ...timers]) timer.cancel();
  await delay(systemClock, 10);
  assert.deepEqual(calls, []);
});

test('manual: timers fire in the order of their time and of their making', () => {
  const clock = new ManualClock();
  const fired: string[] = [];
  const note = (name: string) => () => fired.push(`${name}@${clock.now()}`);
  clock.after(20, note('b'));
  clock.after(10, note('a'));
  clock.after(20, note('c'));
  clock.advance(19);
  assert.deepEqual(fired, ['a@10']);
  clock.advance(1);
  assert.deepEqual(fired, ['a@10', 'b@20', 'c@20']);
  assert.equal(clock.pendingTimers, 0);
});

test('manual: a period fires at each multiple until it is cancelled, even by itself', () => {
  const clock = new ManualClock();
  let beats = 0;
  const timer = clock.every(10, () => {
    beats += 1;
    if (beats === 3) timer.cancel();
  });
  clock.advance(25);
  assert.equal(beats, 2);
  clock.advance(100);
  assert.equal(beats, 3);
  assert.equal(clock.pendingTimers, 0);
});

test('manual: a timer made by a timer fires in the same advance when it is due', () => {
  const clock = new ManualClock();
  const fired: number[] = [];
  clock.after(10, () => {
    clock.after(5, () => fired.push(clock.now()));
  });
  clock.advance(15);
  assert.deepEqual(fired, [15]);
});

test('manual: soon calls run before time moves and after each timer', () => {
  const clock: Clock & ManualClock = new ManualClock();
  const order: string[] = [];
  clock.soon(() => order.push(`soon@${clock.now()}`));
  clock.after(10, () => {
    order.push('timer');
    clock.soon(() => order.push(`soon@${clock.now()}`));
  });
  clock.after(20, () => order.push('later timer'));
  clock.soon(() => order.push('cancelled')).cancel();
  clock.advance(20);
  assert.deepEqual(order, ['soon@0', 'timer', 'soon@10', 'later timer']);
});

test('manual: the wall clock goes along', () => {
  const clock = new ManualClock(5_000);
  clock.advance(250);
  assert.equal(clock.wallNow(), 5_250);
});
