import { EXIT } from '../../base/exit-codes.ts';
import type { TaskId } from '../../base/ids.ts';
import type { Life } from '../workload/life.ts';
import type { SpoutDescription, WorkloadDescription } from '../workload/workload-description.ts';
import type { Checker, CommandRecord, FinishedRun } from './checker.ts';
import { emittedTuples } from './deliveries.ts';
import { Places } from './places.ts';
import { Problems } from './problems.ts';

export interface CommandLimits {
  /** From the command to its return, and from there to the state that it asks for. */
  readonly returnsWithinMs: number;
  readonly reachedWithinMs: number;
  /** The same for a change of a topology that nothing else disturbs. */
  readonly changedWithinMs: number;
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
  changedWithinMs: 2_500,
  settledWithinMs: 500,
};

/** Those that change a topology while it runs. */
const LIVE: ReadonlySet<CommandRecord['command']> = new Set(['update', 'resize', 'configure']);

/**
 * Commands reach their outcome.
 *
 * C1. Each returns, and what it asked for comes to be, within the limits; later only where faults
 *     explain a delay, and never when it returned without an error and the run has gone on.
 *     An update that gives tasks to a component whose input has ended does not come to be.
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
    const limitMs = givenAtMs + this.#returnsWithinMs(record, run);
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
    const limitMs = returnedAtMs + this.#reachedWithinMs(record, run);
    if ((reachedAtMs ?? run.endedAtMs) <= limitMs) return;
    if (kindOf(command) === 'numbers' && growsWhatHasEnded(run, limitMs)) return;
    if (isExplained(run, givenAtMs, limitMs)) {
      if (reachedAtMs !== undefined || run.outcome !== 'completed') return;
      if (LIVE.has(command) && this.#isEndedInDelay(record, run)) return;
    }
    const when = reachedAtMs === undefined ? 'never came to be' : `came to be at ${reachedAtMs} ms`;
    problems.add(`what ${command} at ${givenAtMs} ms asked for ${when}`);
  }

  /** The input came to its end while what was asked for was still held up. */
  #isEndedInDelay(record: CommandRecord, run: FinishedRun): boolean {
    const endMs = run.takenDownFromMs ?? run.endedAtMs;
    return isExplained(run, endMs - this.#reachedWithinMs(record, run), endMs);
  }

  /** An update waits for the one before it. */
  #returnsWithinMs({ command, givenAtMs }: CommandRecord, run: FinishedRun): number {
    const { returnsWithinMs, reachedWithinMs } = this.#limits;
    const isSecond = run.commands.some(
      (other) => isSameKind(other.command, command) && other.givenAtMs < givenAtMs,
    );
    if (!LIVE.has(command) || !isSecond) return returnsWithinMs;
    return returnsWithinMs + reachedWithinMs + allHangsMs(run.workload.plan);
  }

  /** Tasks that retire work off what they have, and code that hangs has its time. */
  #reachedWithinMs({ command }: CommandRecord, run: FinishedRun): number {
    const { reachedWithinMs, changedWithinMs } = this.#limits;
    if (!LIVE.has(command)) return reachedWithinMs;
    const isHeldUp = hasEnds(run) || isSlow(run.workload.plan);
    const withinMs = isHeldUp ? reachedWithinMs : changedWithinMs;
    return withinMs + allHangsMs(run.workload.plan);
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
  return run.commands.some(
    (other) =>
      other !== record &&
      (other.command === 'kill' || isSameKind(other.command, record.command)) &&
      (other.givenAtMs >= givenAtMs || isStoredLater(other, record)),
  );
}

/** An update returns when it has stored its plan: one that was given earlier may do so later. */
function isStoredLater(other: CommandRecord, { command, returnedAtMs }: CommandRecord): boolean {
  if (!LIVE.has(command) || other.error !== undefined) return false;
  return (other.returnedAtMs ?? -1) >= (returnedAtMs ?? Number.POSITIVE_INFINITY);
}

/** Whether tasks were asked for, and never began, of a component that had ended by then. */
function growsWhatHasEnded({ packing, workload: { ledger } }: FinishedRun, byMs: number): boolean {
  const instances = packing.containers.flatMap((container) => container.instances);
  const livesOf = (name: string): readonly Life[] =>
    ledger.lives.filter(({ component }) => component === name);
  const hasEnded = (task: TaskId): boolean =>
    ledger.livesOf(task).some(({ endedAtMs }) => endedAtMs !== undefined && endedAtMs <= byMs);
  return instances
    .filter(({ task }) => ledger.livesOf(task).length === 0)
    .some(({ component }) => {
      const lives = livesOf(component);
      return lives.length > 0 && lives.every(({ task }) => hasEnded(task));
    });
}

/** A command passes the scheduler and the master, and concerns everybody. */
function isExplained(run: FinishedRun, fromMs: number, toMs: number): boolean {
  const { dataProcesses } = new Places(run.packing);
  const executors = run.packing.containers.map(({ id }) => `executor-${id}`);
  const masters = ['scheduler', 'executor-0', 'heron-tmanager'];
  const processes = [...masters, ...executors, ...dataProcesses];
  return run.explanation.explainsDelay({ processes, fromMs, toMs });
}

/**
 * What retires ends when its input is worked off and its messages are settled, those too that are
 * dropped, or forgotten until they time out, and come again.
 */
function isSlow({ bolts, config }: WorkloadDescription): boolean {
  if (config['topology.droptuples.upon.backpressure'] === 'true') return true;
  return bolts.some(
    ({ workMs, acking }) => workMs > 0 || acking?.mishaps.some(({ kind }) => kind === 'forget'),
  );
}

/** User code that throws ends its process, which has to come up again. */
function hasEnds({ ends, takenDownFromMs = Number.POSITIVE_INFINITY }: FinishedRun): boolean {
  return ends.some(({ code, atMs }) => code !== EXIT.ok && atMs < takenDownFromMs);
}

/** Whether one takes the place of the other: what they ask for is about the same thing. */
function isSameKind(one: CommandRecord['command'], other: CommandRecord['command']): boolean {
  return kindOf(one) === kindOf(other);
}

function kindOf(command: CommandRecord['command']): string {
  if (command === 'update' || command === 'resize') return 'numbers';
  return command === 'configure' ? 'settings' : 'state';
}

/** Of all code that hangs, one after the other. */
function allHangsMs({ spouts, bolts }: WorkloadDescription): number {
  const faults = [...spouts, ...bolts].flatMap((part) =>
    part.faults.map((fault) => (fault.kind === 'hang' ? fault.forMs * part.parallelism : 0)),
  );
  return faults.reduce((sumMs, ms) => sumMs + ms, 0);
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
