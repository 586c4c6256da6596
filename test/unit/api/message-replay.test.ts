import assert from 'node:assert/strict';
import { test } from 'node:test';
import * as fc from 'fast-check';
import {
  FAILED,
  NumberSource,
  NumberStore,
  numbersFrom,
  ReplayedSpout,
  RereadingNumberSource,
} from '../../support/replayed-spout.ts';

const COUNT = 30;

const actions = fc.array(
  fc.oneof(
    { weight: 4, arbitrary: fc.constant({ kind: 'step' as const }) },
    { weight: 4, arbitrary: fc.record({ kind: fc.constant('ack' as const), which: fc.nat() }) },
    { weight: 3, arbitrary: fc.record({ kind: fc.constant('fail' as const), which: fc.nat() }) },
    { weight: 2, arbitrary: fc.record({ kind: fc.constant('time' as const), ms: fc.nat(3_000) }) },
    { weight: 1, arbitrary: fc.constant({ kind: 'restart' as const }) },
  ),
  { maxLength: 150 },
);

type Action = (typeof actions extends fc.Arbitrary<infer T> ? T : never)[number];

/** A spout in its processes, one after the other, and what has become of its messages. */
class Life {
  readonly store = new NumberStore(COUNT);
  readonly settled = new Set<number>();
  pending: { readonly number: number; readonly id: unknown }[] = [];
  spout: ReplayedSpout;
  readonly #Source: typeof NumberSource;
  #committedBefore = 0;

  constructor(Source: typeof NumberSource) {
    this.#Source = Source;
    this.spout = this.#newSpout();
  }

  async act(action: Action): Promise<void> {
    switch (action.kind) {
      case 'step':
        await this.spout.step();
        this.pending.push(...this.spout.take());
        break;
      case 'ack':
      case 'fail': {
        const [message] = this.pending.splice(action.which % Math.max(1, this.pending.length), 1);
        if (message === undefined) break;
        if (action.kind === 'fail') void this.spout.spout.fail(message.id, FAILED);
        else {
          this.settled.add(message.number);
          void this.spout.spout.ack(message.id);
        }
        break;
      }
      case 'time':
        await this.spout.advance(action.ms);
        break;
      case 'restart': // Like a crash: nothing is closed.
        this.spout = this.#newSpout();
        this.pending = [];
        await this.spout.open();
        break;
      default:
        throw new Error('no such action');
    }
    this.#check();
  }

  #check(): void {
    for (const { values } of this.spout.collector.givenUp.splice(0)) {
      this.settled.add(Number(values?.[0]));
    }
    const committed = this.store.committed ?? 0;
    assert.ok(committed >= this.#committedBefore, 'a commit never goes back');
    this.#committedBefore = committed;
    for (let number = 1; number <= committed; number += 1) {
      assert.ok(this.settled.has(number), `${number} is not settled, and ${committed} committed`);
    }
  }

  #newSpout(): ReplayedSpout {
    const source = new this.#Source(this.store);
    const options = { commitIntervalMs: 200, unsettledMax: 12 };
    const config = { 'topology.retry.limit': '2', 'topology.retry.backoff.max.ms': '500' };
    return new ReplayedSpout(
      numbersFrom(() => source, options),
      { config },
    );
  }
}

for (const Source of [NumberSource, RereadingNumberSource]) {
  test(`no script of acks, fails and restarts loses a message (${Source.name})`, async () => {
    await fc.assert(
      fc.asyncProperty(actions, async (script) => {
        const life = new Life(Source);
        await life.spout.open();
        for (const action of script) await life.act(action);
        // Whatever has happened, it comes to its end.
        for (let round = 0; life.spout.collector.ends === 0; round += 1) {
          assert.ok(round < 1_000, 'it does not end');
          await life.act({ kind: 'step' });
          while (life.pending.length > 0) await life.act({ kind: 'ack', which: 0 });
          await life.act({ kind: 'time', ms: 100 });
        }
        assert.equal(life.settled.size, COUNT);
        assert.equal(life.store.committed, COUNT);
      }),
      { numRuns: 60 },
    );
  });
}

for (const kind of ['lost-instance', 'lost-stream-manager'] as const) {
  test(`O38: ${kind} does not use up the retries of a message, within bounds`, async () => {
    const source = new NumberSource(new NumberStore(1));
    const config = { 'topology.retry.limit': '2', 'topology.retry.backoff.max.ms': '500' };
    const spout = new ReplayedSpout(
      numbersFrom(() => source),
      { config },
    );
    await spout.open();
    const { givenUp } = spout.collector;
    let emitted = 0;
    for (let round = 0; givenUp.length === 0; round += 1) {
      assert.ok(round < 1_000, 'it does not end');
      await spout.step();
      for (const { id } of spout.take()) {
        emitted += 1;
        void spout.spout.fail(id, { ...FAILED, kind });
      }
      await spout.advance(500);
    }
    // 20 losses for nothing, the first emit and two retries.
    assert.equal(emitted, 23);
  });
}
