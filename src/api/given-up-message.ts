import type { DeadLetterReason } from '../model/dead-letter.ts';

/**
 * A message that a spout does not emit again, on its way to the dead letters of its task. The
 * values are encoded before the collector's `deadLetter` returns.
 */
export interface GivenUpMessage {
  /** The position of its stream in the declaration; undefined for a record that is no tuple. */
  readonly streamIndex: number | undefined;
  /** In the order of the stream's fields; a record that is no tuple is one value, its bytes. */
  readonly values: readonly unknown[];
  /** As text. */
  readonly messageId: string | undefined;
  /** As JSON. */
  readonly position: string | undefined;
  /** How often it has been emitted. */
  readonly attempts: number;
  readonly reason: DeadLetterReason;
  /** The spout has emitted the letter to a stream of its own: it is counted, and not kept. */
  readonly isEmitted: boolean;
}
