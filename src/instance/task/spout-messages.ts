import type { FailReason } from '../../model/fail-reason.ts';

/**
 * What becomes of the messages of a spout, for the loop that runs it.
 *
 *     while (messages.hasNews && messages.next()) tell(messages.messageId, messages.reason);
 *
 * Q1. Every message that was emitted with an id comes exactly once, as acked or as failed, within
 *     one life of the process (ruling R14).
 */
export interface SpoutMessages {
  /** As many are under way as may be: `nextTuple` is not called until there are fewer. */
  readonly isFull: boolean;
  /** Emitted, and the spout has not been told of their fate. */
  readonly count: number;
  /** There may be something that `next` finds. Cheap: it is asked between any two calls. */
  readonly hasNews: boolean;

  /** Moves to the next settled message; false when there is none now. Throws PACKET_MALFORMED. */
  next(): boolean;

  // Of the message that `next` found.
  readonly messageId: unknown;
  /** Why it failed; undefined when it was acked. */
  readonly reason: FailReason | undefined;
  /** Since it was emitted. */
  readonly latencyMs: number;
}
