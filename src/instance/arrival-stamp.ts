/*
  When a set came to the gateway, in front of its payload in the task's ring:

    frame of the ring => header  stamp  payload
      stamp    a double, little-endian: milliseconds of the clock that both threads share
      payload  where the frame's `start` points; begins 8 bytes behind a multiple of 16

  Frames begin at multiples of 16 (byte-ring.ts), and so does a payload without a stamp.
*/

/** In front of the payload. */
export const STAMP_BYTES = 8;
const FRAME_ALIGNMENT = 16;

/** `at` is what was reserved for a stamp and its payload; returns where the payload begins. */
export function writeArrival(bytes: Buffer, at: number, arrivedAtMs: number): number {
  return bytes.writeDoubleLE(arrivedAtMs, at);
}

/** How long a set has waited; undefined where it has no stamp. `start` is that of its payload. */
export function waitedMs(bytes: Buffer, start: number, nowMs: number): number | undefined {
  if (start % FRAME_ALIGNMENT !== STAMP_BYTES) return undefined;
  return nowMs - bytes.readDoubleLE(start - STAMP_BYTES);
}
