import type { Clock } from '../../base/clock.ts';
import { messageOf, toEnvelope } from '../../base/errors.ts';
import type { Logger } from '../../base/logger.ts';
import type { ToGateway } from '../thread-channel.ts';

const PERIOD_MS = 1_000;
/** Enough to see every kind of error; little next to what user code does in a second. */
const REPORTS_PER_PERIOD = 10;

export interface ErrorReportsOptions {
  readonly clock: Clock;
  readonly logger: Logger;
  readonly send: (message: ToGateway) => void;
}

/**
 * Errors of the component that do not end the instance, on their way to the log and the metrics.
 *
 * E1. A component that fails at every tuple must not fill the disk, nor the gateway's memory: so
 *     many are told in a period, the others are counted, and the count comes with the next one.
 */
export class ErrorReports {
  readonly #options: ErrorReportsOptions;
  #periodEndsAt = 0;
  #reports = 0;
  #suppressed = 0;

  constructor(options: ErrorReportsOptions) {
    this.#options = options;
  }

  add(error: unknown): void {
    const { clock, logger, send } = this.#options;
    const now = clock.now();
    if (now >= this.#periodEndsAt) {
      this.#periodEndsAt = now + PERIOD_MS;
      this.#reports = 0;
    }
    if (this.#reports === REPORTS_PER_PERIOD) {
      this.#suppressed += 1;
      return;
    }
    this.#reports += 1;
    const others = this.#suppressed === 0 ? {} : { othersBefore: this.#suppressed };
    this.#suppressed = 0;
    logger.error(messageOf(error), { ...others, error });
    send({ kind: 'exception', error: toEnvelope(error) });
  }
}
