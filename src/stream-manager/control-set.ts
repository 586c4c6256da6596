import { STREAM_MESSAGE_HEAD_MAX, STREAM_MESSAGE_TAIL_MAX } from '../wire/tuple-stream-message.ts';
import type { BatchPool } from './batch-pool.ts';
import type { OutgoingSet } from './outgoing-set.ts';

/** Acks, or other words about trees, on their way to the stream manager of a spout task. */
export class ControlSet implements OutgoingSet {
  readonly bytes: Uint8Array;
  readonly start = STREAM_MESSAGE_HEAD_MAX;
  end = STREAM_MESSAGE_HEAD_MAX;
  readonly sourceTask: number;
  readonly tupleCount = 0;
  readonly roots = undefined;
  readonly #pool: BatchPool;

  /** With room for `byteLengthMax` bytes from `start` on; whoever fills it sets `end`. */
  constructor(pool: BatchPool, sourceTask: number, byteLengthMax: number) {
    this.#pool = pool;
    this.sourceTask = sourceTask;
    this.bytes = pool.take(STREAM_MESSAGE_HEAD_MAX + byteLengthMax + STREAM_MESSAGE_TAIL_MAX);
  }

  get byteLength(): number {
    return this.end - this.start;
  }

  compact(): void {
    // It does not wait: it leaves at once, or is discarded.
  }

  onSent(): void {
    // No source waits for it.
  }

  release(): void {
    this.#pool.give(this.bytes);
  }
}
