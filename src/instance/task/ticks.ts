/*
  Moments as whole numbers: a field with an int32 costs a tuple no memory besides itself, a field
  with a fraction costs it another object.
*/

/** Fine enough for latencies, coarse enough that nine hours fit into 32 bits. */
const TICKS_PER_MS = 128;

/** A moment of the task's clock, in ticks. */
export function ticksAt(nowMs: number): number {
  // The remainder, as `|` takes it, is what counts: only differences are asked for.
  return (nowMs * TICKS_PER_MS) | 0;
}

/** Milliseconds from one moment to a later one, which is less than nine hours away. */
export function msBetween(fromTicks: number, toTicks: number): number {
  return ((toTicks - fromTicks) >>> 0) / TICKS_PER_MS;
}
