import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { Bolt } from '../../../src/api/bolt.ts';
import { BasicBolt } from '../../../src/api/basic-bolt.ts';
import { Spout } from '../../../src/api/spout.ts';
import type { AnyTuple } from '../../../src/api/tuple.ts';
import { STAMP_BYTES, writeArrival } from '../../../src/instance/arrival-stamp.ts';
import { decodeMetricsFrame } from '../../../src/instance/metrics-frame.ts';
import type { Histogram } from '../../../src/metrics/histogram.ts';
import { decodeHistogram } from '../../../src/metrics/histogram-bytes.ts';
import { TaskInTest } from '../../support/task-in-test.ts';
import { aTracked, TrackedTask } from '../../support/tracked-task.ts';
import { aTuple, tupleSetBytes } from '../../support/tuple-sets.ts';

const REPORT_MS = 1_000;
const config = { 'heron.metrics.export.interval.ms': String(2 * REPORT_MS) };
const MS = 1e6;

/** What the task reports next: how many, and the largest in milliseconds. */
async function reported(task: TaskInTest): Promise<Readonly<Record<string, string>>> {
  task.clock.advance(REPORT_MS);
  await task.turn();
  const found: Record<string, string> = {};
  const ring = task.gateway.metricsOut;
  while (ring.next()) {
    const { histograms } = decodeMetricsFrame(ring.bytes.subarray(ring.start, ring.end));
    for (const [name, bytes] of histograms) {
      found[name] = textOf(decodeHistogram(bytes) ?? assert.fail('a histogram'));
    }
    ring.release();
  }
  return found;
}

function textOf({ count, max }: Histogram): string {
  return `${count} up to ${max / MS} ms`;
}

/** As the gateway writes it. */
function feedStamped(task: TaskInTest, words: readonly string[], arrivedAtMs: number): void {
  const set = tupleSetBytes({
    task: 1,
    component: 'source',
    tuples: words.map((word) => aTuple(word)),
  });
  const ring = task.gateway.dataIn;
  const at = writeArrival(ring.bytes, ring.reserve(set.length + STAMP_BYTES), arrivedAtMs);
  ring.bytes.set(set, at);
  ring.commit(at, at + set.length);
}

describe('the histograms of a bolt', () => {
  for (const concurrency of ['1', '4']) {
    it(`hold what each execute took, also that which threw, ${concurrency} at once`, async () => {
      class Slow extends BasicBolt.of({ default: ['word'], unread: ['word'] }) {
        override execute(tuple: AnyTuple): void {
          task.clock.advance(tuple.values[0] === 'long' ? 40 : 5);
          if (tuple.values[0] === 'bad') throw new Error('no number');
        }
      }
      const task: TrackedTask = new TrackedTask(new Slow(), {
        config: { ...config, 'topology.bolt.concurrency': concurrency },
      });
      void task.start();
      await task.turn();
      const words = ['good', 'bad', 'long', 'good'];
      task.feed({ tuples: words.map((word, at) => aTracked(word, BigInt(at), 1n)) });
      await task.turn();
      assert.deepEqual(await reported(task), {
        '__execute-latency/source/default': '4 up to 40 ms',
        '__process-latency/source/default': '4 up to 40 ms',
      });
      task.running.stop();
    });

    it(`hold how long its input waited, for each tuple, ${concurrency} at once`, async () => {
      class Quick extends BasicBolt.of({ default: ['word'], unread: ['word'] }) {
        override execute(): void {}
      }
      const task = new TaskInTest(new Quick(), {
        config: { ...config, 'topology.bolt.concurrency': concurrency },
      });
      void task.start();
      await task.turn();
      const arrivedAtMs = task.clock.now();
      task.clock.advance(30);
      feedStamped(task, ['a', 'b', 'c'], arrivedAtMs);
      await task.turn();
      const { '__in-queue-latency/source/default': waited } = await reported(task);
      assert.equal(waited, '3 up to 30 ms');
      task.running.stop();
    });
  }

  it('of a plain bolt hold how long it was until it acked', async () => {
    class Holder extends Bolt.of({ default: ['word'], unread: ['word'] }) {
      readonly received: AnyTuple[] = [];

      override execute(tuple: AnyTuple): void {
        this.received.push(tuple);
      }
    }
    const bolt = new Holder();
    const task = new TrackedTask(bolt, { config });
    void task.start();
    await task.turn();
    task.feed({ tuples: [aTracked('a', 1n, 1n)] });
    await task.turn();
    task.clock.advance(60);
    for (const tuple of bolt.received) bolt.ack(tuple);
    const { '__process-latency/source/default': process } = await reported(task);
    assert.equal(process, '1 up to 60 ms');
    task.running.stop();
  });

  it('are not there when the setting is off', async () => {
    class Quick extends BasicBolt.of({ default: ['word'], unread: ['word'] }) {
      override execute(): void {}
    }
    const off = { ...config, 'topology.metrics.histograms': 'false' };
    const task = new TaskInTest(new Quick(), { config: off });
    void task.start();
    await task.turn();
    feedStamped(task, ['a'], 0);
    await task.turn();
    assert.deepEqual(await reported(task), {});
    task.running.stop();
  });
});

it('those of a spout hold what nextTuple took, and how long messages were out', async () => {
  class Source extends Spout.of({ default: ['word'] }) {
    waiting = ['a', 'b'];

    override nextTuple(): void {
      const id = this.waiting.shift();
      if (id === undefined) return;
      task.clock.advance(3);
      this.emit([id], id);
    }
  }
  const task: TrackedTask = new TrackedTask(new Source(), { component: 'source', config });
  const [a = 0n, b = 0n] = await task.emitted(2);
  task.clock.advance(20);
  task.settle({ acks: [{ key: a }, { key: b }] });
  await task.turn();
  const histograms = await reported(task);
  assert.equal(histograms['__complete-latency/default'], '2 up to 23 ms');
  assert.match(histograms['__next-tuple-latency'] ?? '', /^\d+ up to 3 ms$/);
  task.running.stop();
});
