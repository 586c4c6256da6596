import type { Clock, Timer } from '../../base/clock.ts';
import { environmentError } from '../../base/errors.ts';
import type { Sample, SampleWish } from '../../model/sample.ts';
import type { ToGateway, ToTask } from '../thread-channel.ts';

/** How much later than its time the task may answer: it does so between two calls of user code. */
const LATE_MS_MAX = 2_000;
const MS_PER_S = 1_000;

interface Waiting {
  readonly number: number;
  readonly limit: Timer;
  readonly answer: (sample: Sample | string) => void;
}

/** Samples that are asked of the task, one at a time. */
export class SampleRequests {
  readonly #clock: Clock;
  readonly #send: (message: ToTask) => void;
  #number = 0;
  #waiting: Waiting | undefined;

  constructor(clock: Clock, send: (message: ToTask) => void) {
    this.#clock = clock;
    this.#send = send;
  }

  /** @throws EngineError INSPECTION_FAILED with why there is none */
  async take(wish: SampleWish): Promise<Sample> {
    this.#number += 1;
    const number = this.#number;
    const { promise, resolve } = Promise.withResolvers<Sample | string>();
    const limit = this.#clock.after(wish.seconds * MS_PER_S + LATE_MS_MAX, () => {
      this.#settle('the task does not answer: its code does not return (see its stack)');
    });
    this.#settle('another sample was asked for');
    this.#waiting = { number, limit, answer: resolve };
    this.#send({ kind: 'sample', number, wish });
    const sample = await promise;
    if (typeof sample === 'string') throw environmentError('INSPECTION_FAILED', sample);
    return sample;
  }

  /** The answer to one that is given up is late, and nobody's. */
  handle({ number, sample }: Extract<ToGateway, { readonly kind: 'sample' }>): void {
    if (this.#waiting?.number === number) this.#settle(sample);
  }

  #settle(sample: Sample | string): void {
    this.#waiting?.limit.cancel();
    this.#waiting?.answer(sample);
    this.#waiting = undefined;
  }
}
