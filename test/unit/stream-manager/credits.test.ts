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

  grant(task: number, bytes: number): void {
    this.grants.push([task, bytes]);
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

describe('ArrivalLedger', () => {
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
