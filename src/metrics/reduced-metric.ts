import type { MetricReport, UserMetric } from './user-metric.ts';

/**
 * How many inputs become one number, such as the largest.
 *
 * @example
 * ```ts
 * const LARGEST: Reducer<number, number> = {
 *   start: () => Number.NEGATIVE_INFINITY,
 *   reduce: Math.max,
 *   result: (largest) => largest,
 * };
 * ```
 */
export interface Reducer<Input, State> {
  start(): State;
  reduce(state: State, input: Input): State;
  /** Undefined, or not finite: there is nothing to publish. */
  result(state: State): number | undefined;
}

/** One number made of all inputs since the last publication. */
export class ReducedMetric<Input, State> implements UserMetric {
  readonly #reducer: Reducer<Input, State>;
  #state: State;

  constructor(reducer: Reducer<Input, State>) {
    this.#reducer = reducer;
    this.#state = reducer.start();
  }

  update(input: Input): void {
    this.#state = this.#reducer.reduce(this.#state, input);
  }

  report(to: MetricReport): void {
    const result = this.#takeResult();
    if (result !== undefined) to.value(result);
  }

  /** For metrics that are made of several of these. */
  reportAs(to: MetricReport, key: string): void {
    const result = this.#takeResult();
    if (result !== undefined) to.value(result, key);
  }

  #takeResult(): number | undefined {
    const result = this.#reducer.result(this.#state);
    this.#state = this.#reducer.start();
    return result;
  }
}

/** Reduced numbers under names. */
export class MultiReducedMetric<Input, State> implements UserMetric {
  readonly #reducer: Reducer<Input, State>;
  readonly #metrics = new Map<string, ReducedMetric<Input, State>>();

  constructor(reducer: Reducer<Input, State>) {
    this.#reducer = reducer;
  }

  /** The metric of a name; the same one at every call. */
  scope(key: string): ReducedMetric<Input, State> {
    const known = this.#metrics.get(key);
    if (known !== undefined) return known;
    const made = new ReducedMetric(this.#reducer);
    this.#metrics.set(key, made);
    return made;
  }

  report(to: MetricReport): void {
    for (const [key, metric] of this.#metrics) metric.reportAs(to, key);
  }
}

/** The average of what was observed since the last publication. */
export class MeanMetric implements UserMetric {
  #sum = 0;
  #count = 0;

  update(value: number): void {
    this.#sum += value;
    this.#count += 1;
  }

  report(to: MetricReport): void {
    this.#take((sum, count) => to.mean(sum, count));
  }

  /** For metrics that are made of several of these. */
  reportAs(to: MetricReport, key: string): void {
    this.#take((sum, count) => to.mean(sum, count, key));
  }

  #take(tell: (sum: number, count: number) => void): void {
    if (this.#count === 0) return;
    tell(this.#sum, this.#count);
    this.#sum = 0;
    this.#count = 0;
  }
}

/** Averages under names. */
export class MultiMeanMetric implements UserMetric {
  readonly #means = new Map<string, MeanMetric>();

  /** The average of a name; the same one at every call. */
  scope(key: string): MeanMetric {
    const known = this.#means.get(key);
    if (known !== undefined) return known;
    const made = new MeanMetric();
    this.#means.set(key, made);
    return made;
  }

  report(to: MetricReport): void {
    for (const [key, mean] of this.#means) mean.reportAs(to, key);
  }
}
