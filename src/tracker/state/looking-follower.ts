import type { Timer } from '../../base/clock.ts';
import { hasCode, messageOf } from '../../base/errors.ts';
import type { StateManager } from '../../state-manager/state-manager.ts';
import { ClusterFollower, type FollowerOptions } from './cluster-follower.ts';
import { type FoundNode, type NodeAddress, nodePathOf } from './stored-node.ts';
import type { TrackedTopology } from './tracked-topology.ts';

/** A change is seen within this time and that of one pass. */
const PAUSE_MIN_MS = 1_000;
/** Passes take at most a fifth of the time, unless the tree is a huge one. */
const PAUSE_PER_PASS = 4;
/** People wait for what a pass finds, also on a machine that has no time for it. */
const PAUSE_MAX_MS = 5_000;
/** As many as Node's threads for files can work on, and as many again that wait for them. */
const READS_AT_ONCE = 8;

/** Reads all nodes of all topologies, one pass after the other. */
export class LookingFollower extends ClusterFollower {
  #timer: Timer | undefined;

  constructor(options: FollowerOptions, stateManager: StateManager) {
    super(options, stateManager);
    void this.#pass();
  }

  override close(): void {
    super.close();
    this.#timer?.cancel();
  }

  /** Nothing is kept for it here. */
  protected override forget(): void {}

  async #pass(): Promise<void> {
    const { clock } = this.options;
    const startedMs = clock.now();
    try {
      if (await this.lookForTopologies()) {
        for (const topology of this.topologies.values()) {
          await this.#look(topology);
          this.showNow(topology);
        }
        this.storeIsThere();
      }
    } catch (error) {
      this.storeIsAway(error);
    }
    if (this.isClosed) return;
    const wantedMs = PAUSE_PER_PASS * (clock.now() - startedMs);
    const pauseMs = Math.min(Math.max(wantedMs, PAUSE_MIN_MS), PAUSE_MAX_MS);
    this.#timer = clock.after(pauseMs, () => void this.#pass());
  }

  async #look(topology: TrackedTopology): Promise<void> {
    // A packing plan that comes in this pass names further nodes.
    const seen = new Set<NodeAddress>();
    for (let round = 0; round < 2; round += 1) {
      const wanted = topology.wanted.filter((address) => !seen.has(address));
      for (let at = 0; at < wanted.length; at += READS_AT_ONCE) {
        const few = wanted.slice(at, at + READS_AT_ONCE);
        await Promise.all(few.map((address) => this.#read(topology, address)));
        if (this.isClosed) return;
      }
      for (const address of wanted) seen.add(address);
    }
  }

  async #read(topology: TrackedTopology, address: NodeAddress): Promise<void> {
    let found: FoundNode;
    try {
      found = { bytes: await this.stateManager.read(nodePathOf(topology.name, address)) };
    } catch (error) {
      if (hasCode(error, 'STATE_UNAVAILABLE')) throw error;
      found = { problem: messageOf(error) };
    }
    if (topology.take(address, found)) this.changed();
  }
}
