import type { Clock } from '../../base/clock.ts';
import type { MetricReport, UserMetric } from '../../metrics/user-metric.ts';

/** For how long back pressure has held a spout: milliseconds, also of a hold that still lasts. */
export class HeldTime implements UserMetric {
  readonly #clock: Clock;
  #since: number | undefined;
  #ms = 0;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Said again and again; only changes count. */
  note(isHeld: boolean): void {
    if (isHeld === (this.#since !== undefined)) return;
    this.#take();
    this.#since = isHeld ? this.#clock.now() : undefined;
  }

  report(report: MetricReport): void {
    this.#take();
    if (this.#ms > 0) report.count(this.#ms);
    this.#ms = 0;
  }

  #take(): void {
    if (this.#since === undefined) return;
    const now = this.#clock.now();
    this.#ms += now - this.#since;
    this.#since = now;
  }
}
