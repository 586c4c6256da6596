import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import { createSeededRandom } from '../../../src/base/random.ts';
import { TreeLedger } from '../../../src/stream-manager/tree-ledger.ts';
import { ManualClock } from '../../support/manual-clock.ts';

interface Failed {
  readonly key: number;
  readonly kind: string;
  readonly atMs: number;
}

function aLedger(timeoutMs: number | undefined, hasRoom: () => boolean = () => true) {
  const clock = new ManualClock();
  const failed: Failed[] = [];
  const ledger = new TreeLedger({
    clock,
    timeoutMs,
    hasRoom,
    onFailed: (low, high, kind) => {
      assert.equal(high, low + 1);
      failed.push({ key: low, kind, atMs: clock.now() });
    },
  });
  /** A tree with one tuple, whose key is 64 bits of the tree's number. */
  const create = (key: number): void => ledger.create(key, key + 1, key, 77);
  const ack = (key: number) => ledger.settle(key, key + 1, key, 77);
  return { clock, failed, ledger, create, ack };
}

suite('TreeLedger', () => {
  test('a tree is complete when each key went in twice', () => {
    const { ledger, create, ack } = aLedger(10_000);
    create(1);
    assert.equal(ledger.settle(1, 2, 5, 6), 'open'); // A bolt emits,
    assert.equal(ack(1), 'open'); // acks what it read,
    assert.equal(ledger.settle(1, 2, 5, 6), 'complete'); // and what it emitted is acked.
    assert.equal(ledger.count, 0);
    assert.equal(ack(1), 'unknown');
  });

  test('a tree is complete, too, when the news of an emit comes last', () => {
    const { ledger, create, ack } = aLedger(10_000);
    create(1);
    assert.equal(ledger.settle(1, 2, 5, 6), 'open'); // The ack of what was emitted
    assert.equal(ack(1), 'open');
    assert.equal(ledger.settle(1, 2, 5, 6), 'complete'); // overtook the emit.
  });

  test('a new tree of the same key takes the place of a live one', () => {
    const { ledger, create, ack, clock } = aLedger(10_000);
    ledger.create(1, 2, 9, 9);
    create(1);
    assert.equal(ledger.count, 1);
    assert.equal(ack(1), 'complete');
    for (let key = 2; key < 8; key += 1) {
      create(key);
      clock.advance(5_000); // Nothing of the first one is left that would be swept for ever.
      assert.equal(ack(key), 'complete');
    }
    clock.advance(1_001);
    assert.equal(clock.pendingTimers, 0);
  });

  test('a failed tree is forgotten', () => {
    const { ledger, create, ack } = aLedger(10_000);
    create(1);
    assert.equal(ledger.remove(1, 2), true);
    assert.equal(ledger.remove(1, 2), false);
    assert.equal(ack(1), 'unknown');
    assert.equal(ledger.count, 0);
  });

  test('trees fail by time-out, never before T and at the latest after 1.1 T and a second', () => {
    for (const timeoutMs of [1_000, 7_000, 30_000]) {
      const { clock, failed, create, ledger } = aLedger(timeoutMs);
      const random = createSeededRandom(timeoutMs);
      const createdMs: number[] = [];
      while (clock.now() < timeoutMs * 5) {
        createdMs.push(clock.now());
        create(createdMs.length - 1);
        clock.advance(random.below(timeoutMs / 7));
      }
      clock.advance(timeoutMs * 1.1 + 1_000);
      assert.equal(ledger.count, 0);
      assert.equal(failed.length, createdMs.length);
      for (const { key, kind, atMs } of failed) {
        const ageMs = atMs - (createdMs[key] as number);
        assert.equal(kind, 'time-out');
        assert.ok(ageMs >= timeoutMs, `${ageMs} of ${timeoutMs} ms`);
        assert.ok(ageMs <= timeoutMs * 1.1 + 1_000, `${ageMs} of ${timeoutMs} ms`);
      }
      assert.equal(clock.pendingTimers, 0, 'L4: nothing rotates without trees');
    }
  });

  test('the time of trees stands still while their spout is held', () => {
    const timeoutMs = 10_000;
    const { clock, failed, create, ledger } = aLedger(timeoutMs);
    const random = createSeededRandom(5);
    const madeAt: number[] = [];
    let unheldMs = 0;
    let failedBefore = 0;
    for (let round = 0; round < 400; round += 1) {
      const isHeld = random.below(2) === 0;
      ledger.setHeld(isHeld);
      madeAt.push(unheldMs);
      create(madeAt.length - 1);
      const stepMs = random.below(900);
      const from = clock.now();
      clock.advance(stepMs);
      for (const { key, atMs } of failed.slice(failedBefore)) {
        assert.equal(isHeld, false, 'none expires while the spout is held');
        const ageMs = unheldMs + (atMs - from) - (madeAt[key] as number);
        assert.ok(ageMs >= timeoutMs && ageMs <= timeoutMs * 1.1 + 1_000, `${ageMs} ms`);
      }
      failedBefore = failed.length;
      if (!isHeld) unheldMs += stepMs;
    }
    assert.ok(failed.length > 200);
    ledger.setHeld(true);
    clock.advance(timeoutMs * 100);
    assert.equal(failed.length, failedBefore);
    ledger.setHeld(false);
    clock.advance(timeoutMs * 1.1 + 1_000);
    assert.equal(failed.length, madeAt.length);
  });

  test('S04 without time-outs trees are kept until they are settled', () => {
    const { clock, failed, create, ack, ledger } = aLedger(undefined);
    for (let key = 0; key < 10; key += 1) create(key);
    clock.advance(90_000);
    for (let key = 0; key < 10; key += 1) assert.equal(ack(key), 'complete');
    assert.equal(ledger.count, 0);
    assert.deepEqual(failed, []);
    clock.advance(3_000);
    assert.equal(clock.pendingTimers, 0);
  });

  test('S01 no tree stays: 100,000 fail, 10,000 are never heard of again, five rounds', () => {
    const timeoutMs = 30_000;
    const { clock, failed, create, ledger } = aLedger(timeoutMs);
    const bytesAfter: number[] = [];
    for (let round = 0; round < 5; round += 1) {
      const failedBefore = failed.length;
      for (let key = 0; key < 110_000; key += 1) create(key);
      for (let key = 0; key < 100_000; key += 1) assert.ok(ledger.remove(key, key + 1));
      assert.equal(ledger.count, 10_000);
      clock.advance(timeoutMs * 1.1 + 1_000);
      assert.equal(ledger.count, 0);
      assert.equal(failed.length - failedBefore, 10_000);
      clock.advance(timeoutMs / 10 + 1);
      bytesAfter.push(ledger.byteLength);
    }
    assert.equal(clock.pendingTimers, 0);
    assert.ok(
      Math.max(...bytesAfter) <= 4_096 * 20 * 16,
      `memory comes back: ${bytesAfter.join()}`,
    );
  });

  test('S03 a million live roots, no spurious fail', () => {
    const { clock, failed, ledger } = aLedger(60_000);
    const count = 1_000_000;
    const random = createSeededRandom(3);
    const high = random.uint32() | 0;
    for (let low = 0; low < count; low += 1) {
      ledger.create(low, high, low + 1, 7);
      if (low % 100_000 === 0) clock.advance(5_000);
    }
    assert.equal(ledger.count, count);
    let complete = 0;
    for (let low = 0; low < count; low += 1) {
      complete += ledger.settle(low, high, low + 1, 7) === 'complete' ? 1 : 0;
    }
    assert.equal(complete, count);
    assert.deepEqual(failed, []);
  });

  test('an expired tree may still be complete until it is swept; a lost one may not', () => {
    const { clock, failed, create, ack, ledger } = aLedger(10_000, () => false);
    create(1);
    create(2);
    clock.advance(20_000); // There is no room to say it.
    assert.equal(ack(1), 'complete');
    ledger.failAll();
    assert.equal(ack(2), 'lost');
    assert.deepEqual(failed, []);
    assert.equal(ledger.count, 0);
  });

  test('failAll fails what lives, and nothing that is made afterwards', () => {
    const { clock, failed, create, ack, ledger } = aLedger(10_000);
    for (let key = 0; key < 5_000; key += 1) create(key);
    ledger.failAll();
    for (let key = 5_000; key < 6_000; key += 1) create(key);
    clock.runSoon();
    assert.equal(ledger.count, 1_000);
    assert.deepEqual(
      failed.map(({ key }) => key).toSorted((a, b) => a - b),
      Array.from({ length: 5_000 }, (_, key) => key),
    );
    assert.ok(failed.every(({ kind }) => kind === 'lost-stream-manager'));
    for (let key = 5_000; key < 6_000; key += 1) assert.equal(ack(key), 'complete');
    ledger.failAll();
    clock.runSoon();
    assert.equal(failed.length, 5_000);
  });

  test('trees made after a loss keep their time', () => {
    const { clock, failed, create, ledger } = aLedger(10_000);
    create(0);
    for (let key = 1; key <= 50; key += 1) {
      clock.advance(100);
      ledger.failAll();
      create(key);
    }
    clock.runSoon();
    assert.equal(failed.length, 50);
    clock.advance(9_999);
    assert.equal(failed.length, 50);
    clock.advance(2_000);
    assert.deepEqual(failed.at(-1)?.key, 50);
    assert.equal(failed.at(-1)?.kind, 'time-out');
  });

  test('a sweep waits while there is no room for its fails', () => {
    let room = 3;
    const { clock, failed, create, ledger } = aLedger(10_000, () => room > 0);
    for (let key = 0; key < 20_000; key += 1) create(key);
    room = 0;
    ledger.failAll();
    clock.advance(5_000);
    assert.equal(failed.length, 0);
    room = 1;
    clock.advance(10);
    assert.equal(failed.length, 20_000);
    clock.advance(1_001);
    assert.equal(clock.pendingTimers, 0);
  });

  test('clear forgets without a word, and what comes next is new', () => {
    const { clock, failed, create, ack, ledger } = aLedger(10_000);
    create(1);
    clock.advance(5_000);
    ledger.failAll();
    ledger.clear();
    assert.equal(ack(1), 'unknown');
    create(2);
    clock.advance(9_999);
    assert.deepEqual(failed, []);
    clock.advance(2_000);
    assert.deepEqual(
      failed.map(({ key }) => key),
      [2],
    );
    clock.advance(1_001);
    assert.equal(clock.pendingTimers, 0);
  });

  test('close leaves no timer', () => {
    const { clock, create, ledger } = aLedger(10_000);
    create(1);
    ledger.failAll();
    ledger.close();
    assert.equal(clock.pendingTimers, 0);
  });
});
