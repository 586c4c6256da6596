import type { TraceContext } from '../../../wire/trace-context.ts';

/*
  The header of W3C's Trace Context, level 1:

    traceparent => version "-" trace-id "-" parent-id "-" trace-flags
      version      two hexadecimal digits, not ff; later ones may have more behind the flags
      trace-id     32 digits, not all 0
      parent-id    16 digits, not all 0
      trace-flags  two digits; the lowest bit says that the trace is sampled
*/

const PATTERN = /^([0-9a-f]{2})-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})(-.*)?$/;
const SAMPLED = 1;

export interface OuterTrace extends TraceContext {
  readonly isSampled: boolean;
}

/** Undefined for what is no header: whoever reads it then begins anew, as W3C has it. */
export function parseTraceparent(text: string): OuterTrace | undefined {
  const [, version = '', traceId = '', spanId = '', flags = '', more] = PATTERN.exec(text) ?? [];
  if (version === '' || version === 'ff' || (version === '00' && more !== undefined)) {
    return undefined;
  }
  if (/^0+$/.test(traceId) || /^0+$/.test(spanId)) return undefined;
  return { traceId, spanId, isSampled: (Number.parseInt(flags, 16) & SAMPLED) === SAMPLED };
}

/** Of a trace that is sampled. */
export function traceparentText({ traceId, spanId }: TraceContext): string {
  return `00-${traceId}-${spanId}-01`;
}
