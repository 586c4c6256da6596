import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { BasicBolt } from '../../../../../src/api/basic-bolt.ts';
import { Bolt } from '../../../../../src/api/bolt.ts';
import { Spout } from '../../../../../src/api/spout.ts';
import type { TopologyContext } from '../../../../../src/api/topology-context.ts';
import type { AnyTuple, Tuple } from '../../../../../src/api/tuple.ts';
import { decodeMetricsFrame } from '../../../../../src/instance/metrics-frame.ts';
import type { TaskInTest } from '../../../../support/task-in-test.ts';
import { TrackedTask } from '../../../../support/tracked-task.ts';
import { readTupleSet } from '../../../../support/tuple-sets.ts';
import { tracedSet } from '../../../../support/traced-sets.ts';

const config = { 'topology.trace.sample.ratio': '1' };
const CONTEXT = { traceId: 'a'.repeat(32), spanId: 'b'.repeat(16) };
const OTHER = { traceId: 'c'.repeat(32), spanId: 'd'.repeat(16) };

interface SpanInTest {
  readonly traceId: string;
  readonly spanId: string;
  readonly parentSpanId?: string;
  readonly name: string;
  readonly startTimeUnixNano: string;
  readonly endTimeUnixNano: string;
  readonly events?: readonly { readonly name: string }[];
  readonly links?: readonly { readonly traceId: string; readonly spanId: string }[];
  readonly status?: { readonly code: number; readonly message: string };
}

/** The spans that the task hands on next. */
async function spansOf(task: TaskInTest): Promise<SpanInTest[]> {
  task.clock.advance(1_000);
  await task.turn();
  const spans: SpanInTest[] = [];
  const ring = task.gateway.metricsOut;
  while (ring.next()) {
    const frame = decodeMetricsFrame(ring.bytes.subarray(ring.start, ring.end));
    for (const span of frame.spans) spans.push(JSON.parse(span) as SpanInTest);
    ring.release();
  }
  return spans;
}

/** The traces of the tuples that the task has emitted, in hexadecimal; empty without one. */
function emittedTraces(task: TaskInTest): string[] {
  const traces: string[] = [];
  const ring = task.gateway.dataOut;
  while (ring.next()) {
    const { data } = readTupleSet(ring.bytes.subarray(ring.start, ring.end));
    for (const { trace } of data?.tuples ?? []) traces.push(Buffer.from(trace).toString('hex'));
    ring.release();
  }
  return traces;
}

class Source extends Spout.of({ default: ['word'] }) {
  waiting: (string | undefined)[] = [];
  context: TopologyContext | undefined;
  outer: string | undefined;

  override open(context: TopologyContext): void {
    this.context = context;
  }
  override nextTuple(): void {
    const id = this.waiting.shift();
    if (id === undefined) return;
    this.context?.inTrace(this.outer, () => this.emit([id], id));
  }
}

describe('the traces of a spout', () => {
  it('begin with a span that lasts until the message is settled', async () => {
    const spout = new Source();
    spout.waiting = ['a', 'b'];
    const task = new TrackedTask(spout, { component: 'source', config });
    const [a = 0n, b = 0n] = await task.emitted(2);
    assert.deepEqual(await spansOf(task), []);
    task.settle({ acks: [{ key: a }], fails: [{ key: b, reason: { kind: 'dropped' } }] });
    await task.turn();
    const [acked, failed] = await spansOf(task);
    assert.equal(acked?.name, 'emit source');
    assert.equal(acked?.parentSpanId, undefined);
    assert.deepEqual(
      acked?.events?.map(({ name }) => name),
      ['ack'],
    );
    assert.equal(
      BigInt(acked?.endTimeUnixNano ?? 0) - BigInt(acked?.startTimeUnixNano ?? 0),
      10n ** 9n,
    );
    assert.deepEqual(
      failed?.events?.map(({ name }) => name),
      ['fail'],
    );
    assert.deepEqual(failed?.status, { code: 2, message: 'dropped' });
    assert.notEqual(acked?.traceId, failed?.traceId);
    task.running.stop();
  });

  it('continue one that comes from outside, as it is sampled there', async () => {
    for (const [flags, expected] of [
      ['01', 1],
      ['00', 0],
    ] as const) {
      const spout = new Source();
      spout.outer = `00-${CONTEXT.traceId}-${CONTEXT.spanId}-${flags}`;
      spout.waiting = ['a'];
      const task = new TrackedTask(spout, { component: 'source', config });
      const [a = 0n] = await task.emitted(1);
      task.settle({ acks: [{ key: a }] });
      await task.turn();
      const spans = await spansOf(task);
      assert.equal(spans.length, expected);
      for (const { traceId, parentSpanId } of spans) {
        assert.deepEqual({ traceId, spanId: parentSpanId }, CONTEXT);
      }
      task.running.stop();
    }
  });

  it('are not begun, nor anything else changed, with a ratio of 0', async () => {
    const spout = new Source();
    spout.outer = `00-${CONTEXT.traceId}-${CONTEXT.spanId}-01`;
    spout.waiting = ['a'];
    const task = new TrackedTask(spout, { component: 'source' });
    void task.start();
    await task.turn();
    assert.deepEqual(emittedTraces(task), ['']);
    assert.deepEqual(await spansOf(task), []);
    task.running.stop();
  });
});

class Holder extends Bolt.of({ default: ['word'], unread: ['word'] }) {
  readonly received: AnyTuple[] = [];

  override execute(tuple: AnyTuple): void {
    this.received.push(tuple);
  }
}

describe('the traces of a bolt', () => {
  async function aTask(bolt: BasicBolt | Bolt): Promise<TrackedTask> {
    const task = new TrackedTask(bolt, { config });
    void task.start();
    await task.turn();
    return task;
  }

  it('go on with an execute, and with what that emits', async () => {
    class Copy extends BasicBolt.of({ default: ['word'], unread: ['word'] }) {
      readonly seen: (string | undefined)[] = [];

      override async execute(tuple: Tuple<{ word: string }>): Promise<void> {
        this.seen.push(tuple.traceparent);
        await Promise.resolve();
        this.emit({ word: tuple.get('word') });
      }
    }
    const bolt = new Copy();
    const task = await aTask(bolt);
    tracedSet(task, [
      ['a', CONTEXT],
      ['b', undefined],
    ]);
    await task.turn();
    const traces = emittedTraces(task);
    const [span, ...others] = await spansOf(task);
    assert.deepEqual(others, []);
    assert.equal(span?.name, 'execute middle');
    assert.equal(span?.traceId, CONTEXT.traceId);
    assert.equal(span?.parentSpanId, CONTEXT.spanId);
    assert.deepEqual(
      span?.events?.map(({ name }) => name),
      ['ack'],
    );
    assert.deepEqual(traces, [`${CONTEXT.traceId}${span?.spanId}`, '']);
    assert.deepEqual(bolt.seen, [`00-${CONTEXT.traceId}-${span?.spanId}-01`, undefined]);
    task.running.stop();
  });

  it('say what was thrown', async () => {
    class Frail extends BasicBolt.of({ default: ['word'], unread: ['word'] }) {
      override execute(): void {
        throw new Error('no number');
      }
    }
    const task = await aTask(new Frail());
    tracedSet(task, [['a', CONTEXT]]);
    await task.turn();
    const [span] = await spansOf(task);
    assert.deepEqual(span?.status, { code: 2, message: 'no number' });
    assert.deepEqual(
      span?.events?.map(({ name }) => name),
      ['fail'],
    );
    task.running.stop();
  });

  it('join: a tuple with several anchors goes on with the first and links the others', async () => {
    const bolt = new Holder();
    const task = await aTask(bolt);
    tracedSet(task, [
      ['a', CONTEXT],
      ['b', OTHER],
    ]);
    await task.turn();
    bolt.emit(['ab'], bolt.received);
    for (const tuple of bolt.received) bolt.ack(tuple);
    await task.turn();
    const spans = await spansOf(task);
    const [first, second] = spans.filter(({ name }) => name === 'execute middle');
    const join = spans.find(({ name }) => name === 'join middle');
    assert.equal(join?.traceId, CONTEXT.traceId);
    assert.equal(join?.parentSpanId, first?.spanId);
    assert.deepEqual(join?.links, [{ traceId: OTHER.traceId, spanId: second?.spanId }]);
    const acks = spans.filter(({ name }) => name === 'ack middle');
    assert.deepEqual(
      acks.map(({ parentSpanId }) => parentSpanId),
      [first?.spanId, second?.spanId],
      'after the end of execute',
    );
    assert.deepEqual(emittedTraces(task), [`${CONTEXT.traceId}${join?.spanId}`]);
    task.running.stop();
  });
});
