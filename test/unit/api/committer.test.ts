import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { Committer } from '../../../src/api/committer.ts';
import { ManualClock } from '../../support/manual-clock.ts';
import { settled } from '../../support/settled.ts';

class Store {
  readonly clock = new ManualClock();
  readonly commits: string[] = [];
  readonly failures: unknown[] = [];
  cleans = 0;
  /** What the next commits do; they succeed at once otherwise. */
  readonly outcomes: (() => void | Promise<void>)[] = [];
  readonly committer = new Committer<number>({
    commit: (position) => {
      this.commits.push(`${position} at ${this.clock.now()}`);
      return this.outcomes.shift()?.();
    },
    clock: this.clock,
    intervalMs: () => 100,
    onFailure: (error) => void this.failures.push(error),
    onClean: () => void (this.cleans += 1),
  });

  async advance(ms: number): Promise<void> {
    this.clock.advance(ms);
    await settled();
  }
}

const fail = (): never => {
  throw new Error('the store is down');
};

describe('a committer', () => {
  it('C1: commits soon, then the newest position once in an interval', async () => {
    const store = new Store();
    store.committer.request(1);
    store.committer.request(2);
    assert.equal(store.committer.isClean, false);
    await store.advance(0);
    assert.deepEqual(store.commits, ['2 at 0']);
    assert.equal(store.committer.isClean, true);
    for (let position = 3; position <= 30; position += 1) {
      store.committer.request(position);
      await store.advance(10);
    }
    assert.deepEqual(store.commits, ['2 at 0', '12 at 100', '22 at 200']);
  });

  it('C1: has one commit under way at a time', async () => {
    const store = new Store();
    const slow = Promise.withResolvers<void>();
    store.outcomes.push(() => slow.promise);
    store.committer.request(1);
    await store.advance(0);
    store.committer.request(2);
    await store.advance(1_000);
    assert.deepEqual(store.commits, ['1 at 0']);
    slow.resolve();
    await settled();
    await store.advance(99);
    assert.equal(store.commits.length, 1);
    await store.advance(1);
    assert.deepEqual(store.commits, ['1 at 0', '2 at 1100']);
  });

  it('C2: repeats one that failed, and tells of a run of failures once', async () => {
    const store = new Store();
    store.outcomes.push(fail, async () => fail());
    store.committer.request(1);
    await store.advance(0);
    assert.equal(store.failures.length, 1);
    await store.advance(100);
    store.committer.request(2);
    await store.advance(100);
    assert.deepEqual(store.commits, ['1 at 0', '1 at 100', '2 at 200']);
    assert.equal(store.failures.length, 1);
    assert.equal(store.committer.isClean, true);
    assert.equal(store.cleans, 1);
    store.outcomes.push(fail);
    store.committer.request(3);
    await store.advance(100);
    assert.equal(store.failures.length, 2);
  });

  it('commits at once when it is flushed, behind the one that is under way', async () => {
    const store = new Store();
    const slow = Promise.withResolvers<void>();
    store.outcomes.push(() => slow.promise);
    store.committer.request(1);
    await store.advance(0);
    store.committer.request(2);
    const flushed = store.committer.flush();
    slow.resolve();
    assert.equal(await flushed, true);
    assert.deepEqual(store.commits, ['1 at 0', '2 at 0']);
    store.outcomes.push(fail);
    store.committer.request(3);
    assert.equal(await store.committer.flush(), false);
    assert.equal(store.committer.isClean, false);
  });

  it('C3: begins no commit once it is closed', async () => {
    const store = new Store();
    store.committer.request(1);
    store.committer.close();
    store.committer.request(2);
    await store.advance(1_000);
    assert.deepEqual(store.commits, []);
    assert.equal(store.clock.pendingTimers, 0);
  });
});
