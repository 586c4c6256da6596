import type { DeadLetterReason } from '../model/dead-letter.ts';

/** A dead letter that is to be processed after all: `heron dead-letters replay`. */
export interface LetterToReplay {
  readonly id: string;
  readonly stream: string;
  /**
   * In the order of the stream's fields, as they were emitted; undefined for a record that could
   * not be read, and where they were too large to be kept.
   */
  readonly values: readonly unknown[] | undefined;
  /** Where it is at the source, as JSON; undefined where the spout knows no positions. */
  readonly position: string | undefined;
  readonly messageId: string | undefined;
  /** How often it had been emitted. */
  readonly attempts: number;
  readonly reason: DeadLetterReason;
  /**
   * Takes it out of the dead letters: to be called when it has been processed, or has become a new
   * dead letter. Idempotent; resolves when the letter would be gone after a crash, too. A limited
   * number of letters is under way at a time: as long as one is neither removed nor kept, further
   * ones may have to wait for it.
   */
  remove(): Promise<void>;
  /** It cannot be emitted again and stays a dead letter. */
  keep(): void;
}
