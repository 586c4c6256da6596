/**
 * Tuple sets that are too large for the ring (ruling R15). Each comes by message, and a marker
 * frame in the ring holds its place; whichever is first waits for the other here.
 */
export class LargeSets {
  readonly #sets: Uint8Array[] = [];
  #onPut: (() => void) | undefined;

  /** The message has come; perhaps before there is a component that could read it. */
  put(set: Uint8Array): void {
    this.#sets.push(set);
    this.#onPut?.();
    this.#onPut = undefined;
  }

  /** The marker has been read; one caller at a time. */
  async take(): Promise<Uint8Array> {
    for (;;) {
      const set = this.#sets.shift();
      if (set !== undefined) return set;
      await new Promise<void>((resolve) => {
        this.#onPut = resolve;
      });
    }
  }
}
