import type { Clock } from '../../../base/clock.ts';
import { type Random, randomHex } from '../../../base/random.ts';
import type { TraceContext } from '../../../wire/trace-context.ts';

/* Spans in the JSON form of OTLP: 64-bit numbers as text, enums as numbers. */

/** SPAN_KIND_INTERNAL, _PRODUCER and _CONSUMER. */
export const SPAN_KINDS = { internal: 1, producer: 4, consumer: 5 } as const;
export type SpanKind = keyof typeof SPAN_KINDS;

/** STATUS_CODE_ERROR. */
const ERROR = 2;
const SPAN_ID_BYTES = 8;
const TRACE_ID_BYTES = 16;
const US_PER_MS = 1_000;
const NS_PER_US = 1_000n;

export type Attributes = Readonly<Record<string, string | number>>;

interface SpanEvent {
  readonly name: string;
  readonly atMs: number;
  readonly attributes: Attributes;
}

export interface SpanStart {
  readonly name: string;
  readonly kind: SpanKind;
  readonly context: TraceContext;
  readonly parentSpanId: string | undefined;
  readonly attributes: Attributes;
  readonly links?: readonly TraceContext[];
}

/** A span that has begun. */
export class Span {
  readonly context: TraceContext;
  isOver = false;
  readonly #start: SpanStart;
  readonly #startMs: number;
  readonly #events: SpanEvent[] = [];
  #error: string | undefined;

  /** `startMs` is a moment of the clock, as are those of events and of the end. */
  constructor(start: SpanStart, startMs: number) {
    this.context = start.context;
    this.#start = start;
    this.#startMs = startMs;
  }

  addEvent(name: string, atMs: number, attributes: Attributes = {}): void {
    this.#events.push({ name, atMs, attributes });
  }

  fail(message: string): void {
    this.#error = message;
  }

  /** Ends it; `offsetMs` makes moments of the clock moments of the day (`wallOffsetMs`). */
  end(endMs: number, offsetMs: number): string {
    this.isOver = true;
    const { name, kind, context, parentSpanId, attributes, links = [] } = this.#start;
    const timeOf = (ms: number): string => nanoseconds(ms + offsetMs);
    return JSON.stringify({
      traceId: context.traceId,
      spanId: context.spanId,
      ...(parentSpanId !== undefined && { parentSpanId }),
      name,
      kind: SPAN_KINDS[kind],
      startTimeUnixNano: timeOf(this.#startMs),
      endTimeUnixNano: timeOf(endMs),
      attributes: attributesOf(attributes),
      ...(this.#events.length > 0 && {
        events: this.#events.map((event) => ({
          name: event.name,
          timeUnixNano: timeOf(event.atMs),
          attributes: attributesOf(event.attributes),
        })),
      }),
      ...(links.length > 0 && {
        links: links.map(({ traceId, spanId }) => ({ traceId, spanId })),
      }),
      ...(this.#error !== undefined && { status: { code: ERROR, message: this.#error } }),
    });
  }
}

export function newTraceId(random: Random): string {
  return randomHex(random, TRACE_ID_BYTES);
}

export function newSpanId(random: Random): string {
  return randomHex(random, SPAN_ID_BYTES);
}

export function wallOffsetMs(clock: Clock): number {
  return clock.wallNow() - clock.now();
}

function nanoseconds(ms: number): string {
  return String(BigInt(Math.round(ms * US_PER_MS)) * NS_PER_US);
}

function attributesOf(attributes: Attributes) {
  return Object.entries(attributes).map(([key, value]) => ({
    key,
    value: typeof value === 'number' ? { intValue: String(value) } : { stringValue: value },
  }));
}
