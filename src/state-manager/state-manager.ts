import type { Epoch, TopologyId } from '../base/ids.ts';

/** A standing interest in one node. */
export interface Watch {
  /** Idempotent; no call happens after it returns. */
  close(): void;
}

/**
 * The port to the store of what must survive: a tree of small nodes, addressed by paths such as
 * `topologies/words` (see `paths.ts`), each holding bytes.
 *
 * S1. A node is written whole or not at all; no reader ever sees half of one.
 * S2. An ephemeral node reads as absent from the moment its owner is known to be dead.
 * S3. A watch is level-triggered: it is called with the value at hand first, then after changes,
 *     always with the newest value. Values in between may be skipped, the last one never.
 *
 * Every method rejects with an EngineError: STATE_UNAVAILABLE (retryable: the store does not
 * answer; a change may have been made all the same), STATE_NOT_WRITABLE (permissions, full or
 * read-only disk, limits of a server), NOT_AUTHORIZED (the store does not let this user),
 * STATE_CONFLICT, STATE_EXISTS as listed below. All calls belong to one thread.
 */
export interface StateManager {
  /** The node's bytes, or undefined when there is none. */
  read(path: string): Promise<Uint8Array | undefined>;
  /** Makes a node. Rejects with STATE_EXISTS when a live one is there. */
  create(
    path: string,
    bytes: Uint8Array,
    options?: { readonly ephemeral?: boolean },
  ): Promise<void>;
  /** Makes or replaces a node, which keeps its kind; a new one is persistent. */
  write(path: string, bytes: Uint8Array): Promise<void>;
  /**
   * Replaces a node only while it still holds `expected` (undefined: only while there is none).
   * Rejects with STATE_CONFLICT otherwise.
   */
  replace(path: string, expected: Uint8Array | undefined, bytes: Uint8Array): Promise<void>;
  /** Removes a node; an absent one counts as success. */
  delete(path: string): Promise<void>;
  /** Names of the nodes right below a folder, sorted; empty when there is no such folder. */
  list(folder: string): Promise<readonly string[]>;
  watch(path: string, onValue: (bytes: Uint8Array | undefined) => void): Watch;
  /** A number greater than every one that was given for this topology id before, by any process. */
  nextEpoch(topology: TopologyId): Promise<Epoch>;
  /** Ends all watches and removes this process's ephemeral nodes. Idempotent. */
  close(): Promise<void>;
}
