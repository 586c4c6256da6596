import type { Clock, Timer } from '../base/clock.ts';
import { EngineError, hasCode } from '../base/errors.ts';
import type { TopologyName } from '../base/ids.ts';
import type { Logger } from '../base/logger.ts';
import { paths } from '../state-manager/paths.ts';
import { sameBytes } from '../state-manager/same-bytes.ts';
import type { StateManager, Watch } from '../state-manager/state-manager.ts';
import { MetricsCacheLocation, type ValueOf } from '../wire/messages.ts';

/*
  Holds the ephemeral node `metricscaches/<topology>`.

  L1. A node that is absent is made, at the start and whenever it vanishes; what a dead cache left
      behind reads as absent.
  L2. The node of a live cache is left alone: that one goes on and this one waits. Two at a time
      mean that an executor was replaced, and its children end with it.
  L3. Nobody waits for the node, so no failure of the state manager ends the process: it is tried
      again.
*/

export interface LocationHolderOptions {
  readonly stateManager: StateManager;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly topology: TopologyName;
  readonly location: ValueOf<typeof MetricsCacheLocation>;
}

const RETRY_PAUSE_MS = 1_000;

export class LocationHolder {
  readonly #options: LocationHolderOptions;
  readonly #path: string;
  readonly #bytes: Uint8Array;
  #watch: Watch | undefined;
  #retry: Timer | undefined;
  #isCreating = false;
  /** The node was seen absent while it was being made: it may have vanished at once. */
  #isToBeMadeAgain = false;
  #isClosed = false;
  #hasWarned = false;

  constructor(options: LocationHolderOptions) {
    this.#options = options;
    this.#path = paths.metricsCache(options.topology);
    this.#bytes = MetricsCacheLocation.encode(options.location);
  }

  /** Called once. */
  open(): void {
    this.#watch = this.#options.stateManager.watch(this.#path, (bytes) => {
      if (bytes === undefined) void this.#create();
      else if (!sameBytes(bytes, this.#bytes)) {
        this.#options.logger.info('the node of the metrics cache is another one’s');
      }
    });
  }

  /** Stops watching; the node goes with the state manager's session. Idempotent. */
  close(): void {
    this.#isClosed = true;
    this.#watch?.close();
    this.#retry?.cancel();
  }

  /** L1 */
  async #create(): Promise<void> {
    if (this.#isClosed) return;
    this.#isToBeMadeAgain = this.#isCreating;
    if (this.#isCreating) return;
    const { stateManager, clock } = this.#options;
    this.#isCreating = true;
    this.#retry?.cancel();
    try {
      await stateManager.create(this.#path, this.#bytes, { ephemeral: true });
      this.#hasWarned = false;
    } catch (error) {
      if (!(error instanceof EngineError)) throw error;
      // Somebody was faster; the watch tells when that one is gone (L2).
      if (!hasCode(error, 'STATE_EXISTS') && !this.#isClosed) {
        this.#report(error);
        this.#retry = clock.after(RETRY_PAUSE_MS, () => void this.#create());
      }
    } finally {
      this.#isCreating = false;
    }
    if (this.#isToBeMadeAgain) await this.#create();
  }

  #report(error: EngineError): void {
    if (!this.#hasWarned) {
      this.#options.logger.warn(`nobody can find the metrics cache: ${error.message}`, { error });
    }
    this.#hasWarned = true;
  }
}
