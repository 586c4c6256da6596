import type { ContainerReport } from '../../model/container-report.ts';
import type { Checker, LivingEvent, SimulationEvent } from './checker.ts';
import { Problems } from './problems.ts';

/**
 * Whoever supervises processes keeps one of each and counts right.
 *
 * V1. No two processes of one name live at the same time: the next is started when the last one is
 *     gone, whoever started that.
 * V2. A process was not started again more often than it has ended. (The other way round is no
 *     mistake: a report may be late.)
 */
export class SupervisionChecker implements Checker {
  readonly name = 'processes are supervised';
  readonly #problems = new Problems();
  readonly #ends = new Map<string, number>();
  /** Names of which something has been said. */
  readonly #doubled = new Set<string>();
  readonly #miscounted = new Set<string>();

  observe(event: SimulationEvent): void {
    if (event.kind === 'process-end') {
      this.#ends.set(event.process, (this.#ends.get(event.process) ?? 0) + 1);
    } else if (event.kind === 'living') this.#checkLiving(event);
    else if (event.kind === 'report') this.#checkReport(event.report, event.atMs);
  }

  finish(): readonly string[] {
    return this.#problems.list();
  }

  #checkLiving({ processes, atMs }: LivingEvent): void {
    const seen = new Map<string, number>();
    for (const { name, pid } of processes) {
      const other = seen.get(name);
      seen.set(name, pid);
      if (other === undefined || this.#doubled.has(name)) continue;
      this.#doubled.add(name);
      this.#problems.add(`${name} lives twice at ${atMs} ms: processes ${other} and ${pid}`);
    }
  }

  #checkReport({ processes }: ContainerReport, atMs: number): void {
    for (const { name, restarts } of processes) {
      const ends = this.#ends.get(name) ?? 0;
      if (restarts <= ends || this.#miscounted.has(name)) continue;
      this.#miscounted.add(name);
      const said = `is said to have been started again ${restarts} times`;
      this.#problems.add(`${name} ${said} at ${atMs} ms, and ended ${ends} times`);
    }
  }
}
