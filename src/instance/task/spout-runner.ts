import type { Clock } from '../../base/clock.ts';
import type { LatencySampler } from '../../metrics/latency-sampler.ts';
import type { Doorbell } from '../../ring/doorbell.ts';
import type { TaskStatusWriter } from '../task-status.ts';
import type { ComponentCollector } from './component-collector.ts';
import type { ComponentRunner } from './component-runner.ts';
import type { DueEvents } from './due-events.ts';
import type { HeldTime } from './held-time.ts';
import type { SpoutMessages } from './spout-messages.ts';
import { SpoutWaits } from './spout-waits.ts';
import type { NextTupleCounters } from './task-counters.ts';
import type { SpoutCalls } from './task-hooks.ts';
import { TimeSlice } from './time-slice.ts';
import type { TupleOutput } from './tuple-output.ts';
import { isPromise, type UserCalls } from './user-calls.ts';

const NS_PER_MS = 1e6;
/** A promise that settles sooner has not waited for anything outside of the process. */
const REAL_WAIT_MS = 1;
/** In the place of when a call began that is not timed. */
const UNTIMED = -1;

export interface SpoutRunnerOptions {
  readonly spout: SpoutCalls;
  readonly calls: UserCalls;
  readonly collector: ComponentCollector;
  readonly messages: SpoutMessages;
  /** Whether news of messages comes through the ring. */
  readonly isTracked: boolean;
  readonly bell: Doorbell;
  readonly output: TupleOutput;
  readonly status: TaskStatusWriter;
  readonly heldTime: HeldTime;
  readonly clock: Clock;
  /** The setting `heron.instance.idle.backoff.max.ms`. */
  readonly idleBackoffMaxMs: number;
  readonly nextTuple: NextTupleCounters;
  /** Chooses the calls that are timed. */
  readonly sampler: LatencySampler;
  readonly due: DueEvents;
}

/**
 * Calls `nextTuple` for as long as the spout is active and has input.
 *
 * N1. One call at a time, whichever method it is: while a promise is pending nothing else is
 *     called.
 * N2. `nextTuple` is not called while the ring has no room for a set, while as many messages are
 *     pending as may be, or while back pressure holds the spout: a spout waits here, where its
 *     timers and promises go on, and not inside `emit`.
 * N3. The spout is told of its messages between two calls of `nextTuple`, also while it is paused,
 *     held or has to wait. Under at most once every message id is acked as soon as `nextTuple` is
 *     over, as Heron does.
 * N4. What was emitted leaves when the spout has nothing more, and at the end of each time slice.
 * N5. Timers and plan changes get their turn between two calls, at least once in a time slice, also
 *     while the spout is paused.
 * N6. A spout whose input has ended has ended when all its messages are settled. Until then each
 *     failure has `nextTuple` called again until it emits nothing, so that the message can be
 *     emitted anew; so is it as long as the spout says that it holds messages.
 */
export class SpoutRunner implements ComponentRunner {
  readonly #options: SpoutRunnerOptions;
  readonly #slice: TimeSlice;
  readonly #waits: SpoutWaits;
  #active = false;
  /** What the newest plan says; the spout is told between two calls. */
  #wanted = false;
  #stopping = false;
  #isDrained = false;
  /** As the loop has seen it last. */
  #isHeld = false;
  /** A message has failed since `nextTuple` has last had nothing to emit (N6). */
  #mayReplay = false;
  #callCount = 0;

  constructor(options: SpoutRunnerOptions) {
    this.#options = options;
    this.#slice = new TimeSlice(options.clock);
    const { output, due, bell, clock, idleBackoffMaxMs, messages, status } = options;
    this.#waits = new SpoutWaits({
      output,
      due,
      bell,
      clock,
      idleBackoffMaxMs,
      hasNews: () => messages.hasNews || status.isHeld !== this.#isHeld,
    });
  }

  async run(active: boolean): Promise<'ended' | 'stopped'> {
    this.#active = active;
    this.#wanted = active;
    try {
      return await this.#run();
    } finally {
      this.#waits.close();
    }
  }

  setActive(active: boolean): void {
    this.#wanted = active;
    this.wake();
  }

  /** Ends the input, as if the spout had said so; a paused one will not run again. */
  drain(): void {
    this.#isDrained = true;
    this.#options.collector.endOfInput();
  }

  wake(): void {
    this.#waits.wake();
  }

  stop(): void {
    this.#stopping = true;
    this.wake();
  }

  close(): Promise<void> {
    const { calls, spout } = this.#options;
    return calls.call('close', () => spout.close());
  }

  async #run(): Promise<'ended' | 'stopped'> {
    const { messages, output, due, calls, isTracked } = this.#options;
    while (!this.#stopping) {
      if (!due.isEmpty) await due.runRound(calls, () => !this.#stopping);
      if (this.#stopping) break;
      this.#noteHeld();
      if (messages.hasNews) await this.#tellInTurn();
      else if (this.#hasEnded) return 'ended';
      else if (this.#wanted !== this.#active) await this.#changeState();
      else if (!this.#mayCall) await this.#waits.asleep(isTracked || this.#isHeld);
      else if (!output.hasRoom) {
        if (!(await this.#waits.room(isTracked))) return 'stopped';
      } else await this.#runSlice();
    }
    return 'stopped';
  }

  get #hasEnded(): boolean {
    const { collector, messages } = this.#options;
    if (!collector.inputEnded || messages.count > 0) return false;
    return !this.#mayEmitAgain || (this.#isDrained && !this.#active);
  }

  /** Whether a spout whose input has ended is called all the same (N6). */
  get #mayEmitAgain(): boolean {
    return this.#mayReplay || this.#options.spout.holdsMessages();
  }

  get #mayCall(): boolean {
    const { collector, messages } = this.#options;
    if (!this.#active || this.#isHeld || messages.isFull) return false;
    return !collector.inputEnded || this.#mayEmitAgain;
  }

  #noteHeld(): void {
    const { status, heldTime } = this.#options;
    this.#isHeld = status.isHeld;
    heldTime.note(this.#isHeld && this.#active);
  }

  async #changeState(): Promise<void> {
    const { calls, spout } = this.#options;
    this.#active = this.#wanted;
    if (this.#active) await calls.call('activate', () => spout.activate());
    else await calls.call('deactivate', () => spout.deactivate());
  }

  /** Calls `nextTuple` until it has nothing to emit, or the slice is over. */
  async #runSlice(): Promise<void> {
    const { collector, output, status, clock, nextTuple, isTracked } = this.#options;
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
    const { called, latencyNs } = nextTuple;
    const calls = this.#callCount - callsBefore;
    called.value += calls;
    latencyNs.sum += (clock.now() - startedAt) * NS_PER_MS;
    latencyNs.count += calls;
    output.flush();
    if (this.#stopping || (collector.inputEnded && !this.#mayEmitAgain)) return;
    if (hasMore || output.emitted > emittedBefore) this.#waits.resetIdle();
    if (hasMore) await this.#slice.giveWay();
    else await this.#waits.idle(isTracked);
  }

  /** False when the last call had nothing to emit. */
  async #callWhileItEmits(): Promise<boolean> {
    const { collector, messages, output, status, sampler, clock } = this.#options;
    do {
      const emittedBefore = output.emitted;
      const startedAt = sampler.isDue() ? clock.now() : UNTIMED;
      const returned = this.#callNextTuple();
      const waited = isPromise(returned) && (await this.#settleNextTuple(returned));
      if (startedAt !== UNTIMED) this.#time(startedAt);
      status.step();
      const hasEmitted = output.emitted > emittedBefore;
      if (!hasEmitted) this.#mayReplay = false;
      if (messages.hasNews) {
        await this.#tell();
        status.enter('nextTuple');
        if (messages.hasNews) return true;
      }
      if (!hasEmitted && !waited) return this.#mayReplay;
    } while (
      !(this.#slice.isOver() || this.#stopping) &&
      (!collector.inputEnded || this.#mayEmitAgain) &&
      this.#wanted &&
      output.hasRoom &&
      !messages.isFull &&
      !status.isHeld
    );
    return true;
  }

  /** A call that was to be timed is over. */
  #time(startedAt: number): void {
    const { clock, nextTuple, sampler } = this.#options;
    const now = clock.now();
    nextTuple.latencies?.record((now - startedAt) * NS_PER_MS, sampler.weight);
    sampler.done(now);
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

  /** Outside of a slice of `nextTuple`. */
  async #tellInTurn(): Promise<void> {
    const { output, status } = this.#options;
    this.#slice.begin();
    output.attended = true;
    try {
      await this.#tell();
    } finally {
      status.leave();
      output.attended = false;
    }
    output.flush();
    if (this.#slice.isOver()) await this.#slice.giveWay();
  }

  /** Tells the spout of its messages until there is no more to tell, or the slice is over. */
  async #tell(): Promise<void> {
    const { messages, spout, status, calls } = this.#options;
    let entered: 'ack' | 'fail' | undefined;
    while (!this.#stopping && messages.next()) {
      const { messageId, reason } = messages;
      const callback = reason === undefined ? 'ack' : 'fail';
      if (reason !== undefined) this.#mayReplay = true;
      if (callback === entered) status.step();
      else status.enter(callback);
      entered = callback;
      let returned: unknown;
      try {
        returned = reason === undefined ? spout.ack(messageId) : spout.fail(messageId, reason);
      } catch (error) {
        throw calls.failure(callback, error);
      }
      if (isPromise(returned)) await this.#settle(callback, returned);
      if (this.#slice.isOver()) return;
    }
  }

  /** Awaits a promise of the user. What is emitted meanwhile comes from callbacks. */
  async #settle(
    callback: 'nextTuple' | 'ack' | 'fail',
    returned: PromiseLike<unknown>,
  ): Promise<void> {
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
