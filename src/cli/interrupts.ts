/*
  What a signal asks of a command. One Ctrl-C may arrive more than once: from the terminal, which
  tells the whole group of processes, and again from npx or our own launcher, which pass it on.
*/

/** Nobody means a second Ctrl-C by what comes so soon after the first. */
const SAME_CTRL_C_MS = 500;

export class Interrupts {
  #firstAtMs: number | undefined;

  /** The first asks for a clean end, a later one for no more waiting. */
  take(nowMs: number): 'end-cleanly' | 'end-at-once' | 'ignore' {
    if (this.#firstAtMs === undefined) {
      this.#firstAtMs = nowMs;
      return 'end-cleanly';
    }
    return nowMs - this.#firstAtMs < SAME_CTRL_C_MS ? 'ignore' : 'end-at-once';
  }
}
