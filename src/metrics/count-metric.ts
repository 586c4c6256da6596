/** A number that a component keeps and the engine publishes; see `registerMetric`. */
export interface UserMetric {
  /**
   * The value since the last call. Called by the engine on the component's own thread, once for
   * every publication. Must not throw.
   */
  takeValue(): number;
}

/**
 * Counts how often something happens. Each publication carries what was counted since the last.
 *
 * @example
 * ```ts
 * override prepare(context: TopologyContext): void {
 *   this.#empty = context.registerMetric('empty-lines', new CountMetric());
 * }
 * ```
 */
export class CountMetric implements UserMetric {
  #count = 0;

  incr(by = 1): void {
    this.#count += by;
  }

  takeValue(): number {
    const count = this.#count;
    this.#count = 0;
    return count;
  }
}
