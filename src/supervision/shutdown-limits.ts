/*
  How long an orderly end may take at each level. Every level waits longer than the one below it
  needs at worst, so that force is always used by the one that knows most.
*/

/** A process gets the grace time itself; its supervisor waits a little longer before it kills. */
const MARGIN_MS = 1_000;

/** An executor stops its processes in this many stages. */
const STAGES = 3;

/** Removing nodes and files, and the kernel's time to clear killed processes away. */
const CLEAN_UP_MS = 15_000;

/** How long an executor waits for one of its processes. */
export function childLimitMs(graceMs: number): number {
  return graceMs + MARGIN_MS;
}

/** How long an executor may take, and how long a scheduler waits for it. */
export function executorLimitMs(graceMs: number): number {
  return STAGES * childLimitMs(graceMs) + MARGIN_MS;
}

/** How long a scheduler may take to end a topology, and how long a command waits for it. */
export function schedulerLimitMs(graceMs: number): number {
  return executorLimitMs(graceMs) + CLEAN_UP_MS;
}
