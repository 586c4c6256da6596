import type { Clock } from '../../base/clock.ts';
import { messageOf } from '../../base/errors.ts';
import { type TopologyName, topologyName } from '../../base/ids.ts';
import type { Logger } from '../../base/logger.ts';
import { paths } from '../../state-manager/paths.ts';
import type { StateManager } from '../../state-manager/state-manager.ts';
import type { ClusterView, StoreState } from './snapshot.ts';
import type { TrackedCluster } from './tracked-cluster.ts';
import { TrackedTopology } from './tracked-topology.ts';

export interface FollowerOptions {
  readonly cluster: TrackedCluster;
  readonly clock: Clock;
  readonly logger: Logger;
  /** Called after every change of `view`. */
  readonly onChange: () => void;
}

/** Where topologies are known by name; a command that died may have left one of them alone. */
const FOLDERS = [paths.topologies, paths.executionStates, paths.completedTopologies];

/**
 * Follows all topologies of one cluster. Which there are is read again and again, and so it shows
 * whether the store is there; how their nodes are followed is up to the subclasses.
 *
 * F1. A store that is away leaves everything as it was last seen.
 * F2. Followers share nothing, so one whose store does not answer holds up no other.
 */
export abstract class ClusterFollower {
  protected readonly options: FollowerOptions;
  protected readonly stateManager: StateManager;
  protected readonly topologies = new Map<TopologyName, TrackedTopology>();
  protected isClosed = false;
  #store: StoreState = { at: 'connecting' };
  #view: ClusterView | undefined;

  constructor(options: FollowerOptions, stateManager: StateManager) {
    this.options = options;
    this.stateManager = stateManager;
  }

  get view(): ClusterView {
    const { name, address } = this.options.cluster;
    this.#view ??= {
      name,
      address,
      store: this.#store,
      topologies: [...this.topologies.values()]
        .filter(({ isShown }) => isShown)
        .map((topology) => topology.view)
        .toSorted((left, right) => (left.name < right.name ? -1 : 1)),
    };
    return this.#view;
  }

  /** Those that are shown. */
  get tracked(): readonly TrackedTopology[] {
    return [...this.topologies.values()].filter(({ isShown }) => isShown);
  }

  /** Something else is known of a topology than by its nodes. */
  told(): void {
    this.changed();
  }

  tokenOf(name: TopologyName): string | undefined {
    return this.topologies.get(name)?.token;
  }

  /** Idempotent; nothing changes afterwards. The state manager is not closed. */
  close(): void {
    this.isClosed = true;
  }

  protected abstract forget(topology: TrackedTopology): void;

  /** One look at which topologies there are; false when the store did not say. */
  protected async lookForTopologies(): Promise<boolean> {
    let names: ReadonlySet<string>;
    try {
      const lists = await Promise.all(FOLDERS.map((folder) => this.stateManager.list(folder)));
      names = new Set(lists.flat());
    } catch (error) {
      this.storeIsAway(error);
      return false;
    }
    if (this.isClosed) return false;
    for (const topology of this.topologies.values()) {
      if (names.has(topology.name)) continue;
      this.topologies.delete(topology.name);
      this.forget(topology);
      this.changed();
    }
    for (const name of names) this.#add(topologyName(name));
    return true;
  }

  /** The store has answered; what is shown of it is complete when no topology is missing. */
  protected storeIsThere(): void {
    if (this.#store.at === 'reachable' || this.isClosed) return;
    if (![...this.topologies.values()].every(({ isShown }) => isShown)) return;
    this.#store = { at: 'reachable' };
    this.changed();
  }

  protected storeIsAway(error: unknown): void {
    if (this.isClosed) return;
    const { clock, logger, cluster } = this.options;
    const reason = messageOf(error);
    const known = this.#store;
    if (known.at === 'away' && known.reason === reason) return;
    logger.warn('the state store of a cluster is away', { cluster: cluster.name, reason });
    const sinceMs = known.at === 'away' ? known.sinceMs : clock.wallNow();
    this.#store = { at: 'away', reason, sinceMs };
    this.changed();
  }

  protected showNow(topology: TrackedTopology): void {
    if (topology.isShown) return;
    topology.show();
    this.changed();
  }

  protected changed(): void {
    this.#view = undefined;
    if (!this.isClosed) this.options.onChange();
  }

  #add(name: TopologyName): void {
    if (this.topologies.has(name)) return;
    this.topologies.set(name, new TrackedTopology(this.options.cluster.name, name));
    this.changed();
  }
}
