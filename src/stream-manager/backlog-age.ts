/** A sample is taken eight times while an age passes; twice as many hold twice that age. */
const SAMPLES_MAX = 16;

/**
 * How long the oldest bytes of a queue have been waiting, without a stamp for each of them. The
 * queue counts what it has accepted and what has been taken from it, since the beginning; a sample
 * notes the first of the two from time to time:
 *
 *     accepted:   100        340     340+
 *     samples:  [ 1 s ]    [ 2 s ]    now = 2.4 s        taken so far: 120
 *                            ^ the oldest sample above 120: byte 121 has been there since 2 s
 *
 * A1. What is told is at most the true age, and less than it by no more than one interval between
 *     samples: a queue is never called older than it is.
 * A2. Room for samples is fixed. When it is full the newest sample moves on, so that only bytes
 *     behind the oldest may look younger.
 */
export class BacklogAge {
  readonly #atMs = new Float64Array(SAMPLES_MAX);
  readonly #accepted = new Float64Array(SAMPLES_MAX);
  #count = 0;

  /** Notes how much has been accepted up to now. */
  sample(nowMs: number, acceptedBytes: number, takenBytes: number): void {
    this.#forgetTaken(takenBytes);
    const newest = this.#count - 1;
    if (newest >= 0 && this.#accepted[newest] === acceptedBytes) return;
    const at = this.#count === SAMPLES_MAX ? newest : this.#count; // A2
    this.#atMs[at] = nowMs;
    this.#accepted[at] = acceptedBytes;
    this.#count = at + 1;
  }

  /** Age of the oldest bytes that have not been taken, in milliseconds; 0 when nothing waits. */
  ageMs(nowMs: number, takenBytes: number): number {
    this.#forgetTaken(takenBytes);
    return this.#count === 0 ? 0 : nowMs - (this.#atMs[0] as number);
  }

  #forgetTaken(takenBytes: number): void {
    let gone = 0;
    while (gone < this.#count && (this.#accepted[gone] as number) <= takenBytes) gone += 1;
    if (gone === 0) return;
    this.#atMs.copyWithin(0, gone, this.#count);
    this.#accepted.copyWithin(0, gone, this.#count);
    this.#count -= gone;
  }
}
