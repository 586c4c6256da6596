import { fields } from './streams.ts';

/** A stream of this name of a `ReplayableSpout` gets its dead letters, in place of their file. */
export const DEAD_LETTER_STREAM = 'dead-letters';

/** A tuple of the stream of dead letters. */
export interface DeadLetterTuple {
  readonly id: string;
  /** When it was given up: milliseconds since the epoch by the wall clock. */
  readonly atMs: number;
  /** The stream that the message was for. */
  readonly stream: string;
  /**
   * As they were emitted, an object by field name or an array in the declared order; of a record
   * that could not be read, its bytes.
   */
  readonly values: unknown;
  /** Where it is at the source, as JSON. */
  readonly position: string;
  /** How often it was emitted. */
  readonly attempts: number;
  /** As in `FailReason`, or `unreadable` for a record that could not be made a tuple. */
  readonly kind: string;
  /** Where it failed last; null where nobody could say. */
  readonly component: string | null;
  readonly task: number | null;
  readonly message: string | null;
  readonly stack: string | null;
}

/**
 * The fields of the stream of dead letters. The topology sees to its own letters where a bolt reads
 * the stream.
 *
 * @example
 * ```ts
 * class Orders extends ReplayableSpout.of({
 *   default: ['order'],
 *   [DEAD_LETTER_STREAM]: deadLetterFields,
 * }) {}
 * ```
 */
export const deadLetterFields = fields<DeadLetterTuple>()(
  'id',
  'atMs',
  'stream',
  'values',
  'position',
  'attempts',
  'kind',
  'component',
  'task',
  'message',
  'stack',
);
