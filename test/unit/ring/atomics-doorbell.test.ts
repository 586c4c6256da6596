import assert from 'node:assert/strict';
import { test } from 'node:test';
import { AtomicsDoorbell } from '../../../src/ring/atomics-doorbell.ts';

test('a ring after the look wakes the sleeper', async () => {
  const doorbell = new AtomicsDoorbell();
  const others = new AtomicsDoorbell(doorbell.memory);
  for (let round = 0; round < 3; round += 1) {
    const sleep = doorbell.wait(doorbell.sequence());
    others.ring();
    await sleep;
  }
});

test('a ring between reading the sequence and going to sleep is not lost', async () => {
  const doorbell = new AtomicsDoorbell();
  const seen = doorbell.sequence();
  doorbell.ring();
  await doorbell.wait(seen);
  doorbell.waitBlocking(seen, 60_000);
});

test('without a ring nobody wakes up', async () => {
  const doorbell = new AtomicsDoorbell();
  let awake = false;
  const sleep = doorbell.wait(doorbell.sequence()).then(() => {
    awake = true;
  });
  doorbell.waitBlocking(doorbell.sequence(), 5);
  await new Promise((resolve) => setImmediate(resolve));
  assert.equal(awake, false);
  doorbell.ring();
  await sleep;
});

test('blocking inside a pending wait loses neither', async () => {
  const doorbell = new AtomicsDoorbell();
  const first = doorbell.sequence();
  const sleep = doorbell.wait(first);
  doorbell.ring();
  // The promise has not run yet; a blocking wait at the newer value must not keep it from waking
  // up.
  doorbell.waitBlocking(doorbell.sequence(), 1);
  assert.equal(doorbell.wait(doorbell.sequence()), sleep, 'one sleep at a time');
  await sleep;
  const next = doorbell.wait(doorbell.sequence());
  assert.notEqual(next, sleep);
  doorbell.ring();
  await next;
});

test('only the ring that ends a sleep asks the platform to notify', async (t) => {
  const doorbell = new AtomicsDoorbell();
  const sleep = doorbell.wait(doorbell.sequence());
  const notify = t.mock.method(Atomics, 'notify');
  for (let count = 0; count < 10; count += 1) doorbell.ring();
  assert.equal(notify.mock.callCount(), 1);
  await sleep;
});
