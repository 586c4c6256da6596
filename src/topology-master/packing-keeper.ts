import { messageOf } from '../base/errors.ts';
import type { Epoch, TaskId, TopologyId, TopologyName } from '../base/ids.ts';
import type { Logger } from '../base/logger.ts';
import type { LogicalTopology } from '../model/logical-topology.ts';
import { adopted, isAdopted, unadopted } from '../model/adopted-packing.ts';
import { isOlderPackingPlan, type PackingPlan } from '../model/packing-plan.ts';
import { repeated } from '../model/repeated.ts';
import { settledPacking } from '../model/settled-packing.ts';
import { storedPackingProblems } from '../model/validate-stored.ts';
import { paths } from '../state-manager/paths.ts';
import { sameBytes } from '../state-manager/same-bytes.ts';
import type { StateManager, Watch } from '../state-manager/state-manager.ts';
import { decodePackingPlan, encodePackingPlan } from '../wire/packing-plan.ts';

/*
  The node `packingplans/<topology>`, which every `heron update` replaces.

  N1. The newest plan counts: one that is damaged, that is another topology's or that has a lower
      epoch than the one that is known is passed over, with one line in the log.
  N2. The master writes it for three reasons only: to mark it before it is put in force, or to take
      the mark back when it cannot be, to take out the retiring tasks that have gone, and to mark
      those that somebody has overlooked; and only while it still holds the plan that is known, or
      one that was passed over: that is mended so.
*/

export interface PackingKeeperOptions {
  readonly stateManager: StateManager;
  readonly logger: Logger;
  readonly topologyName: TopologyName;
  readonly topologyId: TopologyId;
  readonly topology: LogicalTopology;
  readonly initial: PackingPlan;
  /** The node's content; undefined when something else stands in for a damaged one. */
  readonly initialBytes: Uint8Array | undefined;
  /** Another plan counts from now on. */
  readonly onChange: () => void;
}

export class PackingKeeper {
  readonly #options: PackingKeeperOptions;
  readonly #path: string;
  #current: PackingPlan;
  /** What the master may replace: the plan that counts, or what was passed over after it. */
  #bytes: Uint8Array | undefined;
  /** What was looked at last: a plan that is passed over is so once. */
  #seen: Uint8Array | undefined;
  #watch: Watch | undefined;

  constructor(options: PackingKeeperOptions) {
    this.#options = options;
    this.#path = paths.packingPlan(options.topologyName);
    this.#current = options.initial;
    this.#bytes = options.initialBytes;
    this.#seen = options.initialBytes;
  }

  get current(): PackingPlan {
    return this.#current;
  }

  open(): void {
    this.#watch = this.#options.stateManager.watch(this.#path, (bytes) => this.#look(bytes));
  }

  /** Idempotent. */
  close(): void {
    this.#watch?.close();
  }

  /**
   * Looks whether there is a newer plan than the watch has told of.
   *
   * @throws EngineError what the state manager says.
   */
  async refresh(): Promise<void> {
    this.#look(await this.#options.stateManager.read(this.#path));
  }

  /**
   * Marks the plan as about to be in force (model/adopted-packing.ts).
   *
   * @throws EngineError as `settle` does.
   */
  async adopt(): Promise<void> {
    const plan = this.#current;
    if (!isAdopted(plan)) await this.#remark(adopted(plan));
  }

  /**
   * Takes the mark back: the plan cannot be in force for now.
   *
   * @throws EngineError as `settle` does.
   */
  async unadopt(): Promise<void> {
    await this.#remark(unadopted(this.#current));
    this.#options.logger.info('another update may take the place of the packing plan', {
      packingEpoch: this.#current.epoch,
    });
  }

  /**
   * Takes the retiring tasks out of the plan.
   *
   * @throws EngineError STATE_CONFLICT when another plan has come in between, of which the watch
   *   tells, or what the state manager says.
   */
  async settle(): Promise<void> {
    const epoch = await this.#replace(settledPacking);
    this.#options.logger.info('the update has finished', { packingEpoch: epoch });
  }

  /**
   * Marks tasks as retiring. Updates heed the mark of `adopt` and make no plan that needs it; one
   * that was written by hand, or by a version without that mark, would bring back numbers of tasks.
   *
   * @throws EngineError as `settle` does.
   */
  async mark(tasks: ReadonlySet<TaskId>): Promise<void> {
    const epoch = await this.#replace((plan) => withRetiring(plan, tasks));
    const fields = { packingEpoch: epoch, tasks: [...tasks] };
    this.#options.logger.warn('the packing plan keeps tasks that are retiring already', fields);
  }

  /** The same plan, marked or not. */
  async #remark(plan: PackingPlan): Promise<void> {
    if (plan === this.#current) return;
    const bytes = encodePackingPlan(plan);
    await this.#options.stateManager.replace(this.#path, this.#bytes, bytes);
    this.#look(bytes);
  }

  async #replace(change: (plan: PackingPlan) => PackingPlan): Promise<Epoch> {
    const { stateManager, topologyId } = this.#options;
    const [plan, known] = [this.#current, this.#bytes];
    const epoch = await stateManager.nextEpoch(topologyId);
    const bytes = encodePackingPlan({ ...change(plan), epoch });
    await stateManager.replace(this.#path, known, bytes);
    this.#look(bytes);
    return epoch;
  }

  #look(bytes: Uint8Array | undefined): void {
    // Gone, when the topology is being removed: its processes are ended soon.
    if (bytes === undefined || sameBytes(bytes, this.#seen)) return;
    this.#seen = bytes;
    const plan = this.#read(bytes);
    if (plan === undefined) return;
    const { topology, logger, onChange } = this.#options;
    const before = this.#current;
    this.#current = plan;
    this.#bytes = bytes;
    for (const problem of storedPackingProblems(plan, topology)) {
      logger.error('the packing plan does not fit its topology', { problem });
    }
    if (plan.epoch !== undefined && plan.epoch === before.epoch) return; // But for its mark.
    logger.info('there is another packing plan', { packingEpoch: plan.epoch });
    onChange();
  }

  /** N1 */
  #read(bytes: Uint8Array): PackingPlan | undefined {
    try {
      const plan = decodePackingPlan(bytes);
      const reason = unusable(plan, this.#current);
      if (reason === undefined) return plan;
      this.#options.logger.warn('a packing plan is passed over', { reason });
      if (plan.id === this.#current.id) this.#bytes = bytes;
    } catch (error) {
      const reason = messageOf(error);
      this.#bytes = bytes;
      this.#options.logger.error('a packing plan is passed over: it is damaged', { reason });
    }
    return undefined;
  }
}

/** Why a plan cannot take the place of another one. */
function unusable(plan: PackingPlan, known: PackingPlan): string | undefined {
  if (plan.id !== known.id) return `it is that of ${plan.id}, not of ${known.id}`;
  if (isOlderPackingPlan(plan, known)) {
    return `its epoch is ${plan.epoch ?? 0}, that of the one in use is ${known.epoch}`;
  }
  const tasks = plan.containers.flatMap(({ instances }) => instances);
  if (!tasks.some(({ isRetiring }) => isRetiring !== true)) return 'nothing stays in it';
  const [twice] = repeated(tasks.map(({ task }) => task));
  return twice === undefined ? undefined : `task ${twice} is there twice`;
}

function withRetiring(plan: PackingPlan, tasks: ReadonlySet<TaskId>): PackingPlan {
  const containers = plan.containers.map((container) => ({
    ...container,
    instances: container.instances.map((instance) =>
      tasks.has(instance.task) ? { ...instance, isRetiring: true } : instance,
    ),
  }));
  return { ...plan, containers };
}
