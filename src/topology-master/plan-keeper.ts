import { Backoff } from '../base/backoff.ts';
import type { Clock, Timer } from '../base/clock.ts';
import { EngineError, environmentError, hasCode } from '../base/errors.ts';
import type { Epoch, StreamManagerId, TopologyId, TopologyName } from '../base/ids.ts';
import type { Logger } from '../base/logger.ts';
import type { Random } from '../base/random.ts';
import type { Incident } from '../model/completion.ts';
import type { TopologyState } from '../model/logical-topology.ts';
import type { PackingPlan } from '../model/packing-plan.ts';
import type { EarlyEnd, PhysicalPlan, StreamManagerAddress } from '../model/physical-plan.ts';
import type { StateManager } from '../state-manager/state-manager.ts';
import {
  earlyEndsFromMessage,
  type PhysicalPlanMessage,
  physicalPlanToMessage,
} from '../wire/physical-plan.ts';
import { type TopologyMessage, withState } from '../wire/topology.ts';
import { earlyEndsOf, replacedProcesses } from './completion-decision.ts';
import { readContainerReports } from './container-reports.ts';
import type { CommandedTopology } from './control-port.ts';
import { type Addresses, decidePlan } from './plan-decision.ts';
import { PlanStore, type StoredPlan } from './plan-store.ts';
import { expectedStreamManagers } from './placement.ts';
import type { Registration } from './registration-decision.ts';

/*
  Owns the physical plan: knows who is registered, decides by plan-decision.ts when another plan is
  due, stores it and hands it out.

  K1. A plan is stored before anybody gets it, so that a restarted master knows what is in use.
  K2. Changes happen one after the other, each on top of the last stored plan. A failed one leaves
      that plan in force; what registrations ask for is tried again, a command is refused.
  K3. Every stored plan has an epoch above those of all plans and masters before it.
*/

export interface PlanKeeperOptions {
  readonly stateManager: StateManager;
  readonly clock: Clock;
  readonly random: Random;
  readonly logger: Logger;
  readonly topologyName: TopologyName;
  readonly topologyId: TopologyId;
  readonly masterEpoch: Epoch;
  readonly packing: PackingPlan;
  /** As submitted; its state is that of the first plan. */
  readonly submitted: TopologyMessage;
  /** A plan has been stored and is to be distributed. */
  readonly onPlan: (plan: PhysicalPlanMessage) => void;
  /** Another incarnation of the master has stored a plan. */
  readonly onFenced: (error: EngineError) => void;
}

const RETRY_MIN_MS = 200;
const RETRY_MAX_MS = 5_000;
/** Each registration says who is missing: all names each time would be a log of n² names. */
const MISSING_NAMED = 10;

export class PlanKeeper implements CommandedTopology {
  readonly #options: PlanKeeperOptions;
  readonly #store: PlanStore;
  readonly #backoff: Backoff;
  readonly #expected: readonly StreamManagerId[];
  readonly #registered = new Map<StreamManagerId, Registration>();
  /** At most one a process: the first is what a person wants to know. */
  readonly #replaced = new Map<string, Incident>();
  /** By both clocks. */
  #firstPlan: { readonly wallMs: number; readonly monotonicMs: number } | undefined;
  #changes: Promise<void> = Promise.resolve();
  #retry: Timer | undefined;
  #isClosed = false;

  constructor(options: PlanKeeperOptions) {
    this.#options = options;
    this.#store = new PlanStore(options);
    this.#backoff = new Backoff(options.random, RETRY_MIN_MS, RETRY_MAX_MS);
    this.#expected = expectedStreamManagers(options.packing);
  }

  /** Reads what an earlier incarnation has stored; called once, before anything else. */
  async open(): Promise<void> {
    await this.#store.load();
  }

  get current(): PhysicalPlan | undefined {
    return this.#store.current?.plan;
  }

  get state(): TopologyState | undefined {
    return this.current?.topology.state;
  }

  get absent(): readonly StreamManagerId[] {
    return this.#expected.filter((id) => !this.#registered.has(id));
  }

  /**
   * By the wall clock; 0 when an earlier incarnation made the first plan. When that clock has been
   * set back since, so much earlier: reports of what came after the plan may carry such times.
   */
  get firstPlanAtMs(): number {
    if (this.#firstPlan === undefined) return 0;
    const { clock } = this.#options;
    const { wallMs, monotonicMs } = this.#firstPlan;
    return Math.min(wallMs, clock.wallNow() - (clock.now() - monotonicMs));
  }

  /** What had ended before the first plan, whichever incarnation made it. */
  get earlyEnds(): readonly EarlyEnd[] {
    const message = this.#store.current?.message;
    return message === undefined ? [] : earlyEndsFromMessage(message);
  }

  /** Stream managers that this incarnation saw come back as another process. */
  get replaced(): readonly Incident[] {
    return [...this.#replaced.values()];
  }

  planBytes(): Uint8Array | undefined {
    return this.absent.length > 0 ? undefined : this.#store.current?.bytes;
  }

  /** Notes a stream manager; returns the plan that it can work by at once, if there is one. */
  register(registration: Registration): PhysicalPlanMessage | undefined {
    // Not only when the next plan is stored: the topology may be complete before it can be.
    if (this.current !== undefined) this.#noteReplaced(this.current, registration.address);
    this.#registered.set(registration.address.id, registration);
    const decision = this.#decide();
    if (decision.kind === 'keep') return this.#store.current?.message;
    if (decision.kind === 'wait') {
      const { missing } = decision;
      const fields = { count: missing.length, first: missing.slice(0, MISSING_NAMED) };
      this.#options.logger.info('stream managers are missing', fields);
      return undefined;
    }
    this.#reconsider();
    return undefined;
  }

  unregister(id: StreamManagerId): void {
    this.#registered.delete(id);
  }

  /**
   * @throws EngineError TOPOLOGY_NOT_READY before the first plan and once spouts have ended, or
   *   what the state manager says.
   */
  setState(state: TopologyState): Promise<void> {
    return this.#enqueue(async () => {
      const { current } = this.#store;
      if (current === undefined) {
        throw environmentError('TOPOLOGY_NOT_READY', 'there is no physical plan yet', {
          retryable: true,
        });
      }
      if (current.plan.topology.state === state) return;
      if (current.plan.topology.state === 'KILLED') {
        throw environmentError(
          'TOPOLOGY_NOT_READY',
          'the topology is drained: its spouts have ended',
        );
      }
      await this.#replacePlan(current.plan, withState(this.#topologyOf(current), state));
    });
  }

  /** Waits for the change that is being made; begins no other. Idempotent. */
  async close(): Promise<void> {
    this.#isClosed = true;
    this.#retry?.cancel();
    await this.#changes;
  }

  #decide() {
    const { packing } = this.#options;
    return decidePlan({ packing, registered: this.#registered, current: this.current });
  }

  /** Makes the plan that the registrations ask for, now or as soon as the state manager allows. */
  #reconsider(): void {
    const change = this.#enqueue(async () => {
      const decision = this.#decide();
      if (decision.kind !== 'store') return;
      await this.#replacePlan(decision.addresses, this.#topologyOf(this.#store.current));
      this.#backoff.reset();
    });
    change.catch((error: unknown) => this.#onFailure(error));
  }

  #topologyOf(stored: StoredPlan | undefined): TopologyMessage {
    return stored?.message.topology ?? this.#options.submitted;
  }

  async #replacePlan(addresses: Addresses, topology: TopologyMessage): Promise<void> {
    const { stateManager, topologyId, clock, logger, onPlan } = this.#options;
    const { streamManagers, instances } = addresses;
    const epoch = await stateManager.nextEpoch(topologyId);
    const isFirst = this.#store.isEmpty;
    const earlyEnds = isFirst
      ? earlyEndsOf(await readContainerReports(this.#options))
      : this.earlyEnds;
    const addressed = { epoch, streamManagers, instances };
    const message = physicalPlanToMessage(addressed, topology, earlyEnds);
    await this.#store.save(message);
    if (isFirst) this.#firstPlan = { wallMs: clock.wallNow(), monotonicMs: clock.now() };
    logger.info('a physical plan is in force', { epoch, state: this.state });
    onPlan(message);
  }

  #noteReplaced(before: Addresses, after: StreamManagerAddress): void {
    const nowMs = this.#options.clock.wallNow();
    for (const incident of replacedProcesses(before.streamManagers, [after], nowMs)) {
      if (!this.#replaced.has(incident.process)) this.#replaced.set(incident.process, incident);
    }
  }

  #onFailure(error: unknown): void {
    if (!(error instanceof EngineError)) throw error;
    if (this.#isClosed) return;
    const { clock, logger } = this.#options;
    const pauseMs = this.#backoff.next();
    logger.warn(`the physical plan could not be stored: ${error.message}`, { pauseMs, error });
    this.#retry?.cancel();
    this.#retry = clock.after(pauseMs, () => this.#reconsider());
  }

  /** Runs one change after all those before it (K2). */
  #enqueue(change: () => Promise<void>): Promise<void> {
    const result = this.#changes.then(async () => {
      if (this.#isClosed) throw environmentError('CONNECTION_CLOSED', 'the master shuts down');
      await this.#fenced(change);
    });
    this.#changes = result.catch(() => {}); // Whoever asked for the change hears of its failure.
    return result;
  }

  async #fenced(change: () => Promise<void>): Promise<void> {
    try {
      await change();
    } catch (error) {
      if (hasCode(error, 'STALE_EPOCH')) this.#options.onFenced(error);
      throw error;
    }
  }
}
