import type { Clock } from '../../base/clock.ts';
import type { Mean } from '../../metrics/metrics-registry.ts';
import type { TaskStatusWriter } from '../task-status.ts';
import type { DueEvents } from './due-events.ts';
import { IdleBackoff } from './idle-backoff.ts';
import type { ComponentRunner } from './component-runner.ts';
import { RoomOrEvent } from './room-or-event.ts';
import type { TaskCollector } from './task-collector.ts';
import type { SpoutCalls } from './task-hooks.ts';
import { TimeSlice } from './time-slice.ts';
import type { TupleOutput } from './tuple-output.ts';
import { isPromise, type UserCalls } from './user-calls.ts';

const NS_PER_MS = 1e6;
/** A promise that settles sooner has not waited for anything outside of the process. */
const REAL_WAIT_MS = 1;

export interface SpoutRunnerOptions {
  readonly spout: SpoutCalls;
  readonly calls: UserCalls;
  readonly collector: TaskCollector;
  readonly output: TupleOutput;
  readonly status: TaskStatusWriter;
  readonly clock: Clock;
  /** The setting `heron.instance.idle.backoff.max.ms`. */
  readonly idleBackoffMaxMs: number;
  readonly nextTupleLatencyNs: Mean;
  readonly due: DueEvents;
}

/**
 * Calls `nextTuple` for as long as the spout is active and has input.
 *
 * N1. One call at a time, whichever method it is: while a promise is pending nothing else is
 *     called.
 * N2. `nextTuple` is not called while the ring has no room for a set: a spout waits here, where
 *     its timers and promises go on, and not inside `emit`.
 * N3. Under at most once every message id is acked as soon as `nextTuple` is over, as Heron does.
 * N4. What was emitted leaves when the spout has nothing more, and at the end of each time slice.
 * N5. Timers and plan changes get their turn between two calls, at least once in a time slice, also
 *     while the spout is paused.
 */
export class SpoutRunner implements ComponentRunner {
  readonly #options: SpoutRunnerOptions;
  readonly #slice: TimeSlice;
  readonly #room: RoomOrEvent;
  readonly #backoff: IdleBackoff;
  #active = false;
  /** What the newest plan says; the spout is told between two calls. */
  #wanted = false;
  #stopping = false;
  #callCount = 0;
  #resume: (() => void) | undefined;

  constructor(options: SpoutRunnerOptions) {
    this.#options = options;
    this.#slice = new TimeSlice(options.clock);
    this.#room = new RoomOrEvent(options.output, options.due);
    this.#backoff = new IdleBackoff(options.clock, options.idleBackoffMaxMs);
  }

  async run(active: boolean): Promise<'ended' | 'stopped'> {
    const { collector, output, due, calls } = this.#options;
    this.#active = active;
    this.#wanted = active;
    while (!this.#stopping) {
      if (!due.isEmpty) await due.runRound(calls, () => !this.#stopping);
      if (this.#stopping) break;
      if (collector.inputEnded) return 'ended';
      if (this.#wanted !== this.#active) await this.#changeState();
      else if (!this.#active) await this.#paused();
      else if (!output.hasRoom) {
        if (!(await this.#room.wait())) return 'stopped';
      } else await this.#runSlice();
    }
    return 'stopped';
  }

  setActive(active: boolean): void {
    this.#wanted = active;
    this.wake();
  }

  wake(): void {
    this.#resume?.();
    this.#resume = undefined;
    this.#backoff.wake();
  }

  stop(): void {
    this.#stopping = true;
    this.wake();
  }

  close(): Promise<void> {
    const { calls, spout } = this.#options;
    return calls.call('close', () => spout.close());
  }

  async #changeState(): Promise<void> {
    const { calls, spout } = this.#options;
    this.#active = this.#wanted;
    if (this.#active) await calls.call('activate', () => spout.activate());
    else await calls.call('deactivate', () => spout.deactivate());
  }

  #paused(): Promise<void> {
    this.#options.output.flush();
    if (!this.#options.due.isEmpty) return Promise.resolve();
    return new Promise((resolve) => {
      this.#resume = resolve;
    });
  }

  /** Calls `nextTuple` until it has nothing to emit, or the slice is over. */
  async #runSlice(): Promise<void> {
    const { collector, output, status, clock, nextTupleLatencyNs } = this.#options;
    const startedAt = clock.now();
    const callsBefore = this.#callCount;
    const emittedBefore = output.emitted;
    let hasMore: boolean;
    this.#slice.begin();
    output.attended = true;
    status.enter('nextTuple');
    try {
      hasMore = await this.#callWhileItEmits();
    } finally {
      status.leave();
      output.attended = false;
    }
    nextTupleLatencyNs.sum += (clock.now() - startedAt) * NS_PER_MS;
    nextTupleLatencyNs.count += this.#callCount - callsBefore;
    output.flush();
    if (collector.inputEnded || this.#stopping) return;
    if (hasMore || output.emitted > emittedBefore) this.#backoff.reset();
    if (hasMore) {
      await this.#slice.giveWay();
    } else await this.#backoff.wait();
  }

  /** False when the last call had nothing to emit. */
  async #callWhileItEmits(): Promise<boolean> {
    const { collector, output, status } = this.#options;
    do {
      const emittedBefore = output.emitted;
      const returned = this.#callNextTuple();
      const waited = isPromise(returned) && (await this.#settleNextTuple(returned));
      status.step();
      if (collector.hasSettled) await this.#ackSettled();
      if (output.emitted === emittedBefore && !waited) return false;
    } while (
      !(this.#slice.isOver() || collector.inputEnded || this.#stopping) &&
      this.#wanted &&
      output.hasRoom
    );
    return true;
  }

  #callNextTuple(): unknown {
    this.#callCount += 1;
    try {
      return this.#options.spout.nextTuple();
    } catch (error) {
      throw this.#options.calls.failure('nextTuple', error);
    }
  }

  /** True when the promise took real time, so that no further wait is due. */
  async #settleNextTuple(returned: PromiseLike<unknown>): Promise<boolean> {
    const { clock } = this.#options;
    const startedAt = clock.now();
    await this.#settle('nextTuple', returned);
    return clock.now() - startedAt >= REAL_WAIT_MS;
  }

  async #ackSettled(): Promise<void> {
    const { collector, spout, status, calls } = this.#options;
    status.enter('ack');
    while (collector.hasSettled) {
      const messageId = collector.takeSettled();
      let returned: unknown;
      try {
        returned = spout.ack(messageId);
      } catch (error) {
        throw calls.failure('ack', error);
      }
      status.step();
      if (isPromise(returned)) await this.#settle('ack', returned);
    }
    status.enter('nextTuple');
  }

  /** Awaits a promise of the user. What is emitted meanwhile comes from callbacks. */
  async #settle(callback: 'nextTuple' | 'ack', returned: PromiseLike<unknown>): Promise<void> {
    const { output, status, calls } = this.#options;
    status.awaitPromise();
    output.attended = false;
    // Most promises settle before the event loop turns, and then the set simply goes on filling.
    output.flushSoon();
    try {
      await returned;
    } catch (error) {
      throw calls.failure(callback, error);
    } finally {
      output.attended = true;
      status.resumeUserCode();
    }
  }
}
