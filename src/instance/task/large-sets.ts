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

  get hasSome(): boolean {
    return this.#sets.length > 0;
  }

  /** The set whose marker has been read, if it has come; where nobody calls `take`. */
  poll(): Uint8Array | undefined {
    return this.#sets.shift();
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
