import type { RetainedRoots } from './credits.ts';

/**
 * A tuple set that leaves this stream manager: the bytes of one HeronTupleSet2, with free room
 * around them in which a sink may write what its packet needs (`STREAM_MESSAGE_HEAD_MAX` before
 * them and `STREAM_MESSAGE_TAIL_MAX` behind them).
 *
 *     [ room | start … HeronTupleSet2 … end | room ]
 */
export interface OutgoingSet {
  readonly bytes: Uint8Array;
  readonly start: number;
  readonly end: number;
  readonly byteLength: number;
  readonly sourceTask: number;
  /** Data tuples in it; 0 in an end marker, which costs no credit. */
  readonly tupleCount: number;
  /**
   * The trees of its tuples; undefined when none of them is tracked. Until `compact` they may lie
   * in memory that the next set needs.
   */
  readonly roots: RetainedRoots | undefined;
  /** It has to wait: gives back memory that it does not need, or that is not its own. */
  compact(): void;
  /** It leaves its queue. */
  onSent(): void;
  /** Its bytes have left, or are lost with their connection: the memory is free again. */
  release(): void;
}
