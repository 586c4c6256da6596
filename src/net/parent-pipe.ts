import { Socket } from 'node:net';
import type { Readable } from 'node:stream';
import { isPipe } from '../base/pipe.ts';
import { LineSplitter } from '../base/line-splitter.ts';

/*
  The way from the process that started this one: its end says that that process is gone, and lines
  of text on it are questions (inspection/requests.ts), which beat-pipe.ts answers.
*/

/** A question is a few hundred bytes. */
const LINE_BYTES_MAX = 64 * 1024;

let input: Socket | undefined;

/**
 * Calls once when the process that started this one is gone: it holds the other end of our standard
 * input, which ends with it. Works in worker threads too, where `process.stdin` is only an echo of
 * the main thread's. Does nothing when standard input is no pipe. Keeps no event loop alive.
 */
export function watchParent(onGone: () => void): void {
  const opened = parentInput();
  if (opened === undefined) return;
  let isGone = false;
  const gone = (): void => {
    if (isGone) return;
    isGone = true;
    onGone();
  };
  opened.on('end', gone).on('close', gone).on('error', gone).resume().unref();
}

/** This thread's own reader of standard input; undefined when that is no pipe. */
export function parentInput(): Socket | undefined {
  if (!isPipe(0)) return undefined;
  input ??= new Socket({ fd: 0, readable: true, writable: false });
  return input;
}

/** Calls for each line that comes; those that are too long are passed over. */
export function readLines(from: Readable, onLine: (line: string) => void): void {
  const splitter = new LineSplitter(LINE_BYTES_MAX, onLine);
  from.on('data', (chunk: Buffer) => splitter.add(chunk));
}
