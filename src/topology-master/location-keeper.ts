import type { Clock, Timer } from '../base/clock.ts';
import { EngineError, environmentError, messageOf } from '../base/errors.ts';
import { epoch, type TopologyName, topologyId } from '../base/ids.ts';
import type { Logger } from '../base/logger.ts';
import { paths } from '../state-manager/paths.ts';
import type { StateManager, Watch } from '../state-manager/state-manager.ts';
import { TopologyMasterLocation, type ValueOf } from '../wire/messages.ts';
import { decideLocation, type SeenLocation } from './location-decision.ts';

/*
  Holds the ephemeral node `tmanagers/<topology>` for one incarnation: gets it, watches it, makes it
  again when it vanishes, and says when a newer incarnation has taken over. The rules are
  location-decision.ts (L1 to L3); this file only does what they say, one step at a time.
*/

export type LocationMessage = ValueOf<typeof TopologyMasterLocation>;

export interface LocationKeeperOptions {
  readonly stateManager: StateManager;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly topology: TopologyName;
  /** Ours, with our epoch. */
  readonly location: LocationMessage;
  /** How long an older master may keep the node from us. */
  readonly limitMs: number;
  /** A newer incarnation serves. Called at most once, and never before `claim` has resolved. */
  readonly onStepDown: (error: EngineError) => void;
}

/** Pause before a write that the state manager refused is tried again. */
const RETRY_PAUSE_MS = 1_000;

export class LocationKeeper {
  readonly #options: LocationKeeperOptions;
  readonly #path: string;
  readonly #own: SeenLocation;
  readonly #claimed = Promise.withResolvers<void>();
  #watch: Watch | undefined;
  #retry: Timer | undefined;
  #limit: Timer | undefined;
  /** What is to be dealt with: the node's newest value, or that it has to be read again. */
  #news: { readonly bytes: Uint8Array | undefined } | 'look-again' | undefined;
  #phase: 'claiming' | 'serving' | 'closed' = 'claiming';
  #isActing = false;
  #waitReason = 'the state manager has not answered';

  constructor(options: LocationKeeperOptions) {
    this.#options = options;
    this.#path = paths.topologyMaster(options.topology);
    this.#own = seenOf(options.location);
  }

  /**
   * Resolves when the node is ours.
   *
   * @throws EngineError STALE_EPOCH when a newer incarnation serves, START_TIMEOUT when an
   *   older one does not go away or the state manager refuses for too long.
   */
  claim(): Promise<void> {
    const { stateManager, clock, limitMs } = this.#options;
    this.#limit = clock.after(limitMs, () => {
      const message = `cannot become topology master within ${limitMs} ms: ${this.#waitReason}`;
      this.#end(environmentError('START_TIMEOUT', message));
    });
    this.#watch = stateManager.watch(this.#path, (bytes) => {
      this.#news = { bytes };
      void this.#act();
    });
    return this.#claimed.promise;
  }

  /** Stops watching; the node goes with the state manager's session. Idempotent. */
  close(): void {
    this.#phase = 'closed';
    this.#watch?.close();
    this.#retry?.cancel();
    this.#limit?.cancel();
  }

  async #act(): Promise<void> {
    if (this.#isActing) return;
    this.#isActing = true;
    while (this.#news !== undefined && !this.#isClosed()) {
      const news = this.#news;
      this.#news = undefined;
      await this.#attempt(news);
    }
    this.#isActing = false;
  }

  async #attempt(news: { readonly bytes: Uint8Array | undefined } | 'look-again'): Promise<void> {
    const { stateManager, logger, clock } = this.#options;
    try {
      await this.#decide(news === 'look-again' ? await stateManager.read(this.#path) : news.bytes);
    } catch (error) {
      if (!(error instanceof EngineError)) throw error;
      // Somebody was faster; the watch tells who it is.
      if (this.#isClosed() || error.code === 'STATE_EXISTS') return;
      this.#waitReason = error.message;
      logger.warn(`cannot keep the location node: ${error.message}`, { error });
      this.#retry?.cancel();
      this.#retry = clock.after(RETRY_PAUSE_MS, () => {
        this.#news ??= 'look-again';
        void this.#act();
      });
    }
  }

  async #decide(bytes: Uint8Array | undefined): Promise<void> {
    if (this.#isClosed()) return;
    const { logger, stateManager, location } = this.#options;
    const seen = this.#read(bytes);
    if (seen === 'unreadable') {
      // While serving the node is ours whatever it says; gone, it is made again.
      if (this.#phase === 'serving') await stateManager.delete(this.#path);
      return;
    }
    const isServing = this.#phase === 'serving';
    const decision = decideLocation({ own: this.#own, seen, isServing });
    switch (decision.kind) {
      case 'create': {
        if (isServing) logger.warn('the location node has vanished and is made again');
        const ownBytes = TopologyMasterLocation.encode(location);
        await stateManager.create(this.#path, ownBytes, { ephemeral: true });
        this.#serve();
        return;
      }
      case 'serve':
        this.#serve();
        return;
      case 'wait':
        this.#waitReason = decision.reason;
        logger.warn(`waiting to serve: ${decision.reason}`);
        return;
      case 'step-down':
        this.#end(environmentError('STALE_EPOCH', decision.reason));
    }
  }

  #read(bytes: Uint8Array | undefined): SeenLocation | undefined | 'unreadable' {
    if (bytes === undefined) return undefined;
    try {
      return seenOf(TopologyMasterLocation.decode(bytes));
    } catch (error) {
      this.#waitReason = `the location node cannot be read: ${messageOf(error)}`;
      this.#options.logger.warn(this.#waitReason);
      return 'unreadable';
    }
  }

  #serve(): void {
    if (this.#phase !== 'claiming') return;
    this.#phase = 'serving';
    this.#limit?.cancel();
    this.#claimed.resolve();
  }

  #end(error: EngineError): void {
    const wasServing = this.#phase === 'serving';
    this.close();
    if (wasServing) this.#options.onStepDown(error);
    else this.#claimed.reject(error);
  }

  #isClosed(): boolean {
    return this.#phase === 'closed';
  }
}

function seenOf(location: LocationMessage): SeenLocation {
  return { topologyId: topologyId(location.topologyId), epoch: epoch(Number(location.epoch)) };
}
