/*
  The trace that a tuple belongs to, as it travels with the tuple: 16 bytes of the trace's id, 8 of
  the id of the span that emitted it. Only tuples of sampled traces have one, so nothing has to say
  whether it is; in W3C's text form that is the flag 01.
*/

/** Ids in lower-case hexadecimal, as W3C and OTLP write them. */
export interface TraceContext {
  /** 32 digits. */
  readonly traceId: string;
  /** 16 digits. */
  readonly spanId: string;
}

const TRACE_ID_BYTES = 16;
export const TRACE_BYTES = TRACE_ID_BYTES + 8;

export function encodeTrace({ traceId, spanId }: TraceContext): Uint8Array {
  return Buffer.from(traceId + spanId, 'hex');
}

/** Undefined for bytes that are no context, or one of a later version. */
export function decodeTrace(bytes: Uint8Array): TraceContext | undefined {
  if (bytes.length !== TRACE_BYTES) return undefined;
  const text = Buffer.from(bytes).toString('hex');
  return { traceId: text.slice(0, 2 * TRACE_ID_BYTES), spanId: text.slice(2 * TRACE_ID_BYTES) };
}
