import { environmentError, hasCode } from '../base/errors.ts';
import type { Epoch, TopologyName } from '../base/ids.ts';
import type { Logger } from '../base/logger.ts';
import type { PhysicalPlan } from '../model/physical-plan.ts';
import { storedTopologyProblems } from '../model/validate-stored.ts';
import { paths } from '../state-manager/paths.ts';
import { sameBytes } from '../state-manager/same-bytes.ts';
import type { StateManager } from '../state-manager/state-manager.ts';
import { StoredPhysicalPlan } from '../wire/messages.ts';
import {
  decodePhysicalPlan,
  notesFromMessage,
  type PhysicalPlanMessage,
  physicalPlanFromMessage,
  withMasterEpoch,
} from '../wire/physical-plan.ts';

/*
  The node `pplans/<topology>`. Each write replaces exactly the plan that this master knows, so that
  a master that was asleep while another one took over cannot undo what that one stored.

  A master that takes over writes its own epoch into the plan, so that from then on no write of an
  older one succeeds.

  What is found instead of the known plan says what has happened:
    what we tried to write          → that write had succeeded although its answer was lost
    a plan of a newer incarnation   → that one is at work: STALE_EPOCH
    no plan, and no topology either → the topology is being removed: TOPOLOGY_NOT_FOUND
    anything else                   → somebody meddled: the next write replaces it

  A plan that cannot be read, or whose topology is not fit to run, counts as meddling too:
  registrations make another one.
*/

export interface StoredPlan {
  readonly bytes: Uint8Array;
  /** For passing on: it keeps what the model does not hold. */
  readonly message: PhysicalPlanMessage;
  readonly plan: PhysicalPlan;
}

export interface PlanStoreOptions {
  readonly stateManager: StateManager;
  readonly logger: Logger;
  readonly topologyName: TopologyName;
  readonly masterEpoch: Epoch;
}

export class PlanStore {
  readonly #options: PlanStoreOptions;
  readonly #path: string;
  #current: StoredPlan | undefined;
  /** What the node holds, as far as we know. */
  #known: Uint8Array | undefined;
  #attempted: Uint8Array | undefined;

  constructor(options: PlanStoreOptions) {
    this.#options = options;
    this.#path = paths.physicalPlan(options.topologyName);
  }

  /** The newest plan that was stored by this master, or found by `load`. */
  get current(): StoredPlan | undefined {
    return this.#current;
  }

  /** True when no plan is known to have been there, not even one that cannot be read. */
  get isEmpty(): boolean {
    return this.#known === undefined;
  }

  /**
   * Reads what is there and takes it over.
   *
   * @throws EngineError STALE_EPOCH, or what the state manager says.
   */
  async load(): Promise<void> {
    let bytes = await this.#options.stateManager.read(this.#path);
    for (;;) {
      const stored = bytes === undefined ? undefined : this.#soundPlan(bytes);
      this.#current = undefined;
      this.#known = bytes;
      if (stored === undefined || (await this.#takeOver(stored))) return;
      bytes = await this.#options.stateManager.read(this.#path);
    }
  }

  #soundPlan(bytes: Uint8Array): StoredPlan | undefined {
    const stored = this.#parse(bytes);
    const problems = stored === undefined ? [] : storedTopologyProblems(stored.plan.topology);
    for (const problem of problems) {
      const message = `${this.#path} is not fit to be in force and will be made again`;
      this.#options.logger.error(message, { problem });
    }
    return problems.length === 0 ? stored : undefined;
  }

  /** True when the plan is ours now; false when an older master has replaced it meanwhile. */
  async #takeOver(stored: StoredPlan): Promise<boolean> {
    const { stateManager, masterEpoch } = this.#options;
    this.#checkFencing(stored);
    const message = withMasterEpoch(stored.message, masterEpoch);
    const bytes = StoredPhysicalPlan.encode(message);
    try {
      await stateManager.replace(this.#path, stored.bytes, bytes);
    } catch (error) {
      if (hasCode(error, 'STATE_CONFLICT')) return false;
      throw error;
    }
    this.#current = { bytes, message, plan: stored.plan };
    this.#known = bytes;
    return true;
  }

  #checkFencing({ message, plan }: StoredPlan): void {
    const { masterEpoch } = this.#options;
    const writer = notesFromMessage(message).masterEpoch;
    if (writer <= masterEpoch) return;
    const text = `topology master ${writer}, a newer one, has stored plan ${plan.epoch}`;
    throw environmentError('STALE_EPOCH', text);
  }

  /** @throws EngineError: see above, besides what the state manager says. */
  async save(message: PhysicalPlanMessage): Promise<void> {
    const bytes = StoredPhysicalPlan.encode(message);
    const attempted = this.#attempted;
    this.#attempted = bytes;
    try {
      await this.#options.stateManager.replace(this.#path, this.#known, bytes);
    } catch (error) {
      if (!hasCode(error, 'STATE_CONFLICT')) throw error;
      const found = await this.#options.stateManager.read(this.#path);
      if (found !== undefined && sameBytes(found, attempted)) {
        await this.#options.stateManager.replace(this.#path, found, bytes);
      } else if (found === undefined || !sameBytes(found, bytes)) {
        await this.#checkMeddling(found);
        this.#known = found;
        throw error;
      }
    }
    this.#current = { bytes, message, plan: physicalPlanFromMessage(message) };
    this.#known = bytes;
  }

  /** Returns when what was found may be replaced. */
  async #checkMeddling(found: Uint8Array | undefined): Promise<void> {
    const { stateManager, topologyName, logger } = this.#options;
    if (found === undefined) {
      const topology = await stateManager.read(paths.topology(topologyName));
      if (topology === undefined) {
        const message = `the topology ${topologyName} has been removed from the state tree`;
        throw environmentError('TOPOLOGY_NOT_FOUND', message);
      }
      logger.warn('the physical plan has vanished and will be stored again');
      return;
    }
    const stored = this.#parse(found);
    if (stored !== undefined) this.#checkFencing(stored);
    logger.warn('the physical plan was changed by someone else', { epoch: stored?.plan.epoch });
  }

  #parse(bytes: Uint8Array): StoredPlan | undefined {
    try {
      const plan = decodePhysicalPlan(bytes);
      return { bytes, message: StoredPhysicalPlan.decode(bytes), plan };
    } catch (error) {
      if (!hasCode(error, 'STATE_CORRUPTED', 'PACKET_MALFORMED')) throw error;
      const message = `${this.#path} cannot be read and will be made again: ${error.message}`;
      this.#options.logger.error(message);
      return undefined;
    }
  }
}
