import { Backoff } from '../base/backoff.ts';
import type { Clock, Timer } from '../base/clock.ts';
import { EngineError, messageOf } from '../base/errors.ts';
import type { TopologyId, TopologyName } from '../base/ids.ts';
import type { Logger } from '../base/logger.ts';
import type { Random } from '../base/random.ts';
import { parseDrainRequest } from '../model/drain-request.ts';
import type { TopologyState } from '../model/logical-topology.ts';
import { paths } from '../state-manager/paths.ts';
import type { StateManager, Watch } from '../state-manager/state-manager.ts';

/*
  Ends the input of a topology that somebody wants drained: puts the state KILLED into its physical
  plan, at which every spout ends. The request and the plan are both stored, so a master that comes
  after this one goes on where it stopped. Tries again until it has succeeded: the first plan may be
  still to come, and the state manager away.
*/

export interface DrainKeeperOptions {
  readonly stateManager: StateManager;
  readonly clock: Clock;
  readonly random: Random;
  readonly logger: Logger;
  readonly topologyName: TopologyName;
  readonly topologyId: TopologyId;
  /** The plan's keeper. */
  readonly plans: { setState(state: TopologyState): Promise<void> };
}

const RETRY_MIN_MS = 200;
const RETRY_MAX_MS = 5_000;

export class DrainKeeper {
  readonly #options: DrainKeeperOptions;
  readonly #backoff: Backoff;
  #watch: Watch | undefined;
  #retry: Timer | undefined;
  #isWanted = false;
  #isClosed = false;

  constructor(options: DrainKeeperOptions) {
    this.#options = options;
    this.#backoff = new Backoff(options.random, RETRY_MIN_MS, RETRY_MAX_MS);
  }

  open(): void {
    const { stateManager, topologyName } = this.#options;
    this.#watch = stateManager.watch(paths.drain(topologyName), (bytes) => this.#onRequest(bytes));
  }

  /** Idempotent. */
  close(): void {
    this.#isClosed = true;
    this.#watch?.close();
    this.#retry?.cancel();
  }

  #onRequest(bytes: Uint8Array | undefined): void {
    // A drain cannot be taken back: its spouts have ended.
    if (bytes === undefined || this.#isWanted || !this.#isOurs(bytes)) return;
    this.#isWanted = true;
    this.#options.logger.info('the topology is drained: its spouts end');
    void this.#attempt();
  }

  #isOurs(bytes: Uint8Array): boolean {
    const { topologyId, logger } = this.#options;
    try {
      return parseDrainRequest(bytes).topologyId === topologyId;
    } catch (error) {
      logger.error('the drain request is passed over', { reason: messageOf(error) });
      return false;
    }
  }

  async #attempt(): Promise<void> {
    const { plans, clock, logger } = this.#options;
    try {
      await plans.setState('KILLED');
    } catch (error) {
      if (!(error instanceof EngineError)) throw error;
      if (this.#isClosed) return;
      const pauseMs = this.#backoff.next();
      logger.info(`the spouts cannot be ended yet: ${error.message}`, { pauseMs });
      this.#retry = clock.after(pauseMs, () => void this.#attempt());
    }
  }
}
