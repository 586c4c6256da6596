/** What ZooKeeper knows about a node besides its data. Transaction numbers (zxid) only grow. */
export interface NodeStat {
  /** The transaction that made the node: tells it from an earlier one of the same path. */
  readonly createdZxid: bigint;
  /** The transaction that last changed its data. */
  readonly modifiedZxid: bigint;
  /** Milliseconds since the epoch, by the leader's clock. */
  readonly createdAtMs: number;
  readonly modifiedAtMs: number;
  /** Counts changes of the data; 0 for a new node. What `setData` and `delete` compare. */
  readonly version: number;
  readonly childrenVersion: number;
  readonly accessVersion: number;
  /** The session that the node lives and dies with; 0 for a persistent node. */
  readonly ephemeralOwner: bigint;
  readonly dataBytes: number;
  readonly childrenCount: number;
  /** The transaction that last added or removed a child. */
  readonly childrenZxid: bigint;
}

export interface NodeData {
  /** The caller's own memory; empty for a node without data. */
  readonly data: Uint8Array;
  readonly stat: NodeStat;
}

/** How long a node lives, and whether the server completes its name with ten digits. */
export type NodeMode =
  | 'persistent'
  | 'ephemeral'
  | 'persistent-sequential'
  | 'ephemeral-sequential';

/** One entry of a node's access list. */
export interface AccessRule {
  readonly scheme: string;
  readonly identity: string;
  readonly permissions: number;
}

/** ZooKeeper's bits: read 1, write 2, create 4, delete 8, administer 16. */
const ALL_PERMISSIONS = 31;

/** Everybody may do everything: what all of Heron writes. */
export const OPEN_ACCESS: readonly AccessRule[] = [
  { scheme: 'world', identity: 'anyone', permissions: ALL_PERMISSIONS },
];

/** Only who proves the identity that its maker proved may do anything. */
export const CREATOR_ACCESS: readonly AccessRule[] = [
  { scheme: 'auth', identity: '', permissions: ALL_PERMISSIONS },
];

/** A proof of identity, such as `digest` with the bytes of `user:password`. */
export interface Credential {
  readonly scheme: string;
  readonly secret: Uint8Array;
}

/** One part of a `multi`, which happens whole or not at all. */
export type NodeChange =
  | {
      readonly kind: 'create';
      readonly path: string;
      readonly data: Uint8Array;
      readonly mode?: NodeMode;
    }
  | {
      readonly kind: 'set';
      readonly path: string;
      readonly data: Uint8Array;
      readonly version?: number;
    }
  | { readonly kind: 'delete'; readonly path: string; readonly version?: number }
  | { readonly kind: 'check'; readonly path: string; readonly version: number };

export interface WatchEvent {
  /** `lost`: the session is over, and nobody watches any more. */
  readonly kind: 'created' | 'deleted' | 'changed' | 'children' | 'lost';
  /** As the path was given to the client, below its chroot. */
  readonly path: string;
}

/** Called once at most: a watch ends with what it tells. */
export type Watcher = (event: WatchEvent) => void;
