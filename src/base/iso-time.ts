/**
 * A moment by the wall clock as text for people and for other programs: `2026-01-31T23:59:59.999Z`.
 */
export function isoTime(wallMs: number): string {
  return new Date(wallMs).toISOString();
}

/** The other direction, also for what other programs wrote; undefined when it is no moment. */
export function parseIsoTime(text: string): number | undefined {
  const wallMs = Date.parse(text);
  return Number.isNaN(wallMs) ? undefined : wallMs;
}
