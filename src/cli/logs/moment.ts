import { parseIsoTime } from '../../base/iso-time.ts';

/** A moment as people write it: by the clock, or before now. */
export type Moment = { readonly atMs: number } | { readonly agoMs: number };

const UNITS_MS: Readonly<Record<string, number>> = {
  s: 1_000,
  m: 60_000,
  h: 3_600_000,
  d: 86_400_000,
};

/** `90s`, `10m`, `2h`, `1d`, or `2026-01-31T23:59:59.999Z`; undefined for anything else. */
export function parseMoment(text: string): Moment | undefined {
  const [, amount, unit = ''] = /^(\d{1,9})([smhd])$/.exec(text) ?? [];
  if (amount !== undefined) return { agoMs: Number(amount) * (UNITS_MS[unit] ?? 0) };
  // A bare number is no moment that anybody means, though dates are made of them.
  const atMs = /^\d{4}-/.test(text) ? parseIsoTime(text) : undefined;
  return atMs === undefined ? undefined : { atMs };
}

/** Milliseconds since the epoch. */
export function wallMsOf(moment: Moment, nowMs: number): number {
  return 'atMs' in moment ? moment.atMs : nowMs - moment.agoMs;
}
