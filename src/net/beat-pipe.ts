import { Socket } from 'node:net';
import { BEAT_DESCRIPTOR, BEAT_VARIABLE } from '../base/beat.ts';
import { everyInBackground } from '../base/clock.ts';
import { isPipe } from '../base/pipe.ts';

/*
  The way from a child to the process that started it: a zero byte is a beat, everything else is
  lines of text without zeros, which answer what was asked (parent-pipe.ts). Of one thread: the one
  that beats.
*/

const BEAT = new Uint8Array(1);

let pipe: Socket | undefined;

/**
 * Writes a byte to the process that started this one, now and every `periodMs` milliseconds, from
 * the event loop of the calling thread. Does nothing when that process does not listen. Keeps no
 * event loop alive, and waits for nobody: while a parent reads nothing it gets no further beats.
 */
export function startBeating(periodMs: number): void {
  const opened = openPipe();
  if (opened === undefined) return;
  const beat = (): void => {
    if (!opened.destroyed && opened.writableLength === 0) opened.write(BEAT);
  };
  beat();
  everyInBackground(periodMs, beat);
}

/** Writes a line to the process that started this one; lost where nobody listens. */
export function tellParent(line: string): void {
  const opened = openPipe();
  if (opened !== undefined && !opened.destroyed) opened.write(`${line}\n`);
}

/** Undefined where the process that started this one does not listen. */
function openPipe(): Socket | undefined {
  const isWanted = process.env[BEAT_VARIABLE] === String(process.ppid) && isPipe(BEAT_DESCRIPTOR);
  if (!isWanted) return undefined;
  if (pipe === undefined) {
    pipe = new Socket({ fd: BEAT_DESCRIPTOR, readable: false, writable: true });
    pipe.on('error', () => {}).unref(); // The parent is gone, which others notice and act upon.
  }
  return pipe;
}
