import type { DeadLetterReason } from '../model/dead-letter.ts';
import { asText } from './as-text.ts';
import type { Place } from './commit-line.ts';
import type { LetterToReplay } from './letter-to-replay.ts';

/**
 * The message id of what a `ReplayableSpout` emits: hooks and tests see it. Only the spout makes
 * and changes them.
 */
export class ReplayedMessage<Position = unknown> implements Place<Position> {
  readonly position: Position;
  /** How often it has been emitted. */
  attempts = 0;
  /** For the spout: how many of these were lost with a process, and do not count as retries. */
  losses = 0;
  /** It has been processed, is a dead letter, or is lost at the source. */
  isSettled = false;
  /** For the spout: its stream, undefined for the default one. */
  stream: string | undefined;
  /** For the spout: undefined where the source reads it again when it is needed. */
  values: unknown;
  /** For the spout: why it failed last. */
  reason: DeadLetterReason | undefined;
  /** For the spout: `values` are the bytes of a record that is no tuple. */
  isUnreadable = false;
  /** For the spout: it is not to be emitted any more. */
  isGivenUp = false;
  /** For the spout: how often its dead letter has been emitted, where letters are a stream. */
  letterAttempts = 0;
  /** For the spout: the dead letter that it was; such a message is not in the commit line. */
  readonly letter: LetterToReplay | undefined;

  constructor(
    position: Position,
    stream: string | undefined,
    values: unknown,
    letter?: LetterToReplay,
  ) {
    this.position = position;
    this.stream = stream;
    this.values = values;
    this.letter = letter;
  }

  /** The position as JSON. */
  toString(): string {
    return asText(this.position);
  }
}
