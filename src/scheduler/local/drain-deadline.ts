import type { Clock, Timer } from '../../base/clock.ts';
import { messageOf } from '../../base/errors.ts';
import type { TopologyId, TopologyName } from '../../base/ids.ts';
import type { Logger } from '../../base/logger.ts';
import { parseDrainRequest } from '../../model/drain-request.ts';
import { paths } from '../../state-manager/paths.ts';
import type { StateManager, Watch } from '../../state-manager/state-manager.ts';

/*
  Knows when a topology that is drained has had its time. The deadline is in the state tree, so it
  holds for a scheduler that is started after it was set, or after it has passed.
*/

export interface DrainDeadlineOptions {
  readonly stateManager: StateManager;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly topologyName: TopologyName;
  readonly topologyId: TopologyId;
  /** Called once. */
  readonly onPassed: () => void;
}

export class DrainDeadline {
  readonly #options: DrainDeadlineOptions;
  readonly #watch: Watch;
  #timer: Timer | undefined;
  #isPassed = false;

  constructor(options: DrainDeadlineOptions) {
    this.#options = options;
    const { stateManager, topologyName } = options;
    this.#watch = stateManager.watch(paths.drain(topologyName), (bytes) => this.#onRequest(bytes));
  }

  get isPassed(): boolean {
    return this.#isPassed;
  }

  /** Idempotent. */
  close(): void {
    this.#watch.close();
    this.#timer?.cancel();
  }

  #onRequest(bytes: Uint8Array | undefined): void {
    if (bytes === undefined) return;
    const { clock, logger, topologyId } = this.#options;
    try {
      const request = parseDrainRequest(bytes);
      if (request.topologyId !== topologyId) return;
      this.#timer?.cancel();
      const leftMs = Math.max(0, request.deadlineMs - clock.wallNow());
      logger.info('the topology is drained and then ends', { leftMs });
      this.#timer = clock.after(leftMs, () => this.#pass());
    } catch (error) {
      logger.error('the drain request is passed over', { reason: messageOf(error) });
    }
  }

  #pass(): void {
    if (this.#isPassed) return;
    this.#isPassed = true;
    this.#options.logger.warn('not everything was processed in the time that the drain had');
    this.#options.onPassed();
  }
}
