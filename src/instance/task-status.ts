/*
  What the two threads of an instance tell each other without messages: a few words in shared
  memory. Plain stores are enough where only freshness within milliseconds matters, and cost nothing
  on the fast path.

  The task writes:

  word 0  activity      what the task's thread is doing (ACTIVITIES)
  word 1  progress      changes whenever user code is entered or left
  word 2  consumedBytes payload bytes of tuple sets that the task is done with; wraps at 2^32
  word 3  callback      which of the component's methods is running (CALLBACKS)
  word 4  answer        number of the last `ping` that the task's event loop has got to

  The gateway writes, and rings:
  word 5  held          1 while back pressure holds this spout
  word 6  forgets       1 while the stream manager does not tell of trees that time out
  word 7  plans         number of plans that have been sent to the task; wraps at 2^32
*/

const WORDS = 8;
const ACTIVITY = 0;
const PROGRESS = 1;
const CONSUMED = 2;
const CALLBACK = 3;
const ANSWER = 4;
const HELD = 5;
const FORGETS = 6;
const PLANS = 7;

/** `room`: waits inside `emit` for the gateway to drain a full ring, which is back pressure. */
export const ACTIVITIES = ['idle', 'user-code', 'room', 'promise'] as const;
export type Activity = (typeof ACTIVITIES)[number];

export const CALLBACKS = [
  'none',
  'constructor',
  'open',
  'prepare',
  'nextTuple',
  'execute',
  'finish',
  'activate',
  'deactivate',
  'ack',
  'fail',
  'replay',
  'close',
  'cleanup',
  'module',
  'tick',
  'timer',
  'update',
] as const;
export type Callback = (typeof CALLBACKS)[number];

const IDLE = ACTIVITIES.indexOf('idle');
const USER_CODE = ACTIVITIES.indexOf('user-code');
const ROOM = ACTIVITIES.indexOf('room');
const PROMISE = ACTIVITIES.indexOf('promise');

/** The task's end. */
export class TaskStatusWriter {
  readonly #words: Int32Array;
  #progress = 0;
  #consumedBytes = 0;
  #plansTaken = 0;

  constructor(memory: SharedArrayBuffer) {
    this.#words = new Int32Array(memory);
  }

  /**
   * Whether a plan is on its way by message. It was sent before whatever came into the ring after
   * it, which may be read first: the ring needs no turn of the event loop.
   */
  get awaitsPlan(): boolean {
    return ((Atomics.load(this.#words, PLANS) - this.#plansTaken) | 0) > 0;
  }

  planTaken(): void {
    this.#plansTaken = (this.#plansTaken + 1) | 0;
  }

  /** Whether back pressure holds this spout: `nextTuple` is not to be called. */
  get isHeld(): boolean {
    return this.#words[HELD] === 1;
  }

  /** Whether the stream manager tells nobody of trees that time out, as Heron's own. */
  get forgetsTimeOuts(): boolean {
    return this.#words[FORGETS] === 1;
  }

  enter(callback: Callback): void {
    this.#words[CALLBACK] = CALLBACKS.indexOf(callback);
    this.#words[ACTIVITY] = USER_CODE;
    this.step();
  }

  /** One more call of the same method begins; the fast path between two tuples. */
  step(): void {
    this.#progress = (this.#progress + 1) | 0;
    this.#words[PROGRESS] = this.#progress;
  }

  /** The method returned a promise that is not settled yet; the event loop is free. */
  awaitPromise(): void {
    this.#words[ACTIVITY] = PROMISE;
  }

  resumeUserCode(): void {
    this.#words[ACTIVITY] = USER_CODE;
  }

  /** Waits inside `emit`; returns what `restore` takes when the wait is over. */
  awaitRoom(): number {
    const before = this.#words[ACTIVITY] ?? IDLE;
    this.#words[ACTIVITY] = ROOM;
    return before;
  }

  restore(activity: number): void {
    this.#words[ACTIVITY] = activity;
    this.step();
  }

  leave(): void {
    this.#words[ACTIVITY] = IDLE;
    this.step();
  }

  answer(ping: number): void {
    Atomics.store(this.#words, ANSWER, ping);
  }

  addConsumed(bytes: number): void {
    this.#consumedBytes = (this.#consumedBytes + bytes) | 0;
    Atomics.store(this.#words, CONSUMED, this.#consumedBytes);
  }
}

/** The gateway's end. */
export class TaskStatusReader {
  readonly #words: Int32Array;
  #consumedBytes = 0;

  constructor(memory: SharedArrayBuffer) {
    this.#words = new Int32Array(memory);
  }

  get activity(): Activity {
    return ACTIVITIES[Atomics.load(this.#words, ACTIVITY)] ?? 'idle';
  }

  get progress(): number {
    return Atomics.load(this.#words, PROGRESS);
  }

  get callback(): Callback {
    return CALLBACKS[Atomics.load(this.#words, CALLBACK)] ?? 'none';
  }

  /** The last ping that was answered. */
  get answer(): number {
    return Atomics.load(this.#words, ANSWER);
  }

  /** Before a plan is sent, and so before whatever comes into the ring after it. */
  announcePlan(): void {
    Atomics.add(this.#words, PLANS, 1);
  }

  /** Whoever changes it rings the task's doorbell. */
  setHeld(isHeld: boolean): void {
    Atomics.store(this.#words, HELD, isHeld ? 1 : 0);
  }

  setForgetsTimeOuts(forgets: boolean): void {
    Atomics.store(this.#words, FORGETS, forgets ? 1 : 0);
  }

  /** Bytes consumed since the last call. */
  takeConsumed(): number {
    const total = Atomics.load(this.#words, CONSUMED);
    const fresh = (total - this.#consumedBytes) >>> 0;
    this.#consumedBytes = total;
    return fresh;
  }
}

export function createTaskStatusMemory(): SharedArrayBuffer {
  return new SharedArrayBuffer(WORDS * Int32Array.BYTES_PER_ELEMENT);
}
