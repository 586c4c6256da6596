/*
  The heart of a simulated world: one line of events in simulated time, run one after the other in
  one real thread.

  K1. Between two events all promise jobs run to their end, as they do in each thread of a real
      world between two calls of its event loop. They belong to the event that ran.
  K2. The seed decides everything. Nothing here asks the machine for time or chance.
  K3. Time is that of the event that runs, plus what its thread has spent in it; between events,
      that of the last one. From event to event it only grows; a thread that spends runs ahead.
  K4. What an event throws, and a rejection that nobody handles, concern the thread that ran, as
      they concern its process in a real world; the kernel's own events end the run with them.
  K5. A world is garbage as soon as nobody holds it: nothing global knows of it after a run.
*/

import { assert, assertDefined } from '../../base/assert.ts';
import type { Timer } from '../../base/clock.ts';
import type { Random } from '../../base/random.ts';
import { EventLog } from './event-log.ts';
import { EventQueue, type SimulatedEvent } from './event-queue.ts';
import { NamedRandom } from './named-random.ts';
import { drain, nextRound, StrayErrorGuard } from './promise-jobs.ts';
import { type FailureKind, SimulatedThread, type ThreadKernel } from './simulated-thread.ts';
import { MICROSECONDS_PER_MILLISECOND, microseconds, WallClock } from './simulated-time.ts';

/**
 * The real event loop gets its turn after so many events: a run can be interrupted, and its cost
 * does not show.
 */
const EVENTS_PER_ROUND = 256;

export interface KernelOptions {
  readonly seed: number;
  /** False: the log keeps only its hash. True unless set. */
  readonly keepsLog?: boolean;
  /** Runs promise jobs by a round of the real event loop after each event: slow, as a check. */
  readonly isSlow?: boolean;
}

export interface RunLimits {
  /** Counted from where the run begins. */
  readonly simulatedMsMax: number;
  readonly eventsMax: number;
}

/** Why a run ended: its condition, one of its limits, or because nothing is left to happen. */
export type RunEnd = 'reached' | 'time' | 'events' | 'idle';

interface Run {
  readonly until: () => boolean;
  readonly endUs: number;
  readonly eventsEnd: number;
  readonly resolve: (end: RunEnd) => void;
  readonly reject: (error: unknown) => void;
}

export class Kernel implements ThreadKernel {
  readonly seed: number;
  readonly log: EventLog;
  readonly #queue = new EventQueue();
  readonly #random: NamedRandom;
  readonly #drain: (() => void) | undefined;
  readonly #guard: StrayErrorGuard;
  readonly #wallClock = new WallClock();
  #eventUs = 0;
  #events = 0;
  #threads = 0;
  #running: SimulatedThread | undefined;
  #run: Run | undefined;
  #failure: { readonly error: unknown } | undefined;
  /** Pieces of real work that simulated time waits for. */
  #outside = 0;
  #isHeld = false;

  constructor({ seed, keepsLog = true, isSlow = false }: KernelOptions) {
    this.seed = seed;
    this.log = new EventLog({ nowUs: () => this.nowUs, keepsText: keepsLog });
    this.#random = new NamedRandom(seed);
    this.#drain = isSlow ? undefined : drain;
    this.#guard = new StrayErrorGuard({
      onException: (error) => this.#fail(error, 'exception'),
      onRejection: (error) => this.#fail(error, 'rejection'),
    });
  }

  /** The time of whoever runs now, in milliseconds (K3). */
  get nowMs(): number {
    return this.nowUs / MICROSECONDS_PER_MILLISECOND;
  }

  get nowUs(): number {
    return this.#running === undefined ? this.#eventUs : this.#running.localUs;
  }

  /** How many events have run. */
  get events(): number {
    return this.#events;
  }

  /** How many events wait for their time. */
  get pendingEvents(): number {
    return this.#queue.size;
  }

  /** The thread whose event runs now; undefined in an event of the kernel and between events. */
  get runningThread(): SimulatedThread | undefined {
    return this.#running;
  }

  /** A sequence of random numbers of this name's own; the same object for the same name. */
  random(name: string): Random {
    return this.#random.of(name);
  }

  /** `wallClock`: of its machine; by default all threads have one in common. */
  createThread(name: string, wallClock: WallClock = this.#wallClock): SimulatedThread {
    const thread = new SimulatedThread(this, {
      name,
      number: this.#threads,
      wallClock,
    });
    this.#threads += 1;
    return thread;
  }

  /** An event that is no thread's: what happens on the way, and faults. */
  at(delayMs: number, call: () => void): Timer {
    return this.#queue.add(this.nowUs + microseconds(delayMs), undefined, call);
  }

  /** The same at a time, in microseconds, which has not passed. */
  atUs(timeUs: number, call: () => void): Timer {
    assert(timeUs >= this.#eventUs, 'nothing is put into the past');
    return this.#queue.add(timeUs, undefined, call);
  }

  /**
   * Runs events until the condition holds, which is asked before each of them. Rejects with what an
   * event of the kernel has thrown, or one of a thread without `onFailure`.
   */
  run(until: () => boolean, { simulatedMsMax, eventsMax }: RunLimits): Promise<RunEnd> {
    assert(this.#run === undefined, 'one run at a time');
    return new Promise((resolve, reject) => {
      this.#run = {
        until,
        endUs: this.#eventUs + microseconds(simulatedMsMax),
        eventsEnd: this.#events + eventsMax,
        resolve,
        reject,
      };
      nextRound(this.#nextSlice);
    });
  }

  /** Runs whatever happens within this time, and ends at its end even if that is nothing. */
  async advance(ms: number, eventsMax: number = Number.POSITIVE_INFINITY): Promise<RunEnd> {
    const endUs = this.#eventUs + microseconds(ms);
    const end = await this.run(() => false, { simulatedMsMax: ms, eventsMax });
    if (end === 'idle') this.#eventUs = endUs;
    return end;
  }

  /**
   * Real work, such as a file that user code reads: simulated time stands still until it has
   * settled, and the thread gets the result in an event of its own.
   */
  outside<T>(thread: SimulatedThread, work: Promise<T>): Promise<T> {
    const { promise, resolve, reject } = Promise.withResolvers<T>();
    this.#outside += 1;
    const settle = (call: () => void): void => {
      this.#outside -= 1;
      thread.post(0, call);
      if (this.#outside > 0 || !this.#isHeld) return;
      this.#isHeld = false;
      nextRound(this.#nextSlice);
    };
    work.then(
      (value) => settle(() => resolve(value)),
      (error: unknown) => settle(() => reject(error)),
    );
    return promise;
  }

  /** For threads. */
  get eventUs(): number {
    return this.#eventUs;
  }

  /** For threads. */
  schedule(atUs: number, owner: SimulatedThread, call: () => void): SimulatedEvent {
    return this.#queue.add(atUs, owner, call);
  }

  /** For threads: runs one of their events now. */
  execute(thread: SimulatedThread, event: SimulatedEvent): void {
    this.#running = thread;
    this.#call(event, thread.number);
  }

  /** A number of events in one turn of the real event loop. */
  readonly #nextSlice = (): void => {
    const run = assertDefined(this.#run, 'slices belong to a run');
    let end: RunEnd | 'failed' | undefined;
    let isWhole = false;
    this.#guard.on();
    try {
      end = this.#runSlice(run);
      isWhole = true;
    } finally {
      // What a tick has thrown is on its way to the guard; the run goes on after it.
      if (!isWhole) nextRound(this.#nextSlice);
    }
    if (end === undefined) {
      if (this.#drain !== undefined) this.#guard.off();
      this.#goOn();
      return;
    }
    this.#guard.off();
    this.#run = undefined;
    const failure = this.#failure;
    this.#failure = undefined;
    if (failure !== undefined) run.reject(failure.error);
    else if (end !== 'failed') run.resolve(end);
  };

  #goOn(): void {
    if (this.#outside > 0) this.#isHeld = true;
    else nextRound(this.#nextSlice);
  }

  /** Undefined when the run goes on. */
  #runSlice(run: Run): RunEnd | 'failed' | undefined {
    this.#rest();
    for (let count = 0; count < EVENTS_PER_ROUND; count += 1) {
      if (this.#failure !== undefined) return 'failed';
      if (this.#outside > 0) return undefined;
      if (run.until()) return 'reached';
      if (this.#events >= run.eventsEnd) return 'events';
      const next = this.#queue.first;
      if (next === undefined) return 'idle';
      if (next.atUs > run.endUs) {
        this.#eventUs = run.endUs;
        return 'time';
      }
      this.#runNext(next);
      if (this.#drain === undefined) return undefined;
      this.#drain();
      this.#rest();
    }
    return undefined;
  }

  #runNext(event: SimulatedEvent): void {
    this.#queue.remove(event);
    const { owner } = event;
    if (owner?.isGone) return; // Not even time passes for it.
    this.#eventUs = event.atUs;
    if (owner === undefined) this.#call(event, -1);
    else owner.take(event);
  }

  #call(event: SimulatedEvent, threadNumber: number): void {
    this.#events += 1;
    this.log.mark(event.atUs, threadNumber);
    const call = assertDefined(event.call, 'a cancelled event does not run');
    event.call = undefined;
    try {
      call();
    } catch (error) {
      this.#fail(error, 'exception');
    }
  }

  /** The event has ended with all that followed from it (K1). */
  #rest(): void {
    const thread = this.#running;
    if (thread === undefined) return;
    this.#running = undefined;
    thread.rest();
  }

  #fail(error: unknown, kind: FailureKind): void {
    const thread = this.#running;
    if (thread?.state === 'dead') return; // Nobody is left whom it concerns.
    try {
      if (thread?.onFailure === undefined) throw error;
      thread.onFailure(error, kind);
    } catch (last) {
      this.#failure ??= { error: last };
    }
  }
}
