import type { ContainerReport } from '../../model/container-report.ts';
import { Settings } from '../../model/settings.ts';
import type { Checker, FinishedRun, LivingEvent, SimulationEvent } from './checker.ts';
import { Problems } from './problems.ts';

/** A beat, a look, and the way to whoever looks. */
const SLACK_MS = 1_100;
/** A limit may begin anew once because of others that are silent, and processes start slowly. */
const FACTOR = 5;

interface Killed {
  readonly process: string;
  readonly atMs: number;
}

interface Stood {
  readonly process: string;
  readonly pid: number;
  readonly fromMs: number;
  toMs: number;
}

/**
 * A process that hangs is killed and started again, and no other one is.
 *
 * H1. What an executor kills because it hung has stood still for as long as the setting says: not
 *     one that beats, and not one that nobody could hear because its executor was away.
 * H2. A process that stands still beside an executor that works does so for a bounded time.
 */
export class HangChecker implements Checker {
  readonly name = 'processes that hang are replaced';
  readonly #silenceMs: number;
  readonly #killed = new Map<string, Killed>();
  /** By name and pid: times in which it was seen standing still. */
  readonly #stood: Stood[] = [];
  readonly #open = new Map<string, Stood>();

  constructor(settings: Readonly<Record<string, string>>) {
    const config = new Settings(new Map(Object.entries(settings)));
    this.#silenceMs = config.get('heron.executor.child.silence.ms');
  }

  observe(event: SimulationEvent): void {
    if (event.kind === 'living') this.#look(event);
    else if (event.kind === 'report') this.#note(event.report, event.atMs);
  }

  finish(run: FinishedRun): readonly string[] {
    const problems = new Problems();
    for (const { process, atMs } of this.#killed.values()) {
      const end = run.ends.findLast((one) => one.process === process && one.atMs <= atMs);
      const endMs = end?.atMs ?? atMs;
      const stood = this.#stood.some(
        (time) =>
          time.process === process &&
          time.toMs >= endMs - SLACK_MS &&
          this.#heardMs(time) >= this.#silenceMs - SLACK_MS,
      );
      if (!stood) problems.add(`${process} was killed as hung at ${endMs} ms, and did not hang`);
    }
    for (const time of this.#stood) this.#checkBound(time, run, problems);
    return problems.list();
  }

  /** For how long its executor could have heard it, and did not. */
  #heardMs({ process, fromMs, toMs }: Stood): number {
    const executor = executorOf(process);
    const awayMs = this.#stood
      .filter((other) => other.process === executor)
      .map((other) => Math.min(toMs, other.toMs) - Math.max(fromMs, other.fromMs));
    return awayMs.reduce((leftMs, ms) => leftMs - Math.max(0, ms), toMs - fromMs);
  }

  /** H2 */
  #checkBound({ process, fromMs, toMs }: Stood, run: FinishedRun, problems: Problems): void {
    if (toMs - fromMs <= FACTOR * this.#silenceMs + SLACK_MS) return;
    const executor = executorOf(process);
    if (executor === undefined) return;
    const isAway = [executor, 'scheduler'].some((name) =>
      this.#stood.some((other) => other.process === name && other.toMs > fromMs),
    );
    if (isAway) return;
    const endMs = run.takenDownFromMs ?? run.endedAtMs;
    if (fromMs + FACTOR * this.#silenceMs > endMs) return;
    const isElsewhere = run.ends.some((end) => end.process === executor && end.atMs >= fromMs);
    if (isElsewhere) return;
    problems.add(`${process} stood still from ${fromMs} ms to ${toMs} ms`);
  }

  #look({ processes, atMs }: LivingEvent): void {
    for (const { name, pid, state } of processes) {
      const key = `${name} ${pid}`;
      const known = this.#open.get(key);
      if (state !== 'paused') this.#open.delete(key);
      else if (known !== undefined) known.toMs = atMs;
      else {
        const time = { process: name, pid, fromMs: atMs, toMs: atMs };
        this.#open.set(key, time);
        this.#stood.push(time);
      }
    }
  }

  #note({ processes }: ContainerReport, atMs: number): void {
    for (const { name, lastExit } of processes) {
      if (lastExit === undefined || !lastExit.reason.startsWith('hung: ')) continue;
      const key = `${name} ${lastExit.atMs}`;
      if (!this.#killed.has(key)) this.#killed.set(key, { process: name, atMs });
    }
  }
}

/** Undefined for executors and the scheduler, and where the name does not say it. */
function executorOf(process: string): string | undefined {
  const container = /^(?:container_|stmgr-|metricsmgr-)(\d+)/.exec(process)?.[1];
  return container === undefined ? undefined : `executor-${container}`;
}
