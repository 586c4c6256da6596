import type { Timer } from '../../base/clock.ts';
import { messageOf } from '../../base/errors.ts';
import type { StateManager, Watch } from '../../state-manager/state-manager.ts';
import { ClusterFollower, type FollowerOptions } from './cluster-follower.ts';
import { type NodeAddress, nodePathOf } from './stored-node.ts';
import type { TrackedTopology } from './tracked-topology.ts';

/** Topologies come and go by hand: nobody waits for a list that is this old. */
const LOOK_PERIOD_MS = 2_000;

/** Has the store tell of changes of each node; only which topologies there are is asked for. */
export class WatchingFollower extends ClusterFollower {
  readonly #watches = new Map<TrackedTopology, Map<NodeAddress, Watch>>();
  #timer: Timer | undefined;
  /** Whether the last look got its answer. */
  #hasAnswered = false;

  constructor(options: FollowerOptions, stateManager: StateManager) {
    super(options, stateManager);
    void this.#look();
  }

  override close(): void {
    super.close();
    this.#timer?.cancel();
    for (const topology of this.#watches.keys()) this.forget(topology);
  }

  protected override forget(topology: TrackedTopology): void {
    for (const watch of this.#watches.get(topology)?.values() ?? []) watch.close();
    this.#watches.delete(topology);
  }

  async #look(): Promise<void> {
    try {
      this.#hasAnswered = await this.lookForTopologies();
      if (this.#hasAnswered) {
        for (const topology of this.topologies.values()) {
          // A node that cannot be watched is not waited for beyond one look.
          if (this.#watches.has(topology)) this.showNow(topology);
          this.#follow(topology);
        }
        this.storeIsThere();
      }
    } catch (error) {
      this.#hasAnswered = false;
      this.storeIsAway(error);
    }
    if (this.isClosed) return;
    this.#timer = this.options.clock.after(LOOK_PERIOD_MS, () => void this.#look());
  }

  /** Begins what is missing and ends what is not wanted any more. */
  #follow(topology: TrackedTopology): void {
    const watches = this.#watches.get(topology) ?? new Map<NodeAddress, Watch>();
    this.#watches.set(topology, watches);
    const wanted = new Set(topology.wanted);
    for (const [address, watch] of watches) {
      if (wanted.has(address)) continue;
      watch.close();
      watches.delete(address);
    }
    for (const address of wanted) {
      if (!watches.has(address)) watches.set(address, this.#watch(topology, address));
    }
  }

  #watch(topology: TrackedTopology, address: NodeAddress): Watch {
    return this.stateManager.watch(nodePathOf(topology.name, address), (bytes) => {
      if (!topology.take(address, { bytes })) return;
      this.changed();
      if (address === 'packingPlan') this.#followLater(topology);
      if (this.#hasAnswered) this.storeIsThere();
    });
  }

  /** Its reports are wanted now; a watch must not be opened while another one is being told of. */
  #followLater(topology: TrackedTopology): void {
    this.options.clock.soon(() => {
      if (this.isClosed || this.topologies.get(topology.name) !== topology) return;
      try {
        this.#follow(topology);
      } catch (error) {
        this.options.logger.warn('reports cannot be watched', { reason: messageOf(error) });
      }
    });
  }
}
