import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { ReplayableSpout } from '../../../src/api/index.ts';
import { replaysByItself } from '../../../src/api/component-runtime.ts';
import { userError } from '../../../src/base/errors.ts';
import { createSeededRandom } from '../../../src/base/random.ts';
import {
  FAILED,
  type NumberAnswer,
  NumberSource,
  NumberStore,
  numbersFrom,
  openedSpout,
  ReplayedSpout,
  RereadingNumberSource,
} from '../../support/replayed-spout.ts';
import { settled } from '../../support/settled.ts';

const messages = (errors: readonly unknown[]): readonly string[] =>
  errors.map((error) => (error as Error).message);

describe('a replayable spout', () => {
  for (const Source of [NumberSource, RereadingNumberSource]) {
    it(`S13: loses nothing of what fails in random order (${Source.name})`, async () => {
      const store = new NumberStore(2_000);
      const config = { 'topology.retry.limit': '1000' };
      const spout = await openedSpout(new Source(store), { config });
      const random = createSeededRandom(13);
      const pending: { readonly number: number; readonly id: unknown }[] = [];
      const processed = new Set<number>();
      while (spout.collector.ends === 0) {
        for (let call = random.below(50); call > 0; call -= 1) await spout.step();
        pending.push(...spout.take());
        for (let left = random.below(pending.length + 1); left > 0; left -= 1) {
          const [message] = pending.splice(random.below(pending.length), 1);
          if (message === undefined) break;
          if (random.below(5) === 0) void spout.spout.fail(message.id, FAILED);
          else {
            processed.add(message.number);
            void spout.spout.ack(message.id);
          }
        }
        const firstOpen = pending.reduce((min, { number }) => Math.min(min, number), 2_001);
        assert.ok((store.committed ?? 0) < firstOpen, 'the commit passes no gap');
        await spout.advance(random.below(2_000));
      }
      assert.equal(processed.size, 2_000);
      assert.equal(store.committed, 2_000);
      assert.deepEqual(spout.collector.errors, []);
      await spout.spout.close();
      assert.equal(spout.clock.pendingTimers, 0);
    });
  }

  it('S15: reports what is lost at its source once, and goes on', async () => {
    const store = new NumberStore(5);
    const spout = await openedSpout(new RereadingNumberSource(store));
    await spout.drain();
    const emitted = spout.take();
    store.deleted.add(2);
    for (const { number, id } of emitted) {
      if (number === 2) void spout.spout.fail(id, FAILED);
      else void spout.spout.ack(id);
    }
    await spout.advance(1_000);
    assert.equal(store.committed, 1, 'the lost one is not known to be lost yet');
    await spout.drain();
    await spout.advance(1_000);
    await spout.step();
    assert.equal(store.committed, 5);
    assert.equal(spout.collector.ends, 1);
    assert.deepEqual(messages(spout.collector.errors), [
      'lost at source: the message at 2 is not there any more, after it had failed (explicit)',
    ]);
    assert.deepEqual(spout.collector.givenUp, []);
  });

  it('emits a failed message again after a growing pause', async () => {
    const config = { 'topology.retry.backoff.ms': '1000' };
    const spout = await openedSpout(new NumberSource(new NumberStore(1)), { config });
    const emittedAt: number[] = [];
    await spout.step();
    for (let attempt = 0; attempt < 4; attempt += 1) {
      const [message] = spout.take();
      emittedAt.push(spout.clock.now());
      void spout.spout.fail(message?.id, FAILED);
      while (spout.collector.emitted.length === 0) {
        await spout.step();
        await spout.advance(10);
      }
    }
    const pauses = emittedAt.slice(1).map((at, index) => at - (emittedAt[index] ?? 0));
    for (const [index, pauseMs] of pauses.entries()) {
      const longestMs = 1_000 * 2 ** index;
      assert.ok(pauseMs > longestMs / 2 && pauseMs <= longestMs + 20, `${pauseMs} ms`);
    }
  });

  it('wakes the task when a retry is due', async () => {
    const spout = await openedSpout(new NumberSource(new NumberStore(1)));
    await spout.drain();
    const [message] = spout.take();
    void spout.spout.fail(message?.id, FAILED);
    await spout.drain();
    const wakesBefore = spout.wakes;
    await spout.advance(49);
    assert.equal(spout.wakes, wakesBefore);
    await spout.advance(51);
    assert.equal(spout.wakes, wakesBefore + 1);
  });

  it('gives up when the retries are used up, and commits when the letter is written', async () => {
    const store = new NumberStore(3);
    const config = { 'topology.retry.limit': '2' };
    const spout = await openedSpout(new NumberSource(store), { config });
    const written = Promise.withResolvers<void>();
    spout.collector.deadLetter = (message) => {
      spout.collector.givenUp.push(message);
      return written.promise;
    };
    const attempts = new Map<number, number>();
    for (let round = 0; round < 10; round += 1) {
      await spout.drain();
      for (const { number, id } of spout.take()) {
        attempts.set(number, (attempts.get(number) ?? 0) + 1);
        if (number === 2) void spout.spout.fail(id, FAILED);
        else void spout.spout.ack(id);
      }
      await spout.advance(1_000);
    }
    assert.deepEqual(
      [...attempts],
      [
        [1, 1],
        [2, 3],
        [3, 1],
      ],
    );
    assert.deepEqual(spout.collector.givenUp, [
      {
        streamIndex: 0,
        values: [2],
        messageId: undefined,
        position: '2',
        attempts: 3,
        reason: {
          kind: 'explicit',
          component: undefined,
          task: undefined,
          message: 'no',
          stack: 'no\n at bolt',
        },
        isEmitted: false,
      },
    ]);
    assert.equal(store.committed, 1, 'the letter is not written yet');
    assert.equal(spout.spout.holdsMessages(), true);
    written.resolve();
    await settled();
    await spout.advance(1_000);
    assert.equal(store.committed, 3);
    await spout.step();
    assert.equal(spout.collector.ends, 1);
  });

  it('gives up at once what its author does not want to be tried again', async () => {
    class Strict extends ReplayableSpout.of({ default: ['number'] }) {
      override source() {
        return new RereadingNumberSource(new NumberStore(2));
      }
      override isRetryable(reason: { readonly kind: string }): boolean {
        return reason.kind !== 'explicit';
      }
    }
    const spout = new ReplayedSpout(new Strict());
    await spout.open();
    await spout.drain();
    for (const { id } of spout.take()) void spout.spout.fail(id, FAILED);
    await spout.drain();
    assert.deepEqual(
      spout.collector.givenUp.map(({ values, attempts }) => [values, attempts]),
      [
        [[1], 1],
        [[2], 1],
      ],
    );
  });

  it('O38: keeps a record that is no tuple, and goes on with the next', async () => {
    class Corrupt extends NumberSource {
      override next(): NumberAnswer | Promise<NumberAnswer> {
        const answer = super.next();
        if (answer instanceof Promise || answer === 'end' || answer?.position !== 2) return answer;
        const unreadable = new TextEncoder().encode('{"number": 2');
        return { position: 2, unreadable, error: new Error('no JSON') };
      }
    }
    const store = new NumberStore(3);
    const spout = await openedSpout(new Corrupt(store));
    await spout.drain();
    const emitted = spout.take();
    assert.deepEqual(
      emitted.map(({ number }) => number),
      [1, 3],
    );
    for (const { id } of emitted) void spout.spout.ack(id);
    const [letter] = spout.collector.givenUp;
    assert.equal(letter?.streamIndex, undefined);
    assert.deepEqual(letter?.values, [new TextEncoder().encode('{"number": 2')]);
    assert.equal(letter?.attempts, 0);
    const { kind, component, task, message } = letter?.reason ?? {};
    assert.deepEqual([kind, component, task, message], ['unreadable', 'lines', 1, 'no JSON']);
    await spout.advance(1_000);
    assert.equal(store.committed, 3);
  });

  it('gives up values that cannot travel, and throws what is the author’s fault', async () => {
    const spout = await openedSpout(new NumberSource(new NumberStore(2)));
    const emit = spout.collector.emit.bind(spout.collector);
    spout.collector.emit = (stream, values, anchors, id) => {
      if (values[0] === 1) throw userError('VALUE_NOT_SERIALIZABLE', 'a function');
      emit(stream, values, anchors, id);
    };
    await spout.step();
    await spout.step();
    assert.deepEqual(
      spout.take().map(({ number }) => number),
      [2],
    );
    assert.equal(spout.collector.givenUp[0]?.reason.kind, 'unreadable');
    const other = await openedSpout(new NumberSource(new NumberStore(2)));
    other.collector.emit = () => {
      throw userError('UNKNOWN_FIELD', 'a mistake');
    };
    await assert.rejects(async () => other.step(), /a mistake/);
  });

  it('reads nothing new while too many messages lie behind one that is not settled', async () => {
    const store = new NumberStore(1_000);
    const make = () => numbersFrom(() => new NumberSource(store), { unsettledMax: 10 });
    const spout = new ReplayedSpout(make(), { config: { 'topology.retry.limit': '100' } });
    await spout.open();
    await spout.drain();
    const first = spout.take();
    assert.equal(first.length, 10);
    for (const { number, id } of first) {
      if (number === 1) void spout.spout.fail(id, FAILED);
      else void spout.spout.ack(id);
    }
    await spout.drain();
    assert.deepEqual(spout.take(), []);
    await spout.advance(1_000);
    await spout.drain();
    const [again, ...others] = spout.take();
    assert.equal(again?.number, 1);
    assert.deepEqual(others, []);
    void spout.spout.ack(again?.id);
    await spout.drain();
    assert.equal(spout.take().length, 10);
  });

  it('survives a burst in which all fail at once, again and again', async () => {
    const count = 20_000;
    const store = new NumberStore(count);
    const spout = await openedSpout(new RereadingNumberSource(store));
    for (let round = 0; round < 3; round += 1) {
      for (let call = 0; call <= count; call += 1) void spout.spout.nextTuple();
      const burst = spout.take();
      assert.equal(burst.length, count, `round ${round}`);
      for (const { id } of burst.toReversed()) void spout.spout.fail(id, FAILED);
      await spout.advance(10_000);
    }
    for (let call = 0; call <= count; call += 1) void spout.spout.nextTuple();
    for (const { id } of spout.take()) void spout.spout.ack(id);
    await spout.advance(1_000);
    assert.equal(store.committed, count);
    assert.equal(spout.spout.holdsMessages(), false);
  });

  it('begins with what was not committed when it is started anew', async () => {
    const store = new NumberStore(100);
    const spout = await openedSpout(new NumberSource(store));
    for (let call = 0; call < 10; call += 1) await spout.step();
    for (const { number, id } of spout.take()) if (number !== 4) void spout.spout.ack(id);
    await spout.advance(1_000);
    const next = await openedSpout(new NumberSource(store));
    await next.step();
    assert.deepEqual(
      next.take().map(({ number }) => number),
      [4],
    );
  });

  it('commits in batches, when it closes, and before the input ends', async () => {
    const store = new NumberStore(100);
    const spout = await openedSpout(new NumberSource(store));
    for (let call = 0; call < 50; call += 1) {
      await spout.step();
      for (const { id } of spout.take()) void spout.spout.ack(id);
      await spout.advance(50);
    }
    assert.deepEqual(store.commits, [1, 21, 41]);
    await spout.spout.close();
    assert.equal(store.committed, 50);

    const last = await openedSpout(new NumberSource(store));
    await last.drain();
    for (const { id } of last.take()) void last.spout.ack(id);
    await last.step();
    assert.equal(last.collector.ends, 0, 'the commit is under way');
    await last.advance(0);
    await last.step();
    assert.equal(last.collector.ends, 1);
    assert.equal(store.committed, 100);
  });

  it('reports a commit that fails and repeats it', async () => {
    const store = new NumberStore(2);
    const source = new NumberSource(store);
    const commit = source.commit.bind(source);
    source.commit = () => Promise.reject(new Error('the store is down'));
    const spout = await openedSpout(source);
    await spout.drain();
    for (const { id } of spout.take()) void spout.spout.ack(id);
    await spout.drain();
    await spout.advance(3_000);
    assert.equal(spout.collector.ends, 0);
    assert.deepEqual(messages(spout.collector.errors), [
      'the source cannot be committed; the newest position is tried again',
    ]);
    source.commit = commit;
    await spout.advance(1_000);
    await spout.step();
    assert.equal(spout.collector.ends, 1);
    assert.equal(store.committed, 2);
  });

  it('says that it replays', () => {
    assert.equal(replaysByItself(numbersFrom(() => new NumberSource(new NumberStore(1)))), true);
  });

  it('says what is wrong when open is overridden without calling it', async () => {
    class Careless extends ReplayableSpout.of({ default: ['number'] }) {
      override source() {
        return new NumberSource(new NumberStore(1));
      }
      override async open(): Promise<void> {}
    }
    assert.throws(() => new Careless().nextTuple(), /must call super\.open\(context\)/);
  });
});

describe('a replayable spout whose input is being drained', () => {
  it('emits what has failed, and nothing new', async () => {
    const store = new NumberStore(100);
    const spout = await openedSpout(new NumberSource(store));
    await spout.step();
    await spout.step();
    const [one, two] = spout.take();
    spout.collector.endOfInput();
    void spout.spout.ack(two?.id);
    void spout.spout.fail(one?.id, FAILED);
    await spout.drain();
    assert.deepEqual(spout.take(), []);
    assert.equal(spout.spout.holdsMessages(), true);
    await spout.advance(100);
    await spout.drain();
    const [again, ...others] = spout.take();
    assert.equal(again?.number, 1);
    assert.deepEqual(others, []);
    void spout.spout.ack(again?.id);
    assert.equal(spout.spout.holdsMessages(), false);
    await spout.spout.close();
    assert.equal(store.committed, 2);
  });
});
