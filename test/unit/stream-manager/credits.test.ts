import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import * as fc from 'fast-check';
import { AssertionError } from '../../../src/base/assert.ts';
import {
  ArrivalLedger,
  type CreditOwner,
  InstanceWindow,
  SendWindow,
} from '../../../src/stream-manager/credits.ts';

class GrantLog implements CreditOwner {
  readonly grants: [task: number, bytes: number][] = [];
  lostBytes = 0;

  grant(task: number, bytes: number, lostBytes: number): void {
    this.grants.push([task, bytes]);
    this.lostBytes += lostBytes;
  }

  get bytes(): number {
    return this.grants.reduce((sum, [, bytes]) => sum + bytes, 0);
  }
}

describe('SendWindow', () => {
  it('lets a set of any size through while the balance is above zero', () => {
    const window = new SendWindow(100);
    window.spend(99, 1);
    assert.ok(window.isOpen);
    window.spend(1_000, 1);
    assert.equal(window.balanceBytes, -999);
    assert.ok(!window.isOpen);
    assert.throws(() => window.spend(1, 1), AssertionError);
  });

  it('opens again only when enough has come back', () => {
    const window = new SendWindow(100);
    window.spend(250, 1);
    window.refill(150);
    assert.ok(!window.isOpen);
    window.refill(1);
    assert.ok(window.isOpen);
  });

  it('does not believe in more credit than is under way', () => {
    const window = new SendWindow(100);
    window.spend(60, 1);
    window.refill(1_000_000);
    assert.equal(window.balanceBytes, 100);
  });

  it('is full after the way broke, and knows how many tuples were on it', () => {
    const window = new SendWindow(100);
    window.spend(30, 3);
    window.spend(30, 4);
    window.refill(30);
    assert.equal(window.reset(), 4);
    assert.equal(window.balanceBytes, 100);
  });
});

describe('the trees of what a SendWindow has under way', () => {
  /** A set of 10 bytes with one tree, whose fields are all the set's number. */
  const roots = (...sets: readonly number[]): Int32Array =>
    Int32Array.from(sets.flatMap((set) => [set, set, set]));

  function aWindow(sets: number) {
    const window = new SendWindow(1 << 20);
    const lost: number[] = [];
    const onLost = (fields: Int32Array): void => void lost.push(...fields);
    for (let set = 0; set < sets; set += 1) window.spend(10, 1, roots(set));
    return { window, lost, onLost };
  }

  it('are lost with the way', () => {
    const { window, lost, onLost } = aWindow(4);
    window.refill(20);
    window.reset(onLost);
    assert.deepEqual(lost, [...roots(2, 3)]);
    window.reset(onLost);
    assert.equal(lost.length, 6);
  });

  it('are lost with the sets that came back as lost, and no others', () => {
    const { window, lost, onLost } = aWindow(6);
    window.refill(10);
    window.lose(20, onLost);
    assert.deepEqual(lost, [...roots(1, 2)]);
    window.refill(10);
    window.lose(10, onLost);
    assert.deepEqual(lost, [...roots(1, 2, 4)]);
    assert.equal(window.underWayBytes, 10);
  });

  it('are lost with a set of which a part had come back', () => {
    const { window, lost, onLost } = aWindow(2);
    window.refill(4);
    window.lose(16, onLost);
    assert.deepEqual(lost, [...roots(0, 1)]);
  });

  it('are those of the tracked sets among others', () => {
    const { window, lost, onLost } = aWindow(1);
    window.spend(10, 1);
    window.spend(10, 3, roots(7, 8, 9));
    window.spend(10, 1);
    window.refill(20);
    window.reset(onLost);
    assert.deepEqual(lost, [...roots(7, 8, 9)]);
  });

  it('are copied: the memory of the set may be used again', () => {
    const { window, lost, onLost } = aWindow(0);
    const shared = roots(1);
    window.spend(10, 1, shared);
    shared.fill(9);
    window.reset(onLost);
    assert.deepEqual(lost, [...roots(1)]);
  });

  it('are right however long the window is in use', () => {
    fc.assert(
      fc.property(fc.array(fc.nat(60), { maxLength: 80 }), (steps) => {
        const window = new SendWindow(1 << 20);
        const open: number[] = [];
        let next = 0;
        for (const [index, amount] of steps.entries()) {
          for (let set = 0; set < amount; set += 1) {
            window.spend(10, 1, roots(next));
            open.push(next);
            next += 1;
          }
          const back = Math.min(open.length, (steps[index - 1] ?? 0) + (index % 2));
          const expected = open.splice(0, back);
          if (index % 3 === 0) {
            const lost: number[] = [];
            window.lose(10 * back, (fields) => void lost.push(...fields));
            assert.deepEqual(lost, [...roots(...expected)]);
          } else window.refill(10 * back);
        }
      }),
    );
  });
});

describe('ArrivalLedger', () => {
  it('says what was lost', () => {
    const sender = new GrantLog();
    const ledger = new ArrivalLedger(7);
    ledger.delivered(sender, 10, 1);
    ledger.delivered(sender, 20, 1);
    ledger.consumed(15);
    assert.equal(sender.lostBytes, 0);
    ledger.reset();
    assert.equal(sender.lostBytes, 15);
    assert.equal(sender.bytes, 30);
  });

  it('gives credit back to the senders in the order of delivery', () => {
    const own = new GrantLog();
    const peer = new GrantLog();
    const ledger = new ArrivalLedger(7);
    ledger.delivered(own, 10, 1);
    ledger.delivered(peer, 20, 1);
    ledger.delivered(own, 30, 1);
    ledger.consumed(25);
    assert.deepEqual(own.grants, [[7, 10]]);
    assert.deepEqual(peer.grants, [[7, 15]]);
  });

  it('grants each sender once for one report, however its sets lie', () => {
    const own = new GrantLog();
    const peer = new GrantLog();
    const ledger = new ArrivalLedger(7);
    for (let round = 0; round < 10; round += 1) {
      ledger.delivered(own, 10, 1);
      ledger.delivered(peer, 10, 1);
    }
    ledger.consumed(200);
    assert.deepEqual(own.grants, [[7, 100]]);
    assert.deepEqual(peer.grants, [[7, 100]]);
  });

  it('returns all credit and counts what was lost when the task goes away', () => {
    const peer = new GrantLog();
    const ledger = new ArrivalLedger(7);
    ledger.delivered(peer, 10, 2);
    ledger.delivered(peer, 20, 3);
    ledger.consumed(10);
    assert.equal(ledger.reset(), 3);
    assert.equal(peer.bytes, 30);
    ledger.consumed(50);
    assert.equal(peer.bytes, 30);
  });

  it('grants exactly what was delivered once everything is consumed', () => {
    const sizes = fc.array(fc.integer({ min: 1, max: 1_000 }), { maxLength: 50 });
    fc.assert(
      fc.property(sizes, sizes, fc.integer({ min: 1, max: 3_000 }), (one, two, step) => {
        const senders = [new GrantLog(), new GrantLog()] as const;
        const ledger = new ArrivalLedger(1);
        for (const bytes of one) ledger.delivered(senders[0], bytes, 1);
        for (const bytes of two) ledger.delivered(senders[1], bytes, 1);
        const sum = (all: readonly number[]): number => all.reduce((a, b) => a + b, 0);
        for (let left = sum(one) + sum(two); left > 0; left -= step) ledger.consumed(step);
        assert.equal(senders[0].bytes, sum(one));
        assert.equal(senders[1].bytes, sum(two));
      }),
    );
  });
});

describe('InstanceWindow', () => {
  it('releases nothing while a batch waits', () => {
    const window = new InstanceWindow(400);
    window.received(300);
    window.batchOpened();
    window.batchOpened();
    window.batchSent();
    assert.ok(window.isBlocked);
    assert.equal(window.takeReleasable(), 0);
    window.batchSent();
    assert.equal(window.takeReleasable(), 300);
    assert.equal(window.takeReleasable(), 0);
  });

  it('waits for a quarter of the window, since a release costs a packet', () => {
    const window = new InstanceWindow(400);
    window.received(99);
    assert.equal(window.takeReleasable(), 0);
    window.received(1);
    assert.equal(window.takeReleasable(), 100);
  });

  it('forgets what the last connection sent, not what still waits', () => {
    const window = new InstanceWindow(400);
    window.received(300);
    window.batchOpened();
    window.reset();
    window.batchSent();
    assert.equal(window.takeReleasable(), 0);
  });
});
