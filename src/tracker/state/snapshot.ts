import type { TopologyView } from './topology-view.ts';

/*
  Everything that is known of all clusters at one moment. Requests read this and nothing else of the
  state stores: a store that is slow or away costs them nothing.
*/

export interface Snapshot {
  /** In the order in which the clusters were given. */
  readonly clusters: readonly ClusterView[];
  /** Grows with every change. */
  readonly version: number;
}

export interface ClusterView {
  readonly name: string;
  /** The address of its state store, without secrets. */
  readonly address: string;
  readonly store: StoreState;
  /** By name, sorted; the last known ones while the store is away. */
  readonly topologies: readonly TopologyView[];
}

/**
 * - `connecting`: nothing has been read yet.
 * - `reachable`: what is shown is what is there.
 * - `away`: what is shown is what was there.
 */
export type StoreState =
  | { readonly at: 'connecting' }
  | { readonly at: 'reachable' }
  /** `sinceMs`: milliseconds since the epoch. */
  | { readonly at: 'away'; readonly reason: string; readonly sinceMs: number };

export interface Subscription {
  /** Idempotent; no call happens after it returns. */
  close(): void;
}

export interface SnapshotSource {
  now(): Snapshot;
  /** Called after every change; several changes may be one call. */
  onChange(listener: () => void): Subscription;
  /**
   * What the topology's processes demand of those who ask them, undefined where there is none, as
   * in topologies of Heron, or where it may not be read. Never part of an answer.
   */
  tokenOf(view: TopologyView): string | undefined;
}
