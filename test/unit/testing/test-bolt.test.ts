import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { BasicBolt, type Tuple } from '../../../src/api/index.ts';
import { spend, testBolt } from '../../../src/testing/index.ts';
import { Batches, Count, Split, Waiting } from '../../testing/tested-components.ts';

describe('a bolt alone', () => {
  it('gives what it emits, by field and in order', async () => {
    await using bolt = await testBolt(() => new Split(), { input: ['sentence'] });
    await bolt.send({ sentence: 'the cow' });
    await bolt.send({ sentence: 'jumped' });
    assert.deepEqual(bolt.outputs(), [{ word: 'the' }, { word: 'cow' }, { word: 'jumped' }]);
  });

  it('gives only what is new when it is asked for that', async () => {
    await using bolt = await testBolt(() => new Split(), { input: ['sentence'] });
    await bolt.send({ sentence: 'the cow' });
    assert.deepEqual(bolt.takeOutputs(), [{ word: 'the' }, { word: 'cow' }]);
    await bolt.send({ sentence: 'jumped' });
    assert.deepEqual(bolt.takeOutputs(), [{ word: 'jumped' }]);
    assert.deepEqual(bolt.takeOutputs(), []);
  });

  it('finishes at the end of input', async () => {
    await using bolt = await testBolt(() => new Count(), { input: ['word'] });
    await bolt.sendAll([{ word: 'a' }, { word: 'b' }, { word: 'a' }]);
    assert.deepEqual(bolt.outputs(), []);
    assert.equal(bolt.hasEnded, false);
    await bolt.finish();
    assert.equal(bolt.hasEnded, true);
    assert.deepEqual(bolt.outputs(), [
      { word: 'a', count: 2 },
      { word: 'b', count: 1 },
    ]);
  });

  it('shows its state', async () => {
    await using bolt = await testBolt(() => new Count(), { input: ['word'] });
    await bolt.send({ word: 'a' });
    assert.deepEqual([...bolt.component.counts], [['a', 1]]);
  });

  it('goes on after an error of a basic bolt, which fails the tuple', async () => {
    await using bolt = await testBolt(() => new Count(), { input: ['word'] });
    await bolt.sendAll([{ word: '' }, { word: 'a' }]);
    assert.deepEqual(
      bolt.failed.map(({ values, reason }) => [values, String(reason)]),
      [[{ word: '' }, 'Error: there is no word']],
    );
    assert.deepEqual(
      bolt.acked.map(({ values }) => values),
      [{ word: 'a' }],
    );
    assert.deepEqual(
      bolt.errors.map(({ method, error }) => `${method}: ${String(error)}`),
      ['execute: Error: there is no word'],
    );
    assert.match(bolt.logs.map(({ message }) => message).join('\n'), /there is no word/);
  });

  it('tells which tuples a bolt has acked, failed and kept', async () => {
    await using bolt = await testBolt(() => new Batches(), { input: ['value'] });
    await bolt.sendAll([{ value: 1 }, { value: 0 }, { value: 2 }]);
    assert.equal(bolt.pending.length, 2);
    assert.deepEqual(
      bolt.failed.map(({ values, reason }) => [values.value, reason]),
      [[0, 'zero']],
    );
    await bolt.advance(1_000);
    assert.deepEqual(bolt.pending, []);
    assert.deepEqual(
      bolt.acked.map(({ values }) => values.value),
      [1, 2],
    );
    assert.deepEqual(bolt.outputs(), [{ size: 2 }]);
    assert.equal(bolt.emitted[0]?.anchors.length, 2);
  });

  it('ends at an error of a bolt, and can be started anew', async () => {
    await using bolt = await testBolt(() => new Batches(), { input: ['value'] });
    const first = bolt.component;
    await assert.rejects(bolt.send({ value: -1 }), /a value is below zero/);
    await assert.rejects(bolt.send({ value: 1 }), /a value is below zero/);
    await bolt.restart();
    assert.notEqual(bolt.component, first);
    await bolt.send({ value: 1 });
    assert.equal(bolt.pending.length, 2);
  });

  it('awaits a promise of execute for as much simulated time as it takes', async () => {
    await using bolt = await testBolt(() => new Waiting(), { input: ['ms'] });
    await bolt.send({ ms: 3_000 });
    await bolt.send({ ms: 500 });
    assert.deepEqual(bolt.outputs(), [{ doneAtMs: 3_000 }, { doneAtMs: 3_500 }]);
  });

  it('says what it waits for when that does not come', async () => {
    await using bolt = await testBolt(() => new Waiting(), { input: ['ms'] });
    await assert.rejects(bolt.send({ ms: 3_600_000 }), {
      code: 'RUN_NOT_FINISHED',
      message: "'bolt': a promise of execute is pending, after 600000 simulated ms",
    });
  });

  it('leaves the platform as it was, also after a failure', async () => {
    const { Date: date, setTimeout: timeout, fetch: get } = globalThis;
    await using bolt = await testBolt(() => new Waiting(), { input: ['ms'] });
    const sending = bolt.send({ ms: 3_600_000 });
    await Promise.resolve();
    assert.notEqual(globalThis.fetch, get, 'in place while the simulation runs');
    await assert.rejects(sending, { code: 'RUN_NOT_FINISHED' });
    assert.equal(globalThis.Date, date);
    assert.equal(globalThis.setTimeout, timeout);
    assert.equal(globalThis.fetch, get);
  });

  it('hands over without running anything', async () => {
    await using bolt = await testBolt(() => new Waiting(), { input: ['ms'] });
    bolt.feed({ ms: 100 });
    assert.deepEqual(bolt.received, []);
    await bolt.advance(99);
    assert.equal(bolt.received.length, 1);
    assert.deepEqual(bolt.outputs(), []);
    await bolt.advance(2);
    assert.deepEqual(bolt.outputs(), [{ doneAtMs: 100 }]);
  });

  it('loses what it was given and has not executed when it is started anew', async () => {
    await using bolt = await testBolt(() => new Waiting(), { input: ['ms'] });
    bolt.feed({ ms: 1 });
    bolt.feed({ ms: 2 });
    await bolt.restart();
    await bolt.send({ ms: 3 });
    assert.equal(bolt.outputs().length, 1);
  });

  it('takes calls one by one that the test does not await', async () => {
    await using bolt = await testBolt(() => new Waiting(), { input: ['ms'] });
    await Promise.all([bolt.send({ ms: 100 }), bolt.advance(50), bolt.send({ ms: 100 })]);
    assert.deepEqual(bolt.outputs(), [{ doneAtMs: 100 }, { doneAtMs: 200 }]);
  });

  it('settles a promise of the test on the thread of the bolt', async () => {
    const answer = Promise.withResolvers<string>();
    class Asking extends BasicBolt.of({ default: ['answer', 'atMs'] }) {
      async execute(_tuple: Tuple): Promise<void> {
        this.emit([await answer.promise, Date.now()]);
      }
    }
    await using bolt = await testBolt(() => new Asking(), { input: ['question'] });
    bolt.feed({ question: 'why' });
    await bolt.advance(1_000);
    await bolt.perform(() => answer.resolve('because'));
    const [output] = bolt.outputs();
    assert.equal(output?.answer, 'because');
    assert.ok(Number(output?.atMs) < 1_800_000_000_000, 'a simulated date');
  });

  it('reads several streams of several sources', async () => {
    class Merge extends BasicBolt.of({ default: ['from'] }) {
      execute(tuple: Tuple): void {
        this.emit([`${tuple.sourceComponent}/${tuple.sourceStream} ${tuple.values.join()}`]);
      }
    }
    await using bolt = await testBolt(() => new Merge(), {
      inputs: { words: { default: ['word'] }, orders: { default: ['id'], late: ['id', 'atMs'] } },
    });
    await bolt.send({ word: 'a' }, { source: 'words' });
    await bolt.send({ atMs: 5, id: 7 }, { source: 'orders', stream: 'late' });
    assert.deepEqual(
      bolt.outputs().map(({ from }) => from),
      ['words/default a', 'orders/late 7,5'],
    );
    await assert.rejects(bolt.send({ word: 'a' }), /say which input the tuple is from/);
    await assert.rejects(bolt.send({ word: 'a' }, { source: 'word' }), /did you mean 'words'/);
    await assert.rejects(bolt.send({ id: 1 }, { source: 'words' }), { code: 'UNKNOWN_FIELD' });
    await assert.rejects(bolt.send({ id: 1 }, { source: 'orders', stream: 'early' }), {
      code: 'UNKNOWN_STREAM',
    });
  });

  it('may take simulated time for its work', async () => {
    class Slow extends BasicBolt {
      execute(_tuple: Tuple<{ ms: number }>): void {
        spend(250);
      }
    }
    await using bolt = await testBolt(() => new Slow(), { input: ['ms'] });
    await bolt.send({ ms: 1 });
    await bolt.send({ ms: 1 });
    assert.ok(bolt.nowMs >= 250, `two calls begin ${bolt.nowMs} ms after the start`);
    assert.throws(() => spend(1), { code: 'INVALID_ARGUMENT' });
  });

  it('keeps what it has emitted as it was', async () => {
    class Reusing extends BasicBolt.of({ default: ['list'] }) {
      readonly #list: number[] = [];
      execute(tuple: Tuple<{ value: number }>): void {
        this.#list.push(tuple.get('value'));
        this.emit({ list: this.#list });
      }
    }
    await using bolt = await testBolt(() => new Reusing(), { input: ['value'] });
    await bolt.sendAll([{ value: 1 }, { value: 2 }]);
    assert.deepEqual(bolt.outputs(), [{ list: [1] }, { list: [1, 2] }]);
  });

  it('takes values of any size', async () => {
    class Echo extends BasicBolt.of({ default: ['bytes'] }) {
      execute(tuple: Tuple<{ bytes: Uint8Array }>): void {
        this.emit([tuple.get('bytes')]);
      }
    }
    await using bolt = await testBolt(() => new Echo(), { input: ['bytes'] });
    const large = new Uint8Array(500_000).fill(7);
    await bolt.sendAll([{ bytes: large }, { bytes: new Uint8Array(3) }, { bytes: large }]);
    assert.deepEqual(
      bolt.outputs().map(({ bytes }) => (bytes as Uint8Array).length),
      [500_000, 3, 500_000],
    );
  });

  it('passes what prepare throws to the test', async () => {
    class Broken extends BasicBolt {
      override prepare(): void {
        throw new Error('no such table');
      }
      execute(): void {}
    }
    await assert.rejects(
      testBolt(() => new Broken()),
      /prepare of 'bolt' \(task 2\) failed: no such table/,
    );
  });

  it('passes what a timer of the bolt throws to the test', async () => {
    class Broken extends BasicBolt {
      override prepare(): void {
        setTimeout(() => {
          throw new Error('thrown by a timer');
        }, 10);
      }
      execute(): void {}
    }
    await using bolt = await testBolt(() => new Broken());
    await assert.rejects(bolt.advance(20), /thrown by a timer/);
    await assert.rejects(bolt.advance(20), /thrown by a timer/);
  });

  it('passes a rejection that the bolt does not handle to the test', async () => {
    class Broken extends BasicBolt {
      override prepare(): void {
        setTimeout(() => void Promise.reject(new Error('nobody waits')), 10);
      }
      execute(): void {}
    }
    await using bolt = await testBolt(() => new Broken());
    await assert.rejects(bolt.advance(20), /nobody waits/);
  });

  it('says so when the bolt has no input', async () => {
    await using bolt = await testBolt(() => new Count());
    await assert.rejects(bolt.send({ word: 'a' }), /say what the bolt reads/);
  });

  it('refuses a stream that the bolt does not declare', async () => {
    await using bolt = await testBolt(() => new Batches(), { input: ['value'] });
    assert.throws(() => bolt.outputs('lat' as 'late'), /did you mean 'late'/);
  });

  it('calls cleanup once, and refuses to go on then', async () => {
    let cleanups = 0;
    class Closing extends BasicBolt {
      execute(_tuple: Tuple<{ value: number }>): void {}
      override cleanup(): void {
        cleanups += 1;
      }
    }
    const bolt = await testBolt(() => new Closing(), { input: ['value'] });
    await bolt.close();
    await bolt.close();
    assert.equal(cleanups, 1);
    await assert.rejects(bolt.send({ value: 1 }), /has been closed/);
  });

  it('passes what cleanup throws to the test', async () => {
    class Broken extends BasicBolt {
      execute(): void {}
      override cleanup(): void {
        throw new Error('still open');
      }
    }
    const bolt = await testBolt(() => new Broken());
    await assert.rejects(bolt.close(), /still open/);
    await bolt.close();
  });

  it('closes a bolt that is in the middle of a call', async () => {
    const bolt = await testBolt(() => new Waiting(), { input: ['ms'] });
    bolt.feed({ ms: 3_600_000 });
    await bolt.advance(1);
    await bolt.close();
    assert.deepEqual(bolt.outputs(), []);
  });

  it('is the same in every run', async () => {
    class Chance extends BasicBolt.of({ default: ['number', 'id'] }) {
      execute(_tuple: Tuple<{ value: number }>): void {
        // oxlint-disable-next-line no-restricted-properties -- As users write it.
        this.emit([Math.random(), crypto.randomUUID()]);
      }
    }
    const outputs = await Promise.all(
      [1, 1, 2].map(async (seed) => {
        await using bolt = await testBolt(() => new Chance(), { input: ['value'], seed });
        await bolt.sendAll([{ value: 1 }, { value: 2 }]);
        return bolt.outputs();
      }),
    );
    assert.deepEqual(outputs[0], outputs[1]);
    assert.notDeepEqual(outputs[0], outputs[2]);
  });
});
