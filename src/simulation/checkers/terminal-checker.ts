import { EXIT } from '../../base/exit-codes.ts';
import type { TaskId } from '../../base/ids.ts';
import type { Callback, Message } from '../workload/message-log.ts';
import type { Checker, FinishedRun } from './checker.ts';
import { isCutShort } from './loss-causes.ts';
import { Places } from './places.ts';
import { Problems } from './problems.ts';

/**
 * Within one incarnation of a spout every message id has exactly one of `ack` and `fail`.
 *
 * M1. No id has two of them, and none is of an id that this incarnation has not emitted before.
 * M2. When the topology has completed, each id has one, unless its incarnation died.
 * M3. `nextTuple` is not called while as many messages are pending as a task may have.
 */
export class TerminalChecker implements Checker {
  readonly name = 'one ack or fail per message';

  finish(run: FinishedRun): readonly string[] {
    const { trees } = run.workload.ledger;
    const problems = new Problems();
    const callbacks = new Map<number, Callback>();
    const messages = new Map(trees.messages.map((message) => [message.tuple, message]));
    for (const callback of trees.callbacks) {
      const { tuple, life, order } = callback;
      const first = callbacks.get(tuple);
      const message = messages.get(tuple);
      if (first !== undefined) {
        problems.add(`message ${tuple}: ${described(callback)} after ${described(first)}`);
      } else if (message === undefined) {
        problems.add(`task ${life.task} got an ${described(callback)} of ${tuple}, never emitted`);
      } else if (message.life !== life || message.order > order) {
        problems.add(`message ${tuple}: ${described(callback)} went to another incarnation`);
      }
      callbacks.set(tuple, callback);
    }
    for (const excess of trees.excesses) problems.add(excess);
    if (run.outcome === 'completed') checkAllSettled(run, callbacks, problems);
    return problems.list();
  }
}

function checkAllSettled(
  run: FinishedRun,
  callbacks: ReadonlyMap<number, Callback>,
  problems: Problems,
): void {
  const { ledger } = run.workload;
  const isLast = ({ life }: Message): boolean => ledger.livesOf(life.task).at(-1) === life;
  for (const message of ledger.trees.messages) {
    if (callbacks.has(message.tuple) || !isLast(message)) continue;
    if (hasDiedRetiring(message.life.task, run)) continue;
    const { tuple, life, atMs } = message;
    problems.add(`message ${tuple} of task ${life.task}, emitted at ${atMs} ms, was never settled`);
  }
}

function described({ reason, atMs }: Callback): string {
  return `${reason === undefined ? 'ack' : `fail (${reason.kind})`} at ${atMs} ms`;
}

/** A task that an update takes away is not started again once its plan is gone. */
export function hasDiedRetiring(task: TaskId, run: FinishedRun): boolean {
  const fromMs = run.history.retiringMs(task);
  if (fromMs === undefined) return false;
  if (isCutShort(task, run)) return true;
  const { instance } = new Places(run.packing).of(task);
  return run.ends.some(({ process, code }) => process === instance && code !== EXIT.ok);
}
