import type { AnySpout } from '../../api/component-runtime.ts';
import type { Clock } from '../../base/clock.ts';
import type { Mean } from '../../metrics/metrics-registry.ts';
import type { TaskStatusWriter } from '../task-status.ts';
import { IdleBackoff } from './idle-backoff.ts';
import type { ComponentRunner } from './component-runner.ts';
import type { TaskCollector } from './task-collector.ts';
import { TimeSlice } from './time-slice.ts';
import type { TupleOutput } from './tuple-output.ts';
import { isPromise, type UserCalls } from './user-calls.ts';

const NS_PER_MS = 1e6;
/** A promise that settles sooner has not waited for anything outside of the process. */
const REAL_WAIT_MS = 1;

export interface SpoutRunnerOptions {
  readonly spout: AnySpout;
  readonly calls: UserCalls;
  readonly collector: TaskCollector;
  readonly output: TupleOutput;
  readonly status: TaskStatusWriter;
  readonly clock: Clock;
  /** The setting `heron.instance.idle.backoff.max.ms`. */
  readonly idleBackoffMaxMs: number;
  readonly nextTupleLatencyNs: Mean;
}

/**
 * Calls `nextTuple` for as long as the spout is active and has input.
 *
 * N1. It is not called while the ring has no room for a set: a spout waits here, where its timers and
 *     promises go on, and not inside `emit`.
 * N2. Under at most once every message id is acked as soon as `nextTuple` is over, as Heron does.
 */
export class SpoutRunner implements ComponentRunner {
  readonly #options: SpoutRunnerOptions;
  readonly #slice: TimeSlice;
  readonly #backoff: IdleBackoff;
  #active: boolean;
  #stopping = false;
  #callCount = 0;
  #resume: (() => void) | undefined;

  constructor(options: SpoutRunnerOptions, active: boolean) {
    this.#options = options;
    this.#slice = new TimeSlice(options.clock);
    this.#backoff = new IdleBackoff(options.clock, options.idleBackoffMaxMs);
    this.#active = active;
  }

  /** Resolves when the input has ended or the spout was told to stop. */
  async run(): Promise<'ended' | 'stopped'> {
    const { collector, output } = this.#options;
    while (!this.#stopping) {
      if (collector.inputEnded) return 'ended';
      if (!this.#active) await this.#paused();
      else if (!output.hasRoom) {
        if (!(await output.waitForRoom())) return 'stopped';
      } else await this.#runSlice();
    }
    return 'stopped';
  }

  async setActive(active: boolean): Promise<void> {
    const { calls, spout } = this.#options;
    await (active
      ? calls.call('activate', () => spout.activate())
      : calls.call('deactivate', () => spout.deactivate()));
    this.#active = active;
    this.#wakeUp();
  }

  wake(): void {
    this.#backoff.wake();
  }

  stop(): void {
    this.#stopping = true;
    this.#wakeUp();
  }

  close(): Promise<void> {
    const { calls, spout } = this.#options;
    return calls.call('close', () => spout.close());
  }

  /** Calls `nextTuple` until it has nothing to emit, or the slice is over. */
  async #runSlice(): Promise<void> {
    const { calls, collector, output, spout, status, clock } = this.#options;
    const startedAt = clock.now();
    const callsBefore = this.#callCount;
    let hasMore: boolean;
    this.#slice.begin();
    output.attended = true;
    status.enter('nextTuple');
    try {
      hasMore = await this.#callWhileItEmits();
    } catch (error) {
      throw calls.failure('nextTuple', error);
    } finally {
      status.leave();
      output.attended = false;
    }
    const { nextTupleLatencyNs } = this.#options;
    nextTupleLatencyNs.sum += (clock.now() - startedAt) * NS_PER_MS;
    nextTupleLatencyNs.count += this.#callCount - callsBefore;
    if (collector.hasSettled) await collector.settleMessages(spout, calls);
    if (collector.inputEnded || this.#stopping) return;
    if (hasMore) {
      this.#backoff.reset();
      await this.#slice.giveWay();
    } else {
      output.flush();
      await this.#backoff.wait();
    }
  }

  /** False when the last call had nothing to emit. */
  async #callWhileItEmits(): Promise<boolean> {
    const { spout, collector, output, status } = this.#options;
    do {
      const emittedBefore = output.emitted;
      const returned = spout.nextTuple();
      this.#callCount += 1;
      status.step();
      const waited = isPromise(returned) ? await this.#settle(returned) : false;
      if (output.emitted === emittedBefore && !waited) return false;
    } while (
      !(this.#slice.isOver() || collector.inputEnded || collector.hasSettled) &&
      output.hasRoom &&
      this.#active &&
      !this.#stopping
    );
    return true;
  }

  /** Awaits a promise of the user; true when it took real time, so that no further wait is due. */
  async #settle(returned: PromiseLike<unknown>): Promise<boolean> {
    const { clock, output, status } = this.#options;
    const startedAt = clock.now();
    status.awaitPromise();
    // Most promises settle before the event loop turns, and then the set simply goes on filling.
    output.flushSoon();
    await returned;
    status.resumeUserCode();
    return clock.now() - startedAt >= REAL_WAIT_MS;
  }

  #paused(): Promise<void> {
    this.#options.output.flush();
    return new Promise((resolve) => {
      this.#resume = resolve;
    });
  }

  #wakeUp(): void {
    this.#resume?.();
    this.#resume = undefined;
    this.#backoff.wake();
  }
}
