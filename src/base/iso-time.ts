/** A moment by the wall clock as text for people and for other programs: `2026-01-31T23:59:59.999Z`. */
export function isoTime(wallMs: number): string {
  return new Date(wallMs).toISOString();
}
