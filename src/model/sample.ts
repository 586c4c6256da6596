/*
  A sample: the next tuples that one instance emits, as people and tools read them.
*/

export interface SampledTuple {
  readonly stream: string;
  /** In the declared order, as JSON says them; a value that is too large is cut, as text. */
  readonly values: readonly unknown[];
  /** The tasks that the emitting task has chosen; absent where stream managers choose. */
  readonly tasks?: readonly number[];
  /** What a spout named its message, as text; absent without. */
  readonly messageId?: string;
  /** The trees that the tuple belongs to, `<task of the spout>:<root, 16 hex digits>`. */
  readonly roots?: readonly string[];
  /** Milliseconds since the epoch. */
  readonly atMs: number;
}

export interface Sample {
  readonly tuples: readonly SampledTuple[];
  /** The fields of each stream of the instance, in the declared order. */
  readonly fields: Readonly<Record<string, readonly string[]>>;
}

export interface SampleWish {
  /** All streams of the instance unless set. */
  readonly stream?: string;
  readonly count: number;
  /** The sample ends after so many seconds, whether it is full or not. */
  readonly seconds: number;
}

/** A sample is for eyes, and crosses two pipes whole: 1,000 tuples of 1 KiB are a megabyte. */
export const SAMPLE_COUNT_MAX = 1_000;
/** Whoever asks holds a connection open meanwhile. */
export const SAMPLE_SECONDS_MAX = 300;
