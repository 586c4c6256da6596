import type { SpoutDescription, WorkloadDescription } from '../workload/workload-description.ts';
import type { Checker, CommandRecord, FinishedRun } from './checker.ts';
import { emittedTuples } from './deliveries.ts';
import { Places } from './places.ts';
import { Problems } from './problems.ts';

export interface CommandLimits {
  /** From the command to its return, and from there to the state that it asks for. */
  readonly returnsWithinMs: number;
  readonly reachedWithinMs: number;
  /** From the state of the topology to that of each spout: a plan is handed on twice. */
  readonly settledWithinMs: number;
}

/**
 * A command tries again for some seconds where the master is away, a kill gives processes their
 * grace time of 5 s before it kills them.
 */
const LIMITS: CommandLimits = {
  returnsWithinMs: 20_000,
  reachedWithinMs: 10_000,
  settledWithinMs: 500,
};

/**
 * Commands reach their outcome.
 *
 * C1. Each returns, and what it asked for comes to be, within the limits; later only where faults
 *     explain a delay, and never when it returned without an error and the run has gone on.
 * C2. A paused topology's spouts are silent until it is activated. A call of `nextTuple` that had
 *     begun before may emit when its promise settles.
 */
export class CommandChecker implements Checker {
  readonly name = 'commands reach their outcome';
  readonly #limits: CommandLimits;

  constructor(limits: Partial<CommandLimits> = {}) {
    this.#limits = { ...LIMITS, ...limits };
  }

  finish(run: FinishedRun): readonly string[] {
    const problems = new Problems();
    for (const record of run.commands) {
      this.#checkReturn(record, run, problems);
      this.#checkOutcome(record, run, problems);
    }
    this.#checkSilence(run, problems);
    return problems.list();
  }

  #checkReturn(record: CommandRecord, run: FinishedRun, problems: Problems): void {
    const { command, givenAtMs, returnedAtMs, error } = record;
    const limitMs = givenAtMs + this.#limits.returnsWithinMs;
    // A command that waits for a topology that has gone meanwhile takes its whole time.
    if (returnedAtMs !== undefined && isOvertaken(record, run)) return;
    const isLate = (returnedAtMs ?? run.endedAtMs) > limitMs;
    if (isLate && !isExplained(run, givenAtMs, limitMs)) {
      const when = returnedAtMs === undefined ? 'never returned' : `returned at ${returnedAtMs} ms`;
      problems.add(`${command}, given at ${givenAtMs} ms, ${when}`);
    }
    if (error === undefined) return;
    if (isExplained(run, givenAtMs, returnedAtMs ?? limitMs)) return;
    problems.add(`${command}, given at ${givenAtMs} ms, failed: ${error}`);
  }

  /** A command that failed has promised nothing; one that succeeded has, whatever the faults. */
  #checkOutcome(record: CommandRecord, run: FinishedRun, problems: Problems): void {
    const { command, givenAtMs, returnedAtMs, error, reachedAtMs } = record;
    if (error !== undefined || returnedAtMs === undefined || isOvertaken(record, run)) return;
    const limitMs = returnedAtMs + this.#limits.reachedWithinMs;
    if ((reachedAtMs ?? run.endedAtMs) <= limitMs) return;
    if (isExplained(run, givenAtMs, limitMs)) {
      if (reachedAtMs !== undefined || run.outcome !== 'completed') return;
    }
    const when = reachedAtMs === undefined ? 'never came to be' : `came to be at ${reachedAtMs} ms`;
    problems.add(`what ${command} at ${givenAtMs} ms asked for ${when}`);
  }

  #checkSilence(run: FinishedRun, problems: Problems): void {
    const { ledger, plan } = run.workload;
    // Code that hangs hears of nothing until it goes on.
    const heedful = plan.spouts.filter(({ faults }) => faults.every(({ kind }) => kind !== 'hang'));
    const underWayMs = new Map(heedful.map((spout) => [spout.name, longestCallMs(spout)]));
    const settledWithinMs = this.#limits.settledWithinMs + longestHangMs(plan);
    const pauses = pausesOf(run.commands, settledWithinMs);
    if (pauses.length === 0) return;
    const places = new Places(run.packing);
    for (const { component, task, atMs, tuple } of emittedTuples(ledger)) {
      const callMs = underWayMs.get(component);
      if (callMs === undefined) continue;
      const pause = pauses.find(({ fromMs, toMs }) => atMs > fromMs + callMs && atMs < toMs);
      if (pause === undefined) continue;
      const { instance, streamManager } = places.of(task);
      const processes = ['heron-tmanager', streamManager, instance];
      const { givenAtMs: fromMs } = pause;
      if (run.explanation.explainsDelay({ processes, fromMs, toMs: atMs })) continue;
      problems.add(`task ${task} of ${component} emitted tuple ${tuple} at ${atMs} ms, paused`);
    }
  }
}

/** The topology ended, or another command was given, before this one's outcome had to be there. */
function isOvertaken(record: CommandRecord, run: FinishedRun): boolean {
  const { givenAtMs, returnedAtMs = run.endedAtMs } = record;
  if (record.command === 'kill') return false;
  if (run.takenDownFromMs !== undefined && run.takenDownFromMs <= returnedAtMs + 1000) return true;
  return run.commands.some((other) => other !== record && other.givenAtMs >= givenAtMs);
}

/** A command passes the scheduler and the master, and concerns everybody. */
function isExplained(run: FinishedRun, fromMs: number, toMs: number): boolean {
  const { dataProcesses } = new Places(run.packing);
  const processes = ['scheduler', 'executor-0', 'heron-tmanager', ...dataProcesses];
  return run.explanation.explainsDelay({ processes, fromMs, toMs });
}

/** Code that hangs emits what it was about to emit. */
function longestHangMs({ spouts }: WorkloadDescription): number {
  const faults = spouts.flatMap((spout) => spout.faults);
  return Math.max(0, ...faults.map((fault) => (fault.kind === 'hang' ? fault.forMs : 0)));
}

/** How long a call of `nextTuple` may be pending before it emits. */
function longestCallMs({ pace }: SpoutDescription): number {
  return pace.kind === 'awaited' ? pace.everyMs : 0;
}

interface Pause {
  readonly givenAtMs: number;
  readonly fromMs: number;
  readonly toMs: number;
}

function pausesOf(commands: readonly CommandRecord[], settledWithinMs: number): readonly Pause[] {
  return commands.flatMap(({ command, givenAtMs, reachedAtMs }) => {
    if (command !== 'deactivate' || reachedAtMs === undefined) return [];
    const next = commands.find(
      (other) => other.command === 'activate' && other.givenAtMs > givenAtMs,
    );
    const toMs = next?.givenAtMs ?? Number.POSITIVE_INFINITY;
    return [{ givenAtMs, fromMs: reachedAtMs + settledWithinMs, toMs }];
  });
}
