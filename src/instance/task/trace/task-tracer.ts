import { AsyncLocalStorage } from 'node:async_hooks';
import type { Collector } from '../../../api/collector.ts';
import type { AnyTuple } from '../../../api/tuple.ts';
import { setTraceparent } from '../../../api/tuple-trace.ts';
import type { Clock } from '../../../base/clock.ts';
import { messageOf } from '../../../base/errors.ts';
import type { Random } from '../../../base/random.ts';
import type { FailReason } from '../../../model/fail-reason.ts';
import type { LogicalTopology } from '../../../model/logical-topology.ts';
import type { Settings } from '../../../model/settings.ts';
import { samplesTraces } from '../../../model/trace-sampling.ts';
import { encodeTrace, type TraceContext } from '../../../wire/trace-context.ts';
import type { TupleSetWriter } from '../../../wire/tuple-set-writer.ts';
import type { InstanceIdentity } from '../../instance-identity.ts';
import type { BoltCalls, SpoutCalls } from '../task-hooks.ts';
import { isPromise } from '../user-calls.ts';
import {
  type Attributes,
  newSpanId,
  newTraceId,
  Span,
  type SpanStart,
  wallOffsetMs,
} from './span.ts';
import { TracedSetWriter, type TraceSlot } from './traced-writer.ts';
import { parseTraceparent, traceparentText } from './traceparent.ts';

/*
  The spans of one task, where traces are sampled (`topology.trace.sample.ratio`).

      spout    emit ─────────────────────────────── ack      the root: until the message is settled
      bolt         └─ execute ── ack                         a child: while execute runs
      bolt               └─ execute
      bolt               └─ join ┈┈> the execute of another trace
                              └─ execute

  E1. A task of a topology without traces has none of this: nothing is wrapped, no class is another.
  E2. What is emitted inside `execute`, or with a traced anchor, is a child of that span. With
      anchors of several spans a span `join` continues the first one's trace and links the others.
  E3. An ack or fail is an event of the span that it settles; one that comes after the end of
      `execute` is a span of its own, without length, below it.
  E4. What is kept is bounded: OPEN_MAX messages of a spout; the span of one more ends with its
      emit. Contexts of tuples live as long as the tuples.
*/

/** Above what any spout has pending of a sampled part; a kilobyte each. */
const OPEN_MAX = 10_000;
const RATIO_STEPS = 2 ** 32;

export interface TaskTracerOptions {
  readonly identity: Pick<InstanceIdentity, 'component' | 'task' | 'instance'>;
  readonly ratio: number;
  readonly clock: Clock;
  readonly random: Random;
  /** Streams of the component by index. */
  readonly streams: readonly string[];
  /** Takes a finished span. */
  readonly onSpan: (span: string) => void;
}

/** Undefined where the topology samples no traces (E1). */
export function taskTracer(
  parts: Pick<TaskTracerOptions, 'identity' | 'clock' | 'random'>,
  topology: LogicalTopology,
  settings: Settings,
  onSpan: (span: string) => void,
): TaskTracer | undefined {
  if (!samplesTraces(topology)) return undefined;
  const { identity, clock, random } = parts;
  const ratio = settings.get('topology.trace.sample.ratio');
  const component = topology.components.find(({ name }) => name === identity.component);
  const streams = component?.outputs.map(({ stream }) => stream) ?? [];
  return new TaskTracer({ identity, clock, random, ratio, streams, onSpan });
}

export class TaskTracer {
  readonly #options: TaskTracerOptions;
  readonly #slot: TraceSlot = { bytes: undefined };
  /** Where a tuple came from, and later the span of its execution. */
  readonly #incoming = new WeakMap<AnyTuple, TraceContext>();
  readonly #executions = new WeakMap<AnyTuple, Span>();
  readonly #executing = new AsyncLocalStorage<Span>();
  /** Of a spout's messages, by message id; several where it uses one for several. */
  readonly #open = new Map<unknown, Span[]>();
  #openCount = 0;
  #outer: string | undefined;

  constructor(options: TaskTracerOptions) {
    this.#options = options;
  }

  readonly newWriter = (): TupleSetWriter => new TracedSetWriter(this.#slot);

  /** A tuple has come with a trace. */
  received(tuple: AnyTuple, context: TraceContext): void {
    this.#incoming.set(tuple, context);
  }

  inTrace<Result>(traceparent: string | undefined, call: () => Result): Result {
    const before = this.#outer;
    this.#outer = traceparent;
    try {
      return call();
    } finally {
      this.#outer = before;
    }
  }

  /** The collector as a component is to see it. */
  around(collector: Collector, isSpout: boolean): Collector {
    const emitting = (
      streamIndex: number,
      anchors: readonly AnyTuple[] | undefined,
      messageId: unknown,
      emit: () => void,
    ): void => {
      if (isSpout) this.#emitRoot(streamIndex, messageId, emit);
      else this.#emitChild(anchors, emit);
    };
    return {
      emit: (streamIndex, values, anchors, messageId) =>
        emitting(streamIndex, anchors, messageId, () =>
          collector.emit(streamIndex, values, anchors, messageId),
        ),
      emitDirect: (task, streamIndex, values, anchors, messageId) =>
        emitting(streamIndex, anchors, messageId, () =>
          collector.emitDirect(task, streamIndex, values, anchors, messageId),
        ),
      ack: (tuple) => {
        this.#settled(tuple, 'ack');
        collector.ack(tuple);
      },
      fail: (tuple, reason) => {
        this.#settled(tuple, 'fail', reason === undefined ? undefined : messageOf(reason));
        collector.fail(tuple, reason);
      },
      reportError: (error) => collector.reportError(error),
      endOfInput: () => collector.endOfInput(),
      get inputEnded() {
        return collector.inputEnded;
      },
      deadLetter: (message) => collector.deadLetter(message),
    };
  }

  aroundSpout(spout: SpoutCalls): SpoutCalls {
    return {
      nextTuple: () => spout.nextTuple(),
      activate: () => spout.activate(),
      deactivate: () => spout.deactivate(),
      ack: (messageId) => {
        this.#closeRoot(messageId, undefined);
        return spout.ack(messageId);
      },
      fail: (messageId, reason) => {
        this.#closeRoot(messageId, reason);
        return spout.fail(messageId, reason);
      },
      holdsMessages: () => spout.holdsMessages(),
      close: () => spout.close(),
    };
  }

  /** `acksItself`: a tuple is acked when its `execute` is over, and failed when that throws. */
  aroundBolt(bolt: BoltCalls, acksItself: boolean): BoltCalls {
    return {
      execute: (tuple) => {
        const from = this.#incoming.get(tuple);
        return from === undefined
          ? bolt.execute(tuple)
          : this.#execute(tuple, from, acksItself, () => bolt.execute(tuple));
      },
      finish: () => bolt.finish(),
      cleanup: () => bolt.cleanup(),
    };
  }

  #execute(
    tuple: AnyTuple,
    from: TraceContext,
    acksItself: boolean,
    call: () => void | Promise<void>,
  ): void | Promise<void> {
    const { sourceComponent, sourceStream } = tuple;
    const span = this.#begin('execute', 'consumer', from, {
      'heron.source.component': sourceComponent,
      'heron.stream': sourceStream,
      'heron.source.task': tuple.sourceTask,
    });
    this.#executions.set(tuple, span);
    setTraceparent(tuple, traceparentText(span.context));
    const onOver = (): void => {
      if (acksItself) span.addEvent('ack', this.#now);
      this.#end(span);
    };
    const onFailure = (error: unknown): never => {
      span.fail(messageOf(error));
      if (acksItself) span.addEvent('fail', this.#now, { 'heron.reason': 'thrown' });
      this.#end(span);
      throw error;
    };
    let returned: void | Promise<void>;
    try {
      returned = this.#executing.run(span, call);
    } catch (error) {
      return onFailure(error);
    }
    if (isPromise(returned)) return returned.then(onOver, onFailure);
    onOver();
  }

  /** E2 */
  #emitChild(anchors: readonly AnyTuple[] | undefined, emit: () => void): void {
    const spans = new Set<Span>();
    for (const anchor of anchors ?? []) {
      const span = this.#executions.get(anchor);
      if (span !== undefined) spans.add(span);
    }
    const current = this.#executing.getStore();
    if (spans.size === 0 && current !== undefined) spans.add(current);
    const [first, ...others] = spans;
    if (first === undefined) emit();
    else if (others.length === 0) this.#emitWith(first.context, emit);
    else {
      const links = others.map(({ context }) => context);
      const join = this.#begin('join', 'internal', first.context, {}, links);
      this.#emitWith(join.context, emit);
      this.#end(join);
    }
  }

  #emitRoot(streamIndex: number, messageId: unknown, emit: () => void): void {
    const outer = this.#outer === undefined ? undefined : parseTraceparent(this.#outer);
    const isSampled = outer === undefined ? this.#isChosen() : outer.isSampled;
    if (!isSampled) {
      emit();
      return;
    }
    const stream = this.#options.streams[streamIndex] ?? '';
    const span = this.#begin('emit', 'producer', outer, { 'heron.stream': stream });
    this.#emitWith(span.context, emit);
    if (messageId === undefined || this.#openCount >= OPEN_MAX) {
      this.#end(span);
      return;
    }
    const known = this.#open.get(messageId);
    if (known === undefined) this.#open.set(messageId, [span]);
    else known.push(span);
    this.#openCount += 1;
  }

  #emitWith(context: TraceContext, emit: () => void): void {
    this.#slot.bytes = encodeTrace(context);
    try {
      emit();
    } finally {
      this.#slot.bytes = undefined;
    }
  }

  /** The oldest message of that id is settled; undefined as the reason: acked. */
  #closeRoot(messageId: unknown, reason: FailReason | undefined): void {
    const spans = this.#open.get(messageId);
    const span = spans?.shift();
    if (spans === undefined || span === undefined) return;
    if (spans.length === 0) this.#open.delete(messageId);
    this.#openCount -= 1;
    if (reason === undefined) span.addEvent('ack', this.#now);
    else {
      span.fail(reason.error?.message ?? reason.kind);
      span.addEvent('fail', this.#now, { 'heron.reason': reason.kind });
    }
    this.#end(span);
  }

  /** E3 */
  #settled(tuple: AnyTuple, how: 'ack' | 'fail', message?: string): void {
    const span = this.#executions.get(tuple);
    if (span === undefined) return;
    const attributes = message === undefined ? {} : { 'heron.reason': message };
    if (!span.isOver) {
      span.addEvent(how, this.#now, attributes);
      if (how === 'fail') span.fail(message ?? 'failed');
      return;
    }
    this.#end(this.#begin(how, 'internal', span.context, attributes));
  }

  #begin(
    what: string,
    kind: SpanStart['kind'],
    parent: TraceContext | undefined,
    attributes: Attributes,
    links: readonly TraceContext[] = [],
  ): Span {
    const { identity, random } = this.#options;
    const { component, task, instance } = identity;
    const start = {
      name: `${what} ${component}`,
      kind,
      context: {
        traceId: parent?.traceId ?? newTraceId(random),
        spanId: newSpanId(random),
      },
      parentSpanId: parent?.spanId,
      attributes: {
        'heron.component': component,
        'heron.task': task,
        'heron.instance': instance,
        ...attributes,
      },
      links,
    };
    return new Span(start, this.#now);
  }

  #end(span: Span): void {
    const { clock, onSpan } = this.#options;
    onSpan(span.end(clock.now(), wallOffsetMs(clock)));
  }

  #isChosen(): boolean {
    const { ratio, random } = this.#options;
    return random.uint32() < ratio * RATIO_STEPS;
  }

  get #now(): number {
    return this.#options.clock.now();
  }
}
