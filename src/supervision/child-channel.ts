import type { Readable, Writable } from 'node:stream';
import { LineSplitter } from '../base/line-splitter.ts';
import type { LineChannel } from './process-handle.ts';

/*
  A parent's end of the two pipes that join it with a child: lines go out on the child's standard
  input, whose end also tells it that its parent is gone; beats and lines come in on a pipe of their
  own (net/beat-pipe.ts draws it).
*/

/** An answer may hold a sample of tuples (inspection/requests.ts). */
const LINE_BYTES_MAX = 8 * 1024 * 1024;
/** A child that reads nothing is told nothing more. */
const UNREAD_BYTES_MAX = 64 * 1024;

const BEAT = 0;

export interface ChildPipes {
  /** The child's standard input. */
  readonly toChild: Writable;
  readonly fromChild: Readable;
  /** Gets the beats of each chunk. */
  readonly onBeats: (count: number) => void;
}

export function openChildChannel({ toChild, fromChild, onBeats }: ChildPipes): LineChannel {
  let onLine: ((line: string) => void) | undefined;
  const splitter = new LineSplitter(LINE_BYTES_MAX, (line) => onLine?.(line));
  fromChild.on('data', (chunk: Buffer) => {
    // Nearly always a single beat.
    const beats = chunk.reduce((count, byte) => count + (byte === BEAT ? 1 : 0), 0);
    if (beats > 0) onBeats(beats);
    if (beats < chunk.length) splitter.add(chunk.filter((byte) => byte !== BEAT) as Buffer);
  });
  fromChild.on('error', () => {}); // The child closed its end; silence is what follows.
  return {
    send(line) {
      const isOpen = toChild.writable && toChild.writableLength < UNREAD_BYTES_MAX;
      if (isOpen) toChild.write(`${line}\n`);
      return isOpen;
    },
    listen(listener) {
      onLine = listener;
    },
  };
}
