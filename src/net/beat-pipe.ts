import { Socket } from 'node:net';
import { BEAT_DESCRIPTOR, BEAT_VARIABLE } from '../base/beat.ts';
import { everyInBackground } from '../base/clock.ts';
import { isPipe } from '../base/pipe.ts';

const BEAT = new Uint8Array(1);

/**
 * Writes a byte to the process that started this one, now and every `periodMs` milliseconds, from
 * the event loop of the calling thread. Does nothing when that process does not listen. Keeps no
 * event loop alive, and waits for nobody: while a parent reads nothing it gets no further beats.
 */
export function startBeating(periodMs: number): void {
  const isWanted = process.env[BEAT_VARIABLE] === String(process.ppid) && isPipe(BEAT_DESCRIPTOR);
  if (!isWanted) return;
  const pipe = new Socket({ fd: BEAT_DESCRIPTOR, readable: false, writable: true });
  pipe.on('error', () => {}).unref(); // The parent is gone, which others notice and act upon.
  const beat = (): void => {
    if (!pipe.destroyed && pipe.writableLength === 0) pipe.write(BEAT);
  };
  beat();
  everyInBackground(periodMs, beat);
}
