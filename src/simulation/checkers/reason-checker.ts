import { taskId } from '../../base/ids.ts';
import { Settings } from '../../model/settings.ts';
import type { Hang } from '../workload/ledger.ts';
import type { Callback, Message, Settlement } from '../workload/message-log.ts';
import { Breaks } from './breaks.ts';
import type { Checker, FinishedRun, SimulationEvent } from './checker.ts';
import { Places } from './places.ts';
import { Problems } from './problems.ts';
import { type MissingCopy, Trees } from './trees.ts';

const CHOSEN_BY_USER: ReadonlySet<string> = new Set(['direct', 'custom']);

/** From the last ack of a tree by a bolt to the `ack` of the message. */
const ACKED_WITHIN_MS = 1000;

/**
 * From an ack to its way out of its process, user code aside: a time slice of the engine, 10 ms,
 * and readings of the clock.
 */
const WRITTEN_WITHIN_MS = 11;

/** From the loss of an instance to the fails of what was under way to it. */
const TOLD_WITHIN_MS = 500;

/** From its emit a tuple takes so long at most to the connection of the instance that it is for. */
const ON_ITS_WAY_MS = 10;

/**
 * How long a break may have been there before a tuple that it costs is emitted: as long as it takes
 * to connect again after the longest fault of a link, with all back-offs.
 */
const MENDED_WITHIN_MS = 60_000;

/**
 * What a spout hears of a failure is true.
 *
 * F1. `time-out`: there are time-outs. (That none is too soon is measured elsewhere, where no code
 *     that hangs can be in the way.) All bolts having acked the tree long before is no time-out,
 *     unless a break can have cost an ack. An ack counts from when it leaves its process, which is
 *     not before code ends that hangs in the same time slice.
 *     Nor is it one when a tuple of the tree was lost with an instance that has been gone for a
 *     while, and nothing else was: that had to be said.
 * F2. `explicit` and `thrown`: the task that is named has failed a tuple of the tree in that way,
 *     before, with that error.
 * F3. `lost-instance`: that instance or a connection of it had an end; `lost-stream-manager`: a
 *     stream manager or a connection of one had.
 * F4. `dropped`: the topology asks for it, or user code names tasks of which one has retired.
 */
export class ReasonChecker implements Checker {
  readonly name = 'fails have a true reason';
  readonly #breaks = new Breaks();

  observe(event: SimulationEvent): void {
    this.#breaks.observe(event);
  }

  finish(run: FinishedRun): readonly string[] {
    const { trees: log } = run.workload.ledger;
    const messages = new Map(log.messages.map((message) => [message.tuple, message]));
    const reasons = new Reasons(run, this.#breaks);
    const problems = new Problems();
    for (const callback of log.callbacks) {
      const message = messages.get(callback.tuple);
      if (callback.reason === undefined || message === undefined) continue;
      const why = reasons.untruthOf(callback, message);
      if (why === undefined) continue;
      const { tuple, atMs, reason } = callback;
      const since = `emitted at ${message.atMs} ms`;
      problems.add(`message ${tuple}, ${since}, failed at ${atMs} ms: ${reason.kind}, ${why}`);
    }
    return problems.list();
  }
}

class Reasons {
  readonly #run: FinishedRun;
  readonly #breaks: Breaks;
  readonly #trees: Trees;
  readonly #places: Places;
  readonly #settings: Settings;

  constructor(run: FinishedRun, breaks: Breaks) {
    this.#run = run;
    this.#breaks = breaks;
    this.#trees = new Trees(run);
    this.#places = new Places(run.packing);
    this.#settings = new Settings(new Map(Object.entries(run.workload.plan.config)));
  }

  /** What is wrong with it; undefined when it is true. */
  untruthOf(callback: Callback, message: Message): string | undefined {
    const { reason } = callback;
    switch (reason?.kind) {
      case 'time-out':
        return this.#untruthOfTimeOut(callback, message);
      case 'explicit':
        return this.#hasSettled(callback, 'failed') ? undefined : 'which no such task did';
      case 'thrown':
        return this.#hasSettled(callback, 'thrown') ? undefined : 'which no such task did';
      case 'lost-instance':
        return this.#hasLost(callback, message) ? undefined : 'and no instance was';
      case 'lost-stream-manager':
        return this.#hasBreak(callback, message) ? undefined : 'and none was';
      case 'dropped':
        return this.#mayDrop(callback) ? undefined : 'which nobody asked for';
      case undefined:
        return undefined;
    }
  }

  /** F4 */
  #mayDrop({ atMs }: Callback): boolean {
    if (this.#settings.get('topology.droptuples.upon.backpressure')) return true;
    const { history, workload, packing } = this.#run;
    const chosen = new Set(
      workload.plan.bolts
        .filter(({ inputs }) => inputs.some(({ grouping }) => CHOSEN_BY_USER.has(grouping.kind)))
        .map(({ name }): string => name),
    );
    return packing.containers.some(({ instances }) =>
      instances.some(
        ({ component, task }) =>
          chosen.has(component) && (history.retiringMs(task) ?? Number.POSITIVE_INFINITY) <= atMs,
      ),
    );
  }

  #untruthOfTimeOut({ tuple, atMs }: Callback, message: Message): string | undefined {
    if (!this.#settings.get('topology.enable.message.timeouts')) return 'and there are none';
    const doneByMs = atMs - ACKED_WITHIN_MS;
    const missing = this.#trees.missingOf(tuple, (ack) => this.#leftAtMs(ack) <= doneByMs);
    if (missing.length > 0) return this.#untruthOfLoss(missing, message.atMs, atMs);
    if (this.#isLateNews(message.atMs, atMs)) return undefined;
    return 'although every bolt had acked it';
  }

  /** When an ack left its process at the latest: acks leave when no code of their task runs. */
  #leftAtMs({ life, atMs }: Settlement): number {
    const { plan, ledger } = this.#run.workload;
    const workMs = plan.bolts.find(({ name }) => name === life.component)?.workMs ?? 0;
    const byMs = atMs + workMs + WRITTEN_WITHIN_MS;
    const isInTheWay = ({ task, fromMs }: Hang): boolean =>
      task === life.task && fromMs >= atMs && fromMs <= byMs;
    return ledger.hangs.find(isInTheWay)?.untilMs ?? atMs;
  }

  /** Copies that never came, of which the stream manager of their task must have known. */
  #untruthOfLoss(
    missing: readonly MissingCopy[],
    fromMs: number,
    toMs: number,
  ): string | undefined {
    for (const { tuple, task, candidates } of missing) {
      if (task !== undefined) continue; // It came, and bolts do with it what they like.
      const emittedMs = this.#run.workload.ledger.emitted(tuple)?.atMs ?? Infinity;
      for (const candidate of candidates) {
        const { instance } = this.#places.of(taskId(candidate));
        const lostMs = this.#breaks.onlyOf(instance, fromMs - MENDED_WITHIN_MS, toMs);
        if (lostMs === undefined || lostMs < emittedMs + ON_ITS_WAY_MS) continue;
        if (lostMs + TOLD_WITHIN_MS > toMs || this.#isDelayed(instance, fromMs, toMs)) continue;
        return `although tuple ${tuple} was lost with ${instance} at ${lostMs} ms`;
      }
    }
    return undefined;
  }

  /** Other faults may have kept the tuple from coming so far. */
  #isDelayed(instance: string, fromMs: number, toMs: number): boolean {
    const processes = this.#places.dataProcesses.filter((process) => process !== instance);
    return this.#run.explanation.explainsDelay({ processes, fromMs, toMs });
  }

  #isLateNews(fromMs: number, toMs: number): boolean {
    if (this.#breaks.has(fromMs, toMs)) return true;
    return this.#isSeenLate(this.#places.dataProcesses, fromMs, toMs);
  }

  #hasSettled({ tuple, order, reason }: Callback, how: Settlement['how']): boolean {
    return this.#trees
      .tuplesOf(tuple)
      .flatMap((descendant) => this.#trees.settlementsOf(descendant))
      .some(
        ({ how: done, life, order: doneOrder }) =>
          done === how &&
          doneOrder < order &&
          life.task === reason?.task &&
          life.component === reason.component &&
          reason.error !== undefined,
      );
  }

  #hasLost({ atMs, reason }: Callback, message: Message): boolean {
    if (reason?.task === undefined) return false;
    const { instance } = this.#places.of(reason.task);
    if (this.#breaks.has(message.atMs - MENDED_WITHIN_MS, atMs, [instance])) return true;
    return this.#isSeenLate([instance], message.atMs, atMs);
  }

  #hasBreak({ atMs }: Callback, message: Message): boolean {
    if (this.#breaks.has(message.atMs - MENDED_WITHIN_MS, atMs)) return true;
    return this.#isSeenLate(this.#places.dataProcesses, message.atMs, atMs);
  }

  /** The end of a connection counts when both sides know, which a pause or the network delays. */
  #isSeenLate(processes: readonly string[], fromMs: number, toMs: number): boolean {
    return this.#run.explanation.explainsDelay({ processes, fromMs, toMs });
  }
}
