import type { MetricReport, UserMetric } from './user-metric.ts';

/** A value that is set: the length of a queue, the age of a file. */
export class AssignableMetric implements UserMetric {
  value: number;

  constructor(value = 0) {
    this.value = value;
  }

  report(to: MetricReport): void {
    to.value(this.value);
  }
}

/** Values under names: `lag/partition-1`, `lag/partition-2`. */
export class MultiAssignableMetric implements UserMetric {
  readonly #values = new Map<string, AssignableMetric>();

  /** The value of a name; the same object at every call. */
  scope(key: string): AssignableMetric {
    const known = this.#values.get(key);
    if (known !== undefined) return known;
    const made = new AssignableMetric();
    this.#values.set(key, made);
    return made;
  }

  report(to: MetricReport): void {
    for (const [key, { value }] of this.#values) to.value(value, key);
  }
}
