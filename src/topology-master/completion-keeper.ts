import { Backoff } from '../base/backoff.ts';
import type { Clock, Timer } from '../base/clock.ts';
import { EngineError, messageOf } from '../base/errors.ts';
import type { ComponentName, Epoch, TaskId, TopologyId, TopologyName } from '../base/ids.ts';
import type { Logger } from '../base/logger.ts';
import type { Random } from '../base/random.ts';
import { encodeCompletion, type Incident, parseCompletion } from '../model/completion.ts';
import type { LogicalTopology } from '../model/logical-topology.ts';
import type { EarlyEnd, InstanceAddress } from '../model/physical-plan.ts';
import { paths } from '../state-manager/paths.ts';
import type { StateManager } from '../state-manager/state-manager.ts';
import {
  completionOf,
  type EndedTask,
  hasEnded,
  hasEndedBefore,
  isComplete,
} from './completion-decision.ts';
import { readContainerReports } from './container-reports.ts';

/*
  Collects which tasks of the plan in force have ended and which instances were lost before that,
  and writes the topology's completion node when all have ended. Tasks never come back from their
  end, and the stream managers repeat what they know, so nothing has to survive the death of this
  process: the next incarnation hears it all again and finds the node written.

  Whether all have ended is asked between two changes of the plan, and from then on it does not
  change any more: a plan that was being stored meanwhile may have more tasks.
*/

export interface CompletionKeeperOptions {
  readonly stateManager: StateManager;
  readonly clock: Clock;
  readonly random: Random;
  readonly logger: Logger;
  readonly topologyName: TopologyName;
  readonly topologyId: TopologyId;
  readonly topology: Pick<LogicalTopology, 'config' | 'components'>;
  /** Of the plan in force; empty before the first. */
  readonly instances: () => readonly InstanceAddress[];
  /** Runs a step between two changes of the plan. */
  readonly inTurn: (step: () => void) => void;
  /** What the master knows about the run; asked when the node is written. */
  readonly run: () => {
    readonly firstPlanAtMs: number;
    readonly earlyEnds: readonly EarlyEnd[];
    readonly pastIncidents: readonly Incident[];
    readonly replaced: readonly Incident[];
  };
}

const RETRY_MIN_MS = 200;
const RETRY_MAX_MS = 5_000;

export class CompletionKeeper {
  readonly #options: CompletionKeeperOptions;
  #expected: ReadonlySet<TaskId> = new Set();
  readonly #ended = new Map<TaskId, Epoch>();
  /** At most one a process: the first is what a person wants to know. */
  readonly #lost = new Map<string, Incident>();
  readonly #backoff: Backoff;
  #retry: Timer | undefined;
  #phase: 'running' | 'completed' | 'closed' = 'running';
  #writing: Promise<void> = Promise.resolve();

  constructor(options: CompletionKeeperOptions) {
    this.#options = options;
    this.#backoff = new Backoff(options.random, RETRY_MIN_MS, RETRY_MAX_MS);
  }

  /** Notes ended tasks; repeats are harmless. */
  addEnded(tasks: readonly EndedTask[]): void {
    for (const { task, planEpoch } of tasks) {
      if (this.#expected.has(task) && !this.#ended.has(task)) this.#ended.set(task, planEpoch);
    }
    this.#check();
  }

  /** Another plan is in force: its tasks count from now on. */
  followPlan(): void {
    this.#expected = new Set(this.#options.instances().map(({ task }) => task));
    for (const task of this.#ended.keys()) {
      if (!this.#expected.has(task)) this.#ended.delete(task);
    }
    this.#check();
  }

  /** The instances that were lost, each once. */
  get lost(): readonly Incident[] {
    return [...this.#lost.values()];
  }

  /** Whether what a component emits can have no effect any more. */
  hasEnded(component: ComponentName): boolean {
    const { topology, instances } = this.#options;
    return hasEnded(component, topology, instances(), this.#ended);
  }

  /** The same of tasks that came with a plan: those that read from it may not know of them. */
  hasEndedBefore(planEpoch: Epoch, component: ComponentName): boolean {
    const { topology, instances } = this.#options;
    const facts = { topology, instances: instances(), ended: this.#ended };
    return hasEndedBefore(planEpoch, component, facts);
  }

  /** Every task of the plan in force has ended, and it is the last one. */
  get isOver(): boolean {
    return this.#phase === 'completed';
  }

  /** Notes instances that their stream managers have lost; repeats are harmless. */
  addLost(incidents: readonly Incident[]): void {
    for (const incident of incidents) {
      if (!this.#lost.has(incident.process)) this.#lost.set(incident.process, incident);
    }
  }

  /** Waits for a write that is under way. Idempotent. */
  async close(): Promise<void> {
    this.#phase = 'closed';
    this.#retry?.cancel();
    await this.#writing;
  }

  #check(): void {
    if (this.#phase !== 'running') return;
    if (this.#ended.size < this.#expected.size) return; // Most calls end here.
    if (!this.#isComplete) return;
    this.#options.inTurn(() => {
      if (this.#phase !== 'running' || !this.#isComplete) return;
      this.#phase = 'completed';
      this.#begin();
    });
  }

  get #isComplete(): boolean {
    return isComplete(this.#options.instances(), this.#ended);
  }

  #begin(): void {
    this.#writing = this.#write().catch((error: unknown) => {
      if (!(error instanceof EngineError)) throw error;
      if (this.#phase === 'closed') return;
      const pauseMs = this.#backoff.next();
      const { clock, logger } = this.#options;
      logger.warn(`the completion could not be stored: ${error.message}`, { pauseMs, error });
      this.#retry = clock.after(pauseMs, () => this.#begin());
    });
  }

  async #write(): Promise<void> {
    const { stateManager, topologyName, clock, logger, run } = this.#options;
    const path = paths.completed(topologyName);
    if (await this.#isWritten(path)) return;
    const { replaced, firstPlanAtMs, earlyEnds, pastIncidents } = run();
    const seen = [...replaced, ...this.lost];
    const reports = await readContainerReports(this.#options);
    const nowMs = clock.wallNow();
    const known = { firstPlanAtMs, earlyEnds, pastIncidents, reports, seen };
    const facts = { ...this.#options, ...known, instances: this.#options.instances(), nowMs };
    const completion = completionOf(facts);
    await stateManager.write(path, encodeCompletion(completion));
    logger.info('every task has ended', {
      result: completion.result,
      incidents: completion.incidents,
      recovered: completion.recovered,
    });
  }

  /** True when an earlier incarnation was faster; a record of an earlier submit does not count. */
  async #isWritten(path: string): Promise<boolean> {
    const bytes = await this.#options.stateManager.read(path);
    if (bytes === undefined) return false;
    try {
      return parseCompletion(bytes).topologyId === this.#options.topologyId;
    } catch (error) {
      this.#options.logger.warn(`${path} is replaced: ${messageOf(error)}`);
      return false;
    }
  }
}
