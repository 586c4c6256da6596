import { Breaks } from './breaks.ts';
import type { Checker, Measure, SimulationEvent } from './checker.ts';

interface Excess extends Measure {
  readonly process: string;
  readonly atMs: number;
}

/**
 * Nothing holds more bytes than its limit, whenever it is looked at (measures.ts). The worst sight
 * of each thing is told.
 */
export class BoundsChecker implements Checker {
  readonly name = 'queues and memory are bounded';
  readonly #worst = new Map<string, Excess>();
  readonly #breaks = new Breaks();
  #measures = 0;

  /** How many measures were taken: a run that took none proves nothing. */
  get measures(): number {
    return this.#measures;
  }

  observe(event: SimulationEvent): void {
    this.#breaks.observe(event);
    if (event.kind !== 'measures') return;
    const { process, atMs } = event;
    for (const measure of event.measures) {
      this.#measures += 1;
      const { bytes, limitBytes, perConnectionEndBytes = 0 } = measure;
      if (bytes <= limitBytes) continue;
      if (bytes <= limitBytes + perConnectionEndBytes * this.#breaks.connectionEndsOf(process)) {
        continue;
      }
      const key = `${process} ${measure.what}`;
      const worst = this.#worst.get(key);
      if (worst !== undefined && worst.bytes >= measure.bytes) continue;
      this.#worst.set(key, { ...measure, process, atMs });
    }
  }

  finish(): readonly string[] {
    return [...this.#worst.values()].map(
      ({ process, what, bytes, limitBytes, atMs }) =>
        `${process}: ${what} held ${bytes} bytes at ${atMs} ms, its limit is ${limitBytes}`,
    );
  }
}
