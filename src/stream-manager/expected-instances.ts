import {
  type ComponentName,
  type ContainerId,
  instanceIdOf,
  type InstanceId,
  type StreamManagerId,
  type TopologyName,
} from '../base/ids.ts';
import { EngineError } from '../base/errors.ts';
import type { Logger } from '../base/logger.ts';
import type { ComponentLanguage } from '../model/logical-topology.ts';
import { isOlderPackingPlan, type PackingPlan } from '../model/packing-plan.ts';
import { paths } from '../state-manager/paths.ts';
import type { StateManager, Watch } from '../state-manager/state-manager.ts';
import { decodePackingPlan } from '../wire/packing-plan.ts';

export interface InstanceExpectationOptions {
  readonly topologyName: TopologyName;
  readonly streamManager: StreamManagerId;
  readonly container: ContainerId;
  /** What the container had when its processes were started. */
  readonly ids: ReadonlySet<InstanceId>;
  readonly languages: ReadonlyMap<ComponentName, ComponentLanguage>;
  readonly stateManager: StateManager;
  readonly logger: Logger;
  /** Others are expected from now on. */
  readonly onChange: () => void;
}

/**
 * Which instances the container is to have, so that they may register: those of the packing plan,
 * among them those that retire. Up to its first word it is those that the executor started with.
 *
 * X1. A packing plan that is older than one that was seen, or that cannot be read, changes nothing.
 * X2. Neither does one that does not have the container any more: the executor ends this process.
 */
export class InstanceExpectation {
  readonly streamManager: StreamManagerId;
  readonly container: ContainerId;
  readonly languages: ReadonlyMap<ComponentName, ComponentLanguage>;
  readonly #options: InstanceExpectationOptions;
  #ids: ReadonlySet<InstanceId>;
  #plan: PackingPlan | undefined;
  #watch: Watch | undefined;

  constructor(options: InstanceExpectationOptions) {
    this.#options = options;
    this.streamManager = options.streamManager;
    this.container = options.container;
    this.languages = options.languages;
    this.#ids = options.ids;
  }

  get ids(): ReadonlySet<InstanceId> {
    return this.#ids;
  }

  start(): void {
    const { stateManager, topologyName } = this.#options;
    this.#watch = stateManager.watch(paths.packingPlan(topologyName), (bytes) => {
      if (bytes !== undefined) this.#handlePlan(bytes); // Absent: the topology is being removed.
    });
  }

  /** Idempotent. */
  close(): void {
    this.#watch?.close();
  }

  #handlePlan(bytes: Uint8Array): void {
    const { logger, onChange } = this.#options;
    const plan = this.#decode(bytes);
    if (plan === undefined) return;
    if (isOlderPackingPlan(plan, this.#plan)) {
      const fields = { epoch: plan.epoch, knownEpoch: this.#plan?.epoch };
      logger.warn('an old packing plan is passed over', fields);
      return;
    }
    this.#plan = plan;
    const ids = instancesOfContainer(plan, this.container);
    if (ids === undefined) {
      logger.info('the packing plan does without this container', { epoch: plan.epoch });
      return;
    }
    if (isSameSet(ids, this.#ids)) return;
    this.#ids = ids;
    logger.info('the container gets other instances', { epoch: plan.epoch, ids: [...ids] });
    onChange();
  }

  #decode(bytes: Uint8Array): PackingPlan | undefined {
    try {
      return decodePackingPlan(bytes);
    } catch (error) {
      if (!(error instanceof EngineError)) throw error;
      const reason = error.message;
      this.#options.logger.error('the packing plan cannot be read; waiting for another one', {
        reason,
      });
      return undefined;
    }
  }
}

/** Pure: the instances of one container; undefined when the plan does not have it. */
export function instancesOfContainer(
  plan: PackingPlan,
  container: ContainerId,
): ReadonlySet<InstanceId> | undefined {
  const planned = plan.containers.find(({ id }) => id === container);
  if (planned === undefined) return undefined;
  return new Set(
    planned.instances.map(({ component, task }) => instanceIdOf(container, component, task)),
  );
}

function isSameSet(one: ReadonlySet<InstanceId>, other: ReadonlySet<InstanceId>): boolean {
  return one.size === other.size && [...one].every((id) => other.has(id));
}
