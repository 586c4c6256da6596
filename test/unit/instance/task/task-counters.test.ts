import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { BasicBolt } from '../../../../src/api/basic-bolt.ts';
import { Bolt } from '../../../../src/api/bolt.ts';
import { Spout } from '../../../../src/api/spout.ts';
import type { TaskHook } from '../../../../src/api/topology-context.ts';
import type { AnyTuple } from '../../../../src/api/tuple.ts';
import { decodeMetricsFrame } from '../../../../src/instance/metrics-frame.ts';
import { aTracked, TrackedTask } from '../../../support/tracked-task.ts';

const REPORT_MS = 1_000;
const config = { 'heron.metrics.export.interval.ms': String(2 * REPORT_MS) };

class Source extends Spout.of({ default: ['word'] }) {
  waiting: string[] = [];

  override nextTuple(): void {
    const id = this.waiting.shift();
    if (id !== undefined) this.emit([`w${id}`], id);
  }
  override ack(): void | Promise<void> {}
  override fail(): void | Promise<void> {}
}

class Holder extends Bolt.of({ default: ['word'], unread: ['word'] }) {
  readonly received: AnyTuple[] = [];

  override execute(tuple: AnyTuple): void {
    this.received.push(tuple);
  }
}

/** What the task reports next, by name: counts, sums of means as `sum/count`, and values. */
async function reported(task: TrackedTask): Promise<ReadonlyMap<string, number | string>> {
  task.clock.advance(REPORT_MS);
  await task.turn();
  const metrics = new Map<string, number | string>();
  const ring = task.gateway.metricsOut;
  while (ring.next()) {
    const { bytes, start, end } = ring;
    const { counters, means, values } = decodeMetricsFrame(bytes.subarray(start, end));
    for (const [name, value] of [...counters, ...values]) metrics.set(name, value);
    for (const [name, sum, count] of means) metrics.set(name, `${sum}/${count}`);
    ring.release();
  }
  return metrics;
}

function some(metrics: ReadonlyMap<string, number | string>, pattern: RegExp): object {
  return Object.fromEntries([...metrics].filter(([name]) => pattern.test(name)));
}

describe('the metrics of a spout under at least once', () => {
  it('count by stream and reason, with latencies in nanoseconds', async () => {
    const spout = new Source();
    spout.waiting = ['a', 'b', 'c', 'd', 'e'];
    const task = new TrackedTask(spout, { component: 'source', config });
    const [a = 0n, b = 0n, c = 0n, d = 0n] = await task.emitted(5);
    task.clock.advance(50);
    task.settle({
      acks: [{ key: a }, { key: a }, { key: 99n }],
      fails: [
        { key: b, reason: { kind: 'thrown' } },
        { key: c, reason: { kind: 'dropped' } },
        { key: d, reason: { kind: 'dropped' } },
      ],
    });
    await task.turn();
    assert.deepEqual(some(await reported(task), /ack|fail|complete|timeout|settled/), {
      '__ack-count/default': 1,
      '__fail-count/default': 3,
      '__fail-reason/thrown': 1,
      '__fail-reason/dropped': 2,
      '__settled-unknown-count': 2,
      '__complete-latency/default': '50000000/1',
      '__fail-latency/default': '150000000/3',
      '__pending-acked-count': 1,
    });
    task.running.stop();
  });

  it('count what times out at a stream manager that forgets', async () => {
    const spout = new Source();
    spout.waiting = ['a'];
    const task = new TrackedTask(spout, {
      component: 'source',
      config: { ...config, 'topology.message.timeout.secs': '1' },
    });
    task.gateway.status.setForgetsTimeOuts(true);
    await task.emitted(1);
    task.clock.advance(1_100);
    await task.turn();
    assert.deepEqual(some(await reported(task), /timeout|reason/), {
      '__timeout-count/default': 1,
      '__fail-reason/time-out': 1,
    });
    task.running.stop();
  });

  it('tell for how long back pressure holds it, also while it still does', async () => {
    const spout = new Source();
    spout.waiting = ['a'];
    const task = new TrackedTask(spout, { component: 'source', config });
    await task.emitted(1);
    task.setHeld(true);
    await task.turn();
    assert.deepEqual(some(await reported(task), /held/), {
      '__time-held-by-back-pressure-ms': REPORT_MS,
    });
    task.clock.advance(300);
    task.setHeld(false);
    await task.turn();
    assert.deepEqual(some(await reported(task), /held/), {
      '__time-held-by-back-pressure-ms': 300,
    });
    task.running.stop();
  });
});

describe('the metrics of a bolt under at least once', () => {
  it('count by component and stream, and what has been settled twice or too late', async () => {
    const bolt = new Holder();
    const task = new TrackedTask(bolt, { config });
    void task.start();
    await task.turn();
    task.feed({ tuples: [1n, 2n, 3n].map((key) => aTracked('a', key, key)) });
    await task.turn();
    task.clock.advance(40);
    bolt.received.slice(0, 2).forEach((tuple) => bolt.ack(tuple));
    bolt.received.slice(0, 1).forEach((tuple) => bolt.ack(tuple));
    bolt.received.slice(2).forEach((tuple) => bolt.fail(tuple));
    task.feed({ tuples: [aTracked('a', 4n, 4n)] });
    task.reconnect();
    await task.turn();
    bolt.received.slice(3).forEach((tuple) => bolt.ack(tuple));
    const pattern = /ack|fail|process/;
    assert.deepEqual(some(await reported(task), pattern), {
      '__ack-count/source/default': 3,
      '__fail-count/source/default': 1,
      '__fail-reason/explicit': 1,
      '__double-ack-count': 1,
      '__stale-ack-count': 1,
      '__process-latency/source/default': '80000000/3',
      '__fail-latency/source/default': '40000000/1',
    });
    task.running.stop();
  });

  for (const concurrency of ['1', '4']) {
    it(`of a BasicBolt count what it acks by itself, ${concurrency} at once`, async () => {
      class Slow extends BasicBolt.of({ default: ['word'], unread: ['word'] }) {
        override execute(tuple: AnyTuple): void {
          task.clock.advance(5);
          if (tuple.values[0] === 'bad') throw new Error('no number');
        }
      }
      const task: TrackedTask = new TrackedTask(new Slow(), {
        config: { ...config, 'topology.bolt.concurrency': concurrency },
      });
      void task.start();
      await task.turn();
      task.feed({ tuples: [aTracked('good', 1n, 1n), aTracked('bad', 2n, 2n)] });
      await task.turn();
      assert.deepEqual(some(await reported(task), /ack|fail-|process|execute/), {
        '__ack-count/source/default': 1,
        '__fail-count/source/default': 1,
        '__fail-reason/thrown': 1,
        '__execute-count/source/default': 2,
        '__execute-latency/source/default': '10000000/2',
        '__execute-time-ns/source/default': 10_000_000,
        '__process-latency/source/default': '10000000/2',
        '__fail-latency/source/default': '10000000/1',
      });
      task.running.stop();
    });
  }
});

describe('the hooks of a spout under at least once', () => {
  it('hear of acks and fails when they are over, with latency and reason', async () => {
    const heard: string[] = [];
    const hook: TaskHook = {
      spoutAck: ({ messageId, completeLatencyMs }) =>
        void heard.push(`ack ${String(messageId)} ${completeLatencyMs}`),
      spoutFail: ({ messageId, reason, failLatencyMs, task }) =>
        void heard.push(`fail ${String(messageId)} ${reason.kind} ${failLatencyMs} ${task}`),
    };
    const spout = new Source();
    const gate = Promise.withResolvers<void>();
    spout.fail = () => gate.promise;
    spout.waiting = ['a', 'b'];
    const task = new TrackedTask(spout, { component: 'source', taskHooks: [() => hook] });
    const [a = 0n, b = 0n] = await task.emitted(2);
    task.clock.advance(20);
    task.settle({ acks: [{ key: a }], fails: [{ key: b, reason: { kind: 'dropped' } }] });
    await task.turn();
    assert.deepEqual(heard, ['ack a 20'], 'the other promise is pending');
    gate.resolve();
    await task.turn();
    assert.deepEqual(heard, ['ack a 20', 'fail b dropped 20 1']);
    task.running.stop();
  });
});
