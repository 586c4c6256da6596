/*
  A thread of a simulated process: a line of events that are run one after the other, and a time of
  its own that runs ahead of the world's while it works.

      running   its events run when they are due, or as soon as it is free
      paused    its events wait in line
      dead      its events vanish, and nothing that it does has any effect

  T1. Events of a thread run in the order of their time, also after they had to wait.
  T2. Everything that an event does, and all promise jobs that follow from it, happens at this
      thread's time. So whatever settles a promise of a thread must be an event of that thread.
  T3. `now()` never steps back, and each reading costs a microsecond: a loop that watches the clock
      ends.
  T4. A thread that spends for ever never runs another event: it hangs, as user code can.
*/

import type { Clock, Timer } from '../../base/clock.ts';
import type { EventOwner, SimulatedEvent } from './event-queue.ts';
import { SimulatedClock } from './simulated-clock.ts';
import { MICROSECONDS_PER_MILLISECOND, microseconds, type WallClock } from './simulated-time.ts';

/** What waking up a thread for one event takes: about what it costs Node. */
const EVENT_US = 2;
const READING_US = 1;

export type ThreadState = 'running' | 'paused' | 'dead';

/** How a failure came out of an event: thrown, or as a rejection that nobody handles. */
export type FailureKind = 'exception' | 'rejection';

/** What a thread needs of its kernel. */
export interface ThreadKernel {
  /** The time of the event that runs now. */
  readonly eventUs: number;
  /** The time of whoever runs now: further than `eventUs` by what that thread has spent. */
  readonly nowUs: number;
  readonly runningThread: SimulatedThread | undefined;
  schedule(atUs: number, owner: SimulatedThread, call: () => void): SimulatedEvent;
  /** Runs an event of this thread now. */
  execute(thread: SimulatedThread, event: SimulatedEvent): void;
}

/** Something that ends with a thread: its listeners, its connections. */
export interface ThreadDependent {
  onThreadKilled(): void;
}

export interface SimulatedThreadOptions {
  readonly name: string;
  /** In the order of their making, from 0. */
  readonly number: number;
  /** Of its machine. */
  readonly wallClock: WallClock;
}

const DONE: Timer = { cancel: () => {} };

export class SimulatedThread implements EventOwner {
  readonly name: string;
  readonly number: number;
  readonly clock: Clock;
  /**
   * Told of what an event of this thread has thrown, and of rejections that nobody handled, as a
   * process is of its uncaught exceptions. Without it the run ends with the error.
   */
  onFailure: ((error: unknown, kind: FailureKind) => void) | undefined;
  readonly #kernel: ThreadKernel;
  readonly #wallClock: WallClock;
  #state: ThreadState = 'running';
  /** Its own time: where its last event ended, or how far the one that runs now has come. */
  #localUs = 0;
  #firstWaiting: SimulatedEvent | undefined;
  #lastWaiting: SimulatedEvent | undefined;
  #turn: SimulatedEvent | undefined;
  #dependents: Set<ThreadDependent> | undefined;

  constructor(kernel: ThreadKernel, { name, number, wallClock }: SimulatedThreadOptions) {
    this.name = name;
    this.number = number;
    this.clock = new SimulatedClock(this);
    this.onFailure = undefined;
    this.#kernel = kernel;
    this.#wallClock = wallClock;
  }

  get state(): ThreadState {
    return this.#state;
  }

  get isGone(): boolean {
    return this.#state === 'dead';
  }

  /** True while its next event has to wait for what it has spent. */
  get isBusy(): boolean {
    return this.#localUs > this.#kernel.nowUs;
  }

  /** True when it never runs anything again, although nobody has killed it (T4). */
  get isHanging(): boolean {
    return this.#state !== 'dead' && this.#localUs === Number.POSITIVE_INFINITY;
  }

  /** Makes the call an event of this thread, from whichever thread this runs on. */
  post(delayMs: number, call: () => void): Timer {
    return this.postAt(this.#kernel.nowUs + microseconds(delayMs), call);
  }

  postAt(atUs: number, call: () => void): Timer {
    return this.#state === 'dead' ? DONE : this.#kernel.schedule(atUs, this, call);
  }

  /** What runs now takes this long, or for ever (`Infinity`); from outside: the thread is busy. */
  spend(ms: number): void {
    this.#localUs = Math.max(this.#localUs, this.#kernel.nowUs) + microseconds(ms);
  }

  pause(): void {
    if (this.#state !== 'running') return;
    this.#state = 'paused';
    this.#turn?.cancel();
    this.#turn = undefined;
  }

  resume(): void {
    if (this.#state !== 'paused') return;
    this.#state = 'running';
    this.#askForTurn();
  }

  /** The end; an event of the thread that runs now runs on to its own end, without effect. */
  kill(): void {
    if (this.#state === 'dead') return;
    this.#state = 'dead';
    this.#turn?.cancel();
    this.#turn = undefined;
    this.#firstWaiting = undefined;
    this.#lastWaiting = undefined;
    const dependents = this.#dependents ?? [];
    this.#dependents = undefined;
    for (const dependent of dependents) dependent.onThreadKilled();
  }

  attach(dependent: ThreadDependent): void {
    this.#dependents ??= new Set();
    this.#dependents.add(dependent);
  }

  detach(dependent: ThreadDependent): void {
    this.#dependents?.delete(dependent);
  }

  /** This thread's time; costs nothing. */
  get nowUs(): number {
    return Math.max(this.#localUs, this.#kernel.nowUs);
  }

  /** For the kernel: how far its work has come. */
  get localUs(): number {
    return this.#localUs;
  }

  /** For the clock: a look at it, which costs (T3). */
  readNowMs(): number {
    this.#payReading();
    return this.nowUs / MICROSECONDS_PER_MILLISECOND;
  }

  readWallMs(): number {
    this.#payReading();
    return this.#wallClock.at(this.nowUs);
  }

  /** For the kernel: an event of this thread is due (T1). */
  take(event: SimulatedEvent): void {
    if (this.#state === 'dead') return;
    if (event === this.#turn) this.#runWaiting();
    else if (this.#firstWaiting === undefined && this.#isFree()) this.#execute(event);
    else this.#line(event);
  }

  /** For the kernel: the event that ran has ended, with all promise jobs that followed from it. */
  rest(): void {
    this.#askForTurn();
  }

  #isFree(): boolean {
    return this.#state === 'running' && this.#localUs <= this.#kernel.eventUs;
  }

  #line(event: SimulatedEvent): void {
    if (this.#lastWaiting === undefined) this.#firstWaiting = event;
    else this.#lastWaiting.following = event;
    this.#lastWaiting = event;
    this.#askForTurn();
  }

  #runWaiting(): void {
    this.#turn = undefined;
    if (!this.#isFree()) {
      this.#askForTurn(); // It has spent more since it asked.
      return;
    }
    for (;;) {
      const event = this.#firstWaiting;
      if (event === undefined) return;
      this.#firstWaiting = event.following;
      if (this.#firstWaiting === undefined) this.#lastWaiting = undefined;
      event.following = undefined;
      if (event.call === undefined) continue; // It was cancelled meanwhile.
      this.#execute(event);
      return;
    }
  }

  #execute(event: SimulatedEvent): void {
    this.#localUs = this.#kernel.eventUs + EVENT_US;
    this.#kernel.execute(this, event);
  }

  /** The next waiting event runs when the thread is free. */
  #askForTurn(): void {
    const isWanted = this.#state === 'running' && this.#firstWaiting !== undefined;
    if (!isWanted || this.#turn !== undefined || this.#kernel.runningThread === this) return;
    const atUs = Math.max(this.#localUs, this.#kernel.eventUs);
    this.#turn = this.#kernel.schedule(atUs, this, () => {});
  }

  #payReading(): void {
    if (this.#kernel.runningThread === this) this.#localUs += READING_US;
  }
}
