import { Backoff } from '../base/backoff.ts';
import type { Clock, Timer } from '../base/clock.ts';
import { EngineError, environmentError, hasCode, userError } from '../base/errors.ts';
import type {
  ComponentName,
  Epoch,
  StreamManagerId,
  TopologyId,
  TopologyName,
} from '../base/ids.ts';
import type { Logger } from '../base/logger.ts';
import type { MachineTime } from '../base/machine-time.ts';
import type { Random } from '../base/random.ts';
import type { Incident } from '../model/completion.ts';
import type { TopologyState } from '../model/logical-topology.ts';
import { parallelismOf } from '../model/packing-plan.ts';
import type { InstanceAddress, PhysicalPlan } from '../model/physical-plan.ts';
import { type RuntimeChange, runtimeChangeProblems } from '../model/runtime-config.ts';
import type { StateManager } from '../state-manager/state-manager.ts';
import { type PhysicalPlanMessage, physicalPlanToMessage } from '../wire/physical-plan.ts';
import { withParallelism, withRuntimeConfig } from '../wire/running-topology.ts';
import { type TopologyMessage, withState } from '../wire/topology.ts';
import type { CommandedTopology } from './control-port.ts';
import { DesiredState } from './desired-state.ts';
import { isJoining, joined } from './joining-tasks.ts';
import { decidePlan, type PlanDecision, phaseOf } from './plan-decision.ts';
import type { PackingKeeper } from './packing-keeper.ts';
import { PlanHistory } from './plan-history.ts';
import { PlanStore, type StoredPlan } from './plan-store.ts';
import { type Addresses, expectedStreamManagers } from './placement.ts';
import type { Registration } from './registration-decision.ts';
import type { Progress } from './stream-manager-server.ts';
import { UpdateProgress } from './update-progress.ts';

/*
  Owns the physical plan: knows who is registered, decides by plan-decision.ts when another plan is
  due, stores it and hands it out.

  K1. A plan is stored before anybody gets it, so that a restarted master knows what is in use.
  K2. Changes happen one after the other, each on top of the last stored plan. A failed one leaves
      that plan in force; what registrations ask for is tried again, a command is refused.
  K3. Every stored plan has an epoch above those of all plans and masters before it.
  K4. What a command has made of the topology, its state and its config, every further plan keeps.
  K5. Once every task has ended the plan stays as it is, whatever the packing plan says.
  K6. Once a newer incarnation is known, nothing is changed any more and every command is refused.
*/

export interface PlanKeeperOptions {
  readonly stateManager: StateManager;
  readonly clock: Clock;
  readonly machineTime: () => MachineTime;
  readonly random: Random;
  readonly logger: Logger;
  readonly topologyName: TopologyName;
  readonly topologyId: TopologyId;
  readonly masterEpoch: Epoch;
  /** The newest packing plan, and what may be done to it (packing-keeper.ts). */
  readonly packing: Pick<PackingKeeper, 'current' | 'adopt' | 'unadopt' | 'settle' | 'mark'>;
  /** As submitted; its state is that of the first plan. */
  readonly submitted: TopologyMessage;
  /** The setting `topology.update.drain.secs`. */
  readonly drainLimitMs: number;
  /** Whether what a component emits can have no effect any more. */
  readonly hasEnded: (component: ComponentName) => boolean;
  /** The same of tasks that came with a plan (completion-decision.ts). */
  readonly hasEndedBefore: (planEpoch: Epoch, component: ComponentName) => boolean;
  /** Whether the plan in force is the last one: all of its tasks have ended. */
  readonly isOver: () => boolean;
  /** Instances that stream managers have lost. */
  readonly lost: () => readonly Incident[];
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
  readonly #history: PlanHistory;
  readonly #progress: UpdateProgress;
  readonly #desired: DesiredState;
  readonly #backoff: Backoff;
  readonly #registered = new Map<StreamManagerId, Registration>();
  readonly #opened = Promise.withResolvers<void>();
  #changes: Promise<void> = this.#opened.promise;
  #retry: Timer | undefined;
  #isClosed = false;

  constructor(options: PlanKeeperOptions) {
    this.#options = options;
    this.#store = new PlanStore(options);
    this.#history = new PlanHistory(options, () => this.#store.current);
    this.#progress = new UpdateProgress({ ...options, onDue: () => this.reconsider() });
    this.#desired = new DesiredState(options);
    this.#backoff = new Backoff(options.random, RETRY_MIN_MS, RETRY_MAX_MS);
  }

  /**
   * Reads what an earlier incarnation has stored; called until it succeeds. Changes that are asked
   * for earlier wait for it.
   *
   * @throws EngineError STALE_EPOCH when a newer master is at work, or what the state manager says.
   */
  async open(): Promise<void> {
    await this.#store.load();
    if (this.current !== undefined) this.#follow(this.current);
    this.#opened.resolve();
    this.reconsider(); // An update that was under way goes on.
  }

  get current(): PhysicalPlan | undefined {
    return this.#store.current?.plan;
  }

  get state(): TopologyState | undefined {
    return this.current?.topology.state;
  }

  /** What the plans remember for the end of the topology. */
  get history(): PlanHistory {
    return this.#history;
  }

  /** Of the packing plan: what is still to come in an update is absent. */
  get absent(): readonly StreamManagerId[] {
    const expected = expectedStreamManagers(this.#options.packing.current);
    return expected.filter((id) => !this.#registered.has(id));
  }

  planBytes(): Uint8Array | undefined {
    const { current } = this.#store;
    const isComplete = current?.plan.streamManagers.every(({ id }) => this.#registered.has(id));
    return isComplete === true ? current?.bytes : undefined;
  }

  /** Notes a stream manager; returns the plan that it can work by at once, if there is one. */
  register(registration: Registration): PhysicalPlanMessage | undefined {
    const { address } = registration;
    // Not only when the next plan is stored: the topology may be complete before it can be.
    if (this.current !== undefined) this.#history.noteReplaced(this.current, address);
    this.#registered.set(address.id, registration);
    const decision = this.#decide();
    this.#logMissing(decision);
    if (decision.kind === 'store' || decision.kind === 'settle') this.reconsider();
    if (decision.kind === 'store' || decision.kind === 'wait') return undefined;
    const { current } = this.#store;
    const isPlanned = current?.plan.streamManagers.some(({ id }) => id === address.id);
    return isPlanned === true ? current?.message : undefined;
  }

  unregister(id: StreamManagerId): void {
    this.#registered.delete(id);
    this.#progress.forget(id);
  }

  /** Notes how far a stream manager is; repeats are harmless. */
  note(id: StreamManagerId, progress: Progress): void {
    if (!this.#progress.note(id, progress) || this.current === undefined) return;
    const phase = phaseOf(this.current, this.#options.packing.current);
    const isAwaited = phase === 'retiring' || phase === 'settling';
    if (isAwaited || this.current.instances.some(isJoining)) this.reconsider();
  }

  /**
   * The state survives everything from the moment on at which this resolves. Before the first plan
   * it is that of the first plan.
   *
   * @throws EngineError TOPOLOGY_NOT_READY once spouts have ended or when they are to end before
   *   the first plan, or what the state manager says.
   */
  setState(state: TopologyState): Promise<void> {
    return this.#enqueue(async () => {
      const { current } = this.#store;
      if (current === undefined) return await this.#desired.set(state);
      if (current.plan.topology.state === state) return;
      if (current.plan.topology.state === 'KILLED') {
        const text = 'the topology is drained: its spouts have ended';
        throw environmentError('TOPOLOGY_NOT_READY', text);
      }
      await this.#replacePlan(current.plan, withState(this.#topologyOf(current), state));
      await this.#desired.note(state);
    });
  }

  /**
   * @throws EngineError INVALID_CONFIG for what cannot change, TOPOLOGY_NOT_READY (retryable)
   *   before the first plan, or what the state manager says.
   */
  setConfig(changes: readonly RuntimeChange[]): Promise<void> {
    return this.#enqueue(async () => {
      const { current } = this.#store;
      if (current === undefined) throw notReady();
      const problems = runtimeChangeProblems(changes, current.plan.topology);
      if (problems.length > 0) throw userError('INVALID_CONFIG', problems.join('; '));
      const topology = withRuntimeConfig(this.#topologyOf(current), changes);
      if (topology !== current.message.topology) await this.#replacePlan(current.plan, topology);
    });
  }

  /** Runs a step between two changes; never once this is closed. */
  inTurn(step: () => void): void {
    // Whoever closes it has no use for the step either.
    this.#enqueue(async () => step()).catch(() => {});
  }

  /** Makes what the facts ask for, now or as soon as the state manager allows. */
  reconsider(): void {
    const change = this.#enqueue(() => this.#converge());
    change.catch((error: unknown) => this.#onFailure(error));
  }

  /** Waits for the change that is being made; begins no other. Idempotent. */
  async close(): Promise<void> {
    this.#isClosed = true;
    this.#retry?.cancel();
    this.#progress.close();
    this.#opened.resolve();
    await this.#changes;
  }

  #decide(): PlanDecision {
    const { packing } = this.#options;
    const { current } = this;
    const registered = this.#registered;
    const facts = { packing: packing.current, registered, current, isSpout: this.#isSpout };
    return decidePlan({ ...this.#options, ...facts, ...this.#progress.facts });
  }

  /** Step by step: a stored plan may be the reason for the next one. */
  async #converge(): Promise<void> {
    while (!this.#isClosed) {
      const decision = this.#decide();
      switch (decision.kind) {
        case 'store': {
          const { addresses, isAdoption, cutShort } = decision;
          if (isAdoption) await this.#options.packing.adopt();
          await this.#replacePlan(addresses, this.#topologyOf(this.#store.current), cutShort);
          break;
        }
        case 'mark':
          await this.#options.packing.mark(decision.tasks);
          break;
        case 'unadopt':
          await this.#options.packing.unadopt();
          break;
        case 'settle':
          await this.#options.packing.settle();
          break;
        case 'wait':
          return;
        case 'keep':
          if (decision.phase === 'settling') this.#progress.awaitAdoption();
          return;
      }
      this.#backoff.reset();
    }
  }

  readonly #isSpout = (component: ComponentName): boolean =>
    this.current?.topology.components.find(({ name }) => name === component)?.kind === 'spout';

  #topologyOf(stored: StoredPlan | undefined): TopologyMessage {
    return stored?.message.topology ?? this.#desired.topology;
  }

  async #replacePlan(
    addresses: Addresses,
    topology: TopologyMessage,
    cutShort: readonly InstanceAddress[] = [],
  ): Promise<void> {
    const { stateManager, topologyId, logger, onPlan } = this.#options;
    const { streamManagers } = addresses;
    const epoch = await stateManager.nextEpoch(topologyId);
    const instances = addresses.instances.map((instance) => joined(instance, epoch));
    const { isEmpty: isFirst, current: before } = this.#store;
    const notes = await this.#history.notesFor({ before, isFirst, addresses, cutShort });
    const counted = withParallelism(topology, parallelismOf(instances));
    const message = physicalPlanToMessage({ epoch, streamManagers, instances }, counted, notes);
    await this.#store.save(message);
    if (isFirst) this.#history.noteFirstPlan();
    for (const { id } of cutShort) logger.error('an update takes a task away too early', { id });
    logger.info('a physical plan is in force', { epoch, state: this.state });
    if (this.current !== undefined) this.#follow(this.current);
    onPlan(message);
  }

  #follow(plan: PhysicalPlan): void {
    this.#progress.follow(plan, this.#history.retiringSinceMs);
  }

  #logMissing(decision: PlanDecision): void {
    if (decision.kind !== 'wait' && decision.kind !== 'keep') return;
    const { logger } = this.#options;
    const { missing } = decision;
    if (missing.length > 0) {
      const fields = { count: missing.length, first: missing.slice(0, MISSING_NAMED) };
      logger.info('stream managers are missing', fields);
    }
    if (decision.kind === 'wait' || decision.ended.length === 0) return;
    logger.warn('an update comes too late: input has ended', { components: decision.ended });
  }

  #onFailure(error: unknown): void {
    if (!(error instanceof EngineError)) throw error;
    if (this.#isClosed) return;
    const { clock, logger } = this.#options;
    const pauseMs = this.#backoff.next();
    logger.warn(`the plan could not be stored: ${error.message}`, { pauseMs, error });
    this.#retry?.cancel();
    this.#retry = clock.after(pauseMs, () => this.reconsider());
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
      if (hasCode(error, 'STALE_EPOCH')) {
        this.#isClosed = true; // K6
        this.#progress.close();
        this.#options.onFenced(error);
      }
      throw error;
    }
  }
}

function notReady(): EngineError {
  const text = 'there is no physical plan yet';
  return environmentError('TOPOLOGY_NOT_READY', text, { retryable: true });
}
