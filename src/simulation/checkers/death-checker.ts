import { EXIT } from '../../base/exit-codes.ts';
import type { Checker, FinishedRun, ProcessEnd } from './checker.ts';
import { Places } from './places.ts';
import { Problems } from './problems.ts';

/** Its name may be wanted again before it has ended. */
const ENDS_WITHIN_MS = 30_000;

/**
 * No process ends unless something ends it.
 *
 * D1. A failed assertion is a mistake of the engine, whatever was done to it.
 * D2. While the topology runs a process ends only by a fault of the run, or because its own user
 *     code threw, once for each such throw.
 * D3. Once the topology is taken down, or an update has taken the process away, processes end in
 *     an orderly way: with code 0, or by SIGTERM before they listen to it. A killed one needs a
 *     fault or code that hangs, one that gave up its orderly end a fault that holds it up: the
 *     other side of a connection that does not answer.
 */
export class DeathChecker implements Checker {
  readonly name = 'no unexpected end of a process';

  finish(run: FinishedRun): readonly string[] {
    const problems = new Problems();
    const throws = new UnspentThrows(run);
    const hangs = hangsOf(run);
    for (const end of run.ends) {
      if (/\bAssertionError\b/.test(end.reason)) {
        problems.add(`${describedEnd(end)}: an assertion failed: ${end.reason}`);
        continue;
      }
      const untilMs = unwantedFromMs(end, run);
      const isTakenDown = end.atMs >= untilMs;
      if (isTakenDown && isOrderly(end)) continue;
      if (isTakenDown && end.signal === 'SIGKILL' && hangs) continue;
      if (isTakenDown && isHeldUp(end, untilMs, run)) continue;
      if (run.explanation.explainsEnd(end) || throws.explains(end)) continue;
      const [why = ''] = end.reason.split('\n');
      problems.add(`${describedEnd(end)}${why === '' ? '' : `: ${why}`}`);
    }
    return problems.list();
  }
}

/** When it was to end, at or before its end; infinite when it was not. */
function unwantedFromMs({ process, atMs }: ProcessEnd, run: FinishedRun): number {
  const { takenDownFromMs = Number.POSITIVE_INFINITY, history } = run;
  const times = history.unwantedTimes(process);
  const taken = times.find(({ fromMs, toMs }) => fromMs <= atMs && atMs <= toMs + ENDS_WITHIN_MS);
  return Math.min(takenDownFromMs, taken?.fromMs ?? Number.POSITIVE_INFINITY);
}

function describedEnd({ process, pid, atMs, code, signal }: ProcessEnd): string {
  const how = signal === null ? `with code ${code}` : `by ${signal}`;
  return `${process} (process ${pid}) ended ${how} at ${atMs} ms`;
}

function isOrderly({ code, signal }: ProcessEnd): boolean {
  return code === EXIT.ok || signal === 'SIGTERM';
}

/**
 * It ended itself when its grace time was over (base/process-main.ts), which is less in some runs
 * than a connection waits for its other end: one that stands still holds up whom it talks with.
 */
function isHeldUp(end: ProcessEnd, fromMs: number, run: FinishedRun): boolean {
  const { process, atMs: toMs, code, reason } = end;
  if (code !== EXIT.failure || !/\bshutdown took longer than\b/.test(reason)) return false;
  const processes = [process, ...supportingProcesses(run)];
  return run.explanation.explainsDelay({ processes, fromMs, toMs });
}

/** Those that others keep connections with. */
function supportingProcesses({ packing }: FinishedRun): readonly string[] {
  const workers = packing.containers.map(({ id }) => id);
  return [
    'heron-tmanager',
    'heron-metricscache',
    ...workers.map((id) => `stmgr-${id}`),
    ...[0, ...workers].map((id) => `metricsmgr-${id}`),
  ];
}

function hangsOf({ workload }: FinishedRun): boolean {
  const { spouts, bolts } = workload.plan;
  return [...spouts, ...bolts].some(
    ({ faults, ...part }) =>
      faults.some(({ kind }) => kind === 'hang') || ('workMs' in part && part.workMs > 0),
  );
}

/** User code's own failures, each good for one end of its instance (D2). */
class UnspentThrows {
  readonly #places: Places;
  readonly #throws: { readonly process: string; readonly atMs: number }[];

  constructor({ workload, packing }: FinishedRun) {
    this.#places = new Places(packing);
    this.#throws = workload.ledger.lives.flatMap(({ task, threwAtMs }) =>
      threwAtMs === undefined ? [] : [{ process: this.#places.of(task).instance, atMs: threwAtMs }],
    );
  }

  explains(end: ProcessEnd): boolean {
    // What a timer of user code throws is an uncaught error like any other.
    if (end.code !== EXIT.userCode && end.code !== EXIT.failure) return false;
    const index = this.#throws.findIndex(
      ({ process, atMs }) => process === end.process && atMs <= end.atMs,
    );
    if (index === -1) return false;
    this.#throws.splice(index, 1);
    return true;
  }
}
