import type { Clock, Timer } from '../../base/clock.ts';
import { messageOf } from '../../base/errors.ts';
import type { Logger } from '../../base/logger.ts';
import type { ProcessIdentity } from '../../base/process-identity.ts';
import { sameBytes } from '../same-bytes.ts';
import type { Watch } from '../state-manager.ts';
import type { NodeData, NodeStat } from './node-records.ts';
import type { OwnerRecords } from './owner-records.ts';
import { absentAs, nodePath } from './tree-access.ts';
import type { ZooKeeperClient } from './zookeeper-client.ts';

/** Twice a second, so that the death of an owner is found within one. */
const OWNER_PERIOD_MS = 500;
/** Before a node that could not be read is read again, unless a connection comes first. */
const RETRY_PAUSE_MS = 1_000;

export interface NodeFollowerOptions {
  readonly path: string;
  readonly onValue: (bytes: Uint8Array | undefined) => void;
  readonly owners: OwnerRecords;
  readonly clock: Clock;
  readonly logger: Logger;
  /** Runs a look with the session of now; rejects when there is no answer in time. */
  readonly run: <Result>(look: (client: ZooKeeperClient) => Promise<Result>) => Promise<Result>;
}

interface SeenNode {
  readonly bytes: Uint8Array | undefined;
  /** F5. */
  readonly owner: ProcessIdentity | undefined;
}

/*
  Follows one node by level (S3). ZooKeeper's watches are told once, and say that something
  happened, not what. So:

  F1. Each look arms a watch together with its read, so no change falls between the two; whatever
      is told causes another look.
  F2. A look also follows every connection and the loss of a session, which took all watches along.
  F3. Looks do not overlap. What happens during one causes another after it.
  F4. The values come over one session after the other, none of which goes back in time; so the last
      one is the newest. A node that cannot be read leaves the last value standing.
  F5. An ephemeral node whose owner can be judged from here is followed by its owner's life, too:
      ZooKeeper would tell of a killed one only when its session has run out (owner-records.ts).
*/
export class NodeFollower implements Watch {
  readonly #options: NodeFollowerOptions;
  #told: { readonly bytes: Uint8Array | undefined } | undefined;
  #isLooking = false;
  #isStale = false;
  #isFailing = false;
  #isClosed = false;
  #retry: Timer | undefined;
  #ownerLook: Timer | undefined;
  /** One function, so that a client which knows it does not call it twice. */
  readonly #onEvent = (): void => this.wake();

  constructor(options: NodeFollowerOptions) {
    this.#options = options;
    this.wake();
  }

  /** F1, F2. */
  wake(): void {
    if (this.#isClosed) return;
    this.#isStale = true;
    if (!this.#isLooking) void this.#lookWhileStale();
  }

  close(): void {
    this.#isClosed = true;
    this.#retry?.cancel();
    this.#ownerLook?.cancel();
  }

  async #lookWhileStale(): Promise<void> {
    this.#isLooking = true;
    while (this.#isStale && !this.#isClosed) {
      this.#isStale = false;
      await this.#look();
    }
    this.#isLooking = false;
  }

  async #look(): Promise<void> {
    this.#retry?.cancel();
    let seen: SeenNode;
    try {
      seen = await this.#options.run((client) => this.#see(client));
    } catch (error) {
      if (this.#isClosed) return;
      this.#warnOnce(error);
      this.#retry = this.#options.clock.after(RETRY_PAUSE_MS, () => this.wake());
      return;
    }
    this.#isFailing = false;
    if (this.#isClosed) return;
    this.#followOwner(seen.owner);
    this.#tell(seen.bytes);
  }

  async #see(client: ZooKeeperClient): Promise<SeenNode> {
    const { path, owners } = this.#options;
    const found = await this.#readAndArm(client);
    if (found === undefined) return { bytes: undefined, owner: undefined };
    const owner = await owners.judgeableOwner(client, path, found.stat);
    if (owner === undefined || !owners.isDead(owner)) return { bytes: found.data, owner };
    // Not awaited: the watcher should hear at once, and may have no right to write.
    void this.#removeLeftOver(client, found.stat);
    return { bytes: undefined, owner: undefined };
  }

  /** F1; a watch for its making is armed where there is no node. */
  async #readAndArm(client: ZooKeeperClient): Promise<NodeData | undefined> {
    const path = nodePath(this.#options.path);
    for (;;) {
      const found = await absentAs(undefined, client.getData(path, this.#onEvent));
      if (found !== undefined) return found;
      if ((await client.exists(path, this.#onEvent)) === undefined) return undefined;
    }
  }

  async #removeLeftOver(client: ZooKeeperClient, stat: NodeStat): Promise<void> {
    const { path, owners, logger } = this.#options;
    try {
      await owners.removeWithNode(client, path, stat);
      logger.info('removed the state node of a dead process', { path });
    } catch (error) {
      // It goes with its session.
      const reason = messageOf(error);
      logger.debug('cannot remove the state node of a dead process', { path, reason });
    }
  }

  /** F5. */
  #followOwner(owner: ProcessIdentity | undefined): void {
    this.#ownerLook?.cancel();
    if (owner === undefined) return;
    const { clock, owners } = this.#options;
    this.#ownerLook = clock.every(OWNER_PERIOD_MS, () => {
      if (owners.isDead(owner)) this.wake();
    });
  }

  #tell(bytes: Uint8Array | undefined): void {
    if (this.#told !== undefined && sameBytes(this.#told.bytes, bytes)) return;
    this.#told = { bytes };
    this.#options.onValue(bytes && new Uint8Array(bytes));
  }

  #warnOnce(error: unknown): void {
    if (this.#isFailing) return;
    this.#isFailing = true;
    this.#options.logger.warn('a watched state node cannot be read; its last value stands', {
      path: this.#options.path,
      reason: messageOf(error),
    });
  }
}
