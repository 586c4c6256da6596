import type { Clock } from '../../base/clock.ts';
import type { Logger } from '../../base/logger.ts';
import type { ClusterFollower } from './cluster-follower.ts';
import { LookingFollower } from './looking-follower.ts';
import type { ClusterView, Snapshot, SnapshotSource, Subscription } from './snapshot.ts';
import { type AskRegistrations, RegistrationWatch } from './registration-watch.ts';
import type { TopologyView } from './topology-view.ts';
import type { TrackedCluster } from './tracked-cluster.ts';
import { WatchingFollower } from './watching-follower.ts';

export interface SnapshotStoreOptions {
  readonly clusters: readonly TrackedCluster[];
  readonly clock: Clock;
  readonly logger: Logger;
  /** Asks topology masters, which then are not only read of; nobody is asked unless given. */
  readonly askRegistrations?: AskRegistrations;
}

interface Followed {
  readonly cluster: TrackedCluster;
  /** Undefined for a cluster that cannot be opened. */
  readonly follower: ClusterFollower | undefined;
  readonly registrations?: RegistrationWatch | undefined;
}

/** Follows all clusters, each on its own, and puts together what is known of them. */
export class SnapshotStore implements SnapshotSource {
  readonly #followed: readonly Followed[];
  readonly #clock: Clock;
  readonly #openedAtMs: number;
  readonly #listeners = new Set<() => void>();
  #snapshot: Snapshot | undefined;
  #version = 0;
  #isTelling = false;
  #isClosed = false;

  constructor({ clusters, clock, logger, askRegistrations: ask }: SnapshotStoreOptions) {
    this.#clock = clock;
    this.#openedAtMs = clock.wallNow();
    const onChange = (): void => this.#changed();
    this.#followed = clusters.map((cluster) => {
      const { stateManager, following } = cluster;
      if (stateManager === undefined) return { cluster, follower: undefined };
      const Follower = following === 'looks' ? LookingFollower : WatchingFollower;
      const follower = new Follower({ cluster, clock, logger, onChange }, stateManager);
      // Each cluster's own: masters that do not answer hold up no other cluster's.
      const registrations =
        ask &&
        new RegistrationWatch({
          clock,
          ask,
          topologies: () => follower.tracked,
          onChange: () => follower.told(),
        });
      return { cluster, follower, registrations };
    });
  }

  now(): Snapshot {
    this.#snapshot ??= {
      version: this.#version,
      clusters: this.#followed.map(
        ({ cluster, follower }) => follower?.view ?? this.#unopened(cluster),
      ),
    };
    return this.#snapshot;
  }

  onChange(listener: () => void): Subscription {
    // One of its own, so that the same function may listen twice.
    const own = (): void => listener();
    this.#listeners.add(own);
    return { close: () => void this.#listeners.delete(own) };
  }

  tokenOf({ trackedCluster, name }: TopologyView): string | undefined {
    const found = this.#followed.find(({ cluster }) => cluster.name === trackedCluster);
    return found?.follower?.tokenOf(name);
  }

  /** Ends following. Idempotent; what was known last can still be asked for. */
  close(): void {
    this.now();
    this.#isClosed = true;
    this.#listeners.clear();
    for (const { follower, registrations } of this.#followed) {
      follower?.close();
      registrations?.close();
    }
  }

  #unopened({ name, address, problem = 'it cannot be opened' }: TrackedCluster): ClusterView {
    const store = { at: 'away', reason: problem, sinceMs: this.#openedAtMs } as const;
    return { name, address, store, topologies: [] };
  }

  /** Many nodes are read in one turn; listeners hear of them once. */
  #changed(): void {
    if (this.#isClosed) return;
    this.#snapshot = undefined;
    this.#version += 1;
    if (this.#isTelling) return;
    this.#isTelling = true;
    this.#clock.soon(() => {
      this.#isTelling = false;
      for (const listener of this.#listeners) listener();
    });
  }
}
