import type { Clock } from '../base/clock.ts';
import type { Counter, MetricsRegistry } from '../metrics/metrics-registry.ts';

interface Stretch {
  readonly counter: Counter;
  /** How many reasons there are for it to run. */
  running: number;
  countedUntilMs: number;
}

/**
 * Milliseconds during which something held, as counters. A stretch that several begin runs until
 * the last of them ends it; what is running is counted up to `settle`.
 */
export class PressureTimes {
  readonly #clock: Clock;
  readonly #metrics: MetricsRegistry;
  readonly #stretches = new Map<string, Stretch>();

  constructor(clock: Clock, metrics: MetricsRegistry) {
    this.#clock = clock;
    this.#metrics = metrics;
  }

  begin(...names: readonly string[]): void {
    for (const name of names) {
      const stretch = this.#stretchOf(name);
      if (stretch.running === 0) stretch.countedUntilMs = this.#clock.now();
      stretch.running += 1;
    }
  }

  end(...names: readonly string[]): void {
    for (const name of names) {
      const stretch = this.#stretchOf(name);
      this.#count(stretch);
      stretch.running -= 1;
    }
  }

  /** What these stretches are about is gone; none of them runs. */
  forget(...names: readonly string[]): void {
    for (const name of names) this.#stretches.delete(name);
    this.#metrics.retire(...names);
  }

  /** Brings all counters up to now. */
  settle(): void {
    for (const stretch of this.#stretches.values()) this.#count(stretch);
  }

  #count(stretch: Stretch): void {
    if (stretch.running === 0) return;
    const now = this.#clock.now();
    stretch.counter.add(now - stretch.countedUntilMs);
    stretch.countedUntilMs = now;
  }

  #stretchOf(name: string): Stretch {
    const known = this.#stretches.get(name);
    if (known !== undefined) return known;
    const made: Stretch = { counter: this.#metrics.counter(name), running: 0, countedUntilMs: 0 };
    this.#stretches.set(name, made);
    return made;
  }
}
