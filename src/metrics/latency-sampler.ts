/** One tuple is timed in about so long: two readings of the clock cost 0.2 % of it. */
const SAMPLE_EVERY_MS = 0.05;
/** Of quick steps one in so many is timed, on average. */
const STEPS_MAX = 1024;
/** With sampling off the count starts again here: a number that stays small is quick to count. */
const NEVER = 2 ** 30;

/**
 * Chooses the steps of a hot loop that are timed, so that reading the clock costs little however
 * quick the steps are, and times every step when they are slow.
 *
 *     steps   . . . . x . . x . . . . . x        x = timed
 *             └── 5 ──┘└─3─┘└─── 6 ───┘          each stands for those before it and itself
 *
 * L1. How many steps lie between two that are timed is random, around a mean that follows their
 *     speed; so that no pattern in the data meets one of the samples.
 * L2. A timed step counts as many times as it stands for: the histogram's count is that of all
 *     steps, those after the last timed one excepted, and histograms of slow and quick tasks add up
 *     in the right proportion.
 * L3. Of k samples, the share of steps that a percentile p really has below it is off by about
 *     √(p (1 − p) / k): with the 100,000 and more of a busy minute, p99 is one between p98.97 and
 *     p99.03. The largest is the largest of those that were timed.
 */
export class LatencySampler {
  #left: number;
  /** Steps from one timed step to the next, that one included. */
  #gap: number;
  #meanGap = 1;
  #lastAtMs = 0;
  /** State of a xorshift generator, never 0. */
  #random: number;
  readonly #isOn: boolean;

  /** `seed` is any int32, best another one for each task; without `isOn` no step is ever due. */
  constructor(seed: number, isOn = true) {
    this.#random = seed | 0 || 1;
    this.#isOn = isOn;
    this.#gap = isOn ? 1 : NEVER;
    this.#left = this.#gap;
  }

  /** Counts one step; true when it is to be timed. Hot. */
  isDue(): boolean {
    this.#left -= 1;
    return this.#left === 0 && this.#arm();
  }

  /** How many steps the one that was due stands for (L2). */
  get weight(): number {
    return this.#gap;
  }

  /** To be called once for each step that was due, when it is over and has been recorded. */
  done(nowMs: number): void {
    const stepMs = (nowMs - this.#lastAtMs) / this.#gap;
    const wanted = SAMPLE_EVERY_MS / Math.max(stepMs, Number.MIN_VALUE);
    const mean = this.#meanGap;
    // By no more than half or twice: one slow step is no reason to time all that follow, nor is a
    // moment at which many settled to time none.
    this.#meanGap = Math.min(Math.max(wanted, mean / 2, 1), mean * 2, STEPS_MAX);
    this.#lastAtMs = nowMs;
    this.#gap = this.#nextGap();
    this.#left = this.#gap;
  }

  /** With sampling off it comes here once in a long time, and goes on as before. */
  #arm(): boolean {
    if (!this.#isOn) this.#left = NEVER;
    return this.#isOn;
  }

  /** L1: from 1 to twice the mean less one, each as likely. */
  #nextGap(): number {
    let bits = this.#random;
    bits ^= bits << 13;
    bits ^= bits >>> 17;
    bits ^= bits << 5;
    this.#random = bits;
    const most = 2 * Math.round(this.#meanGap) - 1;
    return 1 + ((bits >>> 0) % most);
  }
}
