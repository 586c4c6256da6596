import type { AnyTuple, TupleOrigin } from '../../api/tuple.ts';
import type { EngineError } from '../../base/errors.ts';
import { hasCode } from '../../base/errors.ts';
import { waitedMs } from '../arrival-stamp.ts';
import { CONNECTION_MARKER, LARGE_SET_MARKER } from '../ring-markers.ts';
import type { BoltRunnerOptions } from './bolt-runner.ts';
import type { ComponentRunner } from './component-runner.ts';
import { RoomOrEvent } from './room-or-event.ts';
import type { InputCounters } from './task-counters.ts';
import { TimeSlice } from './time-slice.ts';
import { isPromise } from './user-calls.ts';

const NS_PER_MS = 1e6;
/** Tuples that may wait behind others of their key, for each one that may run. */
const WAITING_PER_RUNNING = 8;

export interface ConcurrentBoltRunnerOptions extends BoltRunnerOptions {
  /** How many promises of `execute` may be pending. */
  readonly concurrency: number;
}

/** A set whose tuples are under way. */
interface TakenSet {
  readonly bytes: number;
  readonly origin: TupleOrigin;
  readonly counters: InputCounters;
  /** How long it was in the ring; undefined where nobody knows. */
  readonly waitedMs: number | undefined;
  tuples: number;
  /** Tuples that are not done, and one more until the last tuple has been read. */
  left: number;
}

interface TakenTuple {
  readonly tuple: AnyTuple;
  /** What no two running tuples have in common; undefined without a key. */
  readonly key: string | undefined;
  readonly set: TakenSet;
}

/**
 * The loop of a bolt whose `execute` may run several times at once.
 *
 *     ring ──> taken: waits behind a running tuple of its key, or runs ──> done
 *
 * C1. At most `concurrency` executes have begun and not settled.
 * C2. Tuples of equal key, which are those whose grouping fields have equal hashes, are executed in
 *     their order, each after the one before has settled. Others are in no order.
 * C3. A set's bytes are credited when its last tuple is done, so that senders feel a slow bolt;
 *     what has been taken and is not done is bounded in number as well.
 * C4. When all upstream tasks have ended and all is done, `finish` is called (R3). After `stop`
 *     nothing is begun, and what runs is waited for.
 * C5. Ticks, timers and plan changes are called beside what is pending, one at a time.
 * C6. Under at least once, what a BasicBolt emits belongs to the tuple in whose `execute`, or in
 *     whose promises and callbacks, it is emitted.
 */
export class ConcurrentBoltRunner implements ComponentRunner {
  readonly #options: ConcurrentBoltRunnerOptions;
  readonly #slice: TimeSlice;
  readonly #room: RoomOrEvent;
  /** Of each key of which a tuple runs, those that wait. */
  readonly #waiting = new Map<string, TakenTuple[]>();
  #openSet: TakenSet | undefined;
  #running = 0;
  /** Running or waiting. */
  #taken = 0;
  #stopping = false;
  #failure: { readonly error: unknown } | undefined;

  constructor(options: ConcurrentBoltRunnerOptions) {
    this.#options = options;
    this.#slice = new TimeSlice(options.clock);
    this.#room = new RoomOrEvent(options.output, options.due);
  }

  async run(): Promise<'ended' | 'stopped'> {
    const { ring, bell, output, ends, due, calls, status } = this.#options;
    this.#slice.begin();
    while (!this.#stopping) {
      // Each execute that settles rings, and so does whatever else the loop could wait for.
      const seen = bell.sequence();
      this.#throwFailure();
      if (!due.isEmpty) await due.runRound(calls, () => !this.#stopping);
      if (ends.isComplete && this.#taken === 0 && !status.awaitsPlan) return this.#finish();
      if (!output.hasRoom) {
        if (!(await this.#room.wait())) return 'stopped';
      } else if (this.#canTake && (this.#openSet !== undefined || ring.next())) {
        await this.#takeSome();
      } else {
        output.flush();
        await bell.wait(seen);
        this.#slice.begin();
      }
    }
    await this.#settled();
    return 'stopped';
  }

  /** A bolt goes on while the topology is paused: what the spouts have emitted is worked off. */
  setActive(): void {}

  wake(): void {
    this.#options.bell.ring();
  }

  stop(): void {
    this.#stopping = true;
    this.wake();
  }

  close(): Promise<void> {
    const { calls, bolt } = this.#options;
    return calls.call('cleanup', () => bolt.cleanup());
  }

  get #canTake(): boolean {
    const { concurrency } = this.#options;
    return this.#running < concurrency && this.#taken < concurrency * (1 + WAITING_PER_RUNNING);
  }

  /** Takes tuples of one set for as long as there is a place for them. */
  async #takeSome(): Promise<void> {
    const { input, output } = this.#options;
    const set = this.#openSet ?? (await this.#open());
    if (set === undefined) return;
    while (this.#canTake && output.hasRoom && this.#failure === undefined) {
      const tuple = input.next();
      if (tuple === undefined) {
        this.#closeSet(set);
        return;
      }
      this.#take({ tuple, key: input.key, set });
      if (!this.#slice.isOver()) continue;
      output.flush();
      await this.#slice.giveWay();
      this.#slice.begin();
      return;
    }
  }

  /** Opens the set at the ring's front; undefined when it holds no tuples. */
  async #open(): Promise<TakenSet | undefined> {
    const { ring, largeSets, input, ends, acks, clock } = this.#options;
    if (ring.kind === CONNECTION_MARKER) {
      acks?.connectionChanged();
      ring.release();
      return undefined;
    }
    const large = ring.kind === LARGE_SET_MARKER ? await largeSets.take() : undefined;
    const start = large === undefined ? ring.start : 0;
    const end = large === undefined ? ring.end : large.length;
    input.open(large ?? ring.bytes, start, end);
    if (input.hasTuples) {
      ends.heard(input.sourceTask);
      const { counters, origin } = input;
      const waited = large ? undefined : waitedMs(ring.bytes, start, clock.now());
      const bytes = end - start;
      this.#openSet = { bytes, origin, counters, waitedMs: waited, tuples: 0, left: 1 };
      return this.#openSet;
    }
    this.#release();
    return undefined;
  }

  #closeSet(set: TakenSet): void {
    const { counters, waitedMs: waited, tuples } = set;
    if (waited !== undefined) counters.queueLatencies?.record(waited * NS_PER_MS, tuples);
    this.#openSet = undefined;
    this.#release();
    this.#countOff(set);
  }

  /** All has been read: tuples share no memory with the ring. */
  #release(): void {
    const { ring, input, ends } = this.#options;
    if (input.endOfInput) ends.ended(input.sourceTask);
    ring.release();
  }

  #take(taken: TakenTuple): void {
    const { key } = taken;
    taken.set.left += 1;
    taken.set.tuples += 1;
    this.#taken += 1;
    if (key !== undefined) {
      const ahead = this.#waiting.get(key);
      if (ahead !== undefined) {
        ahead.push(taken);
        return;
      }
      this.#waiting.set(key, []);
    }
    this.#execute(taken);
  }

  #execute(taken: TakenTuple): void {
    const { bolt, output, status, clock, acks } = this.#options;
    const { tuple } = taken;
    const startedAt = clock.now();
    this.#running += 1;
    output.attended = true;
    status.enter('execute');
    try {
      const returned: unknown =
        acks === undefined ? bolt.execute(tuple) : acks.run(tuple, () => bolt.execute(tuple));
      if (!isPromise(returned)) this.#over(taken, startedAt);
      else {
        output.flushSoon();
        returned.then(
          () => this.#over(taken, startedAt),
          (error: unknown) => this.#over(taken, startedAt, { error }),
        );
      }
    } catch (error) {
      this.#over(taken, startedAt, { error });
    } finally {
      this.#leave();
    }
  }

  /** What is emitted from now on comes from promises and callbacks. */
  #leave(): void {
    const { output, status } = this.#options;
    output.attended = false;
    status.leave();
    if (this.#running > 0) status.awaitPromise();
  }

  #over(
    { tuple, key, set }: TakenTuple,
    startedAt: number,
    failed?: { readonly error: unknown },
  ): void {
    const { bell, clock, status, acks } = this.#options;
    const { executed, executeTimeNs, executeLatencyNs, executeLatencies } = set.counters;
    if (failed !== undefined) this.#handleFailure(failed.error, tuple, set.counters);
    else this.#settleTuple(() => acks?.succeeded(tuple));
    const latencyNs = (clock.now() - startedAt) * NS_PER_MS;
    executed.value += 1;
    executeLatencyNs.sum += latencyNs;
    executeLatencyNs.count += 1;
    executeTimeNs.value += latencyNs;
    executeLatencies?.record(latencyNs);
    acks?.executed(set.origin, 1, latencyNs);
    acks?.timed(set.origin, latencyNs, 1);
    this.#running -= 1;
    this.#taken -= 1;
    status.step();
    this.#countOff(set);
    if (key !== undefined) this.#goOnWith(key);
    // An idle task is not taken for one that waits for a promise.
    if (this.#running === 0) status.leave();
    bell.ring();
  }

  /** The next tuple of a key, of which none runs any more. */
  #goOnWith(key: string): void {
    const next = this.#waiting.get(key)?.shift();
    if (next === undefined) this.#waiting.delete(key);
    else if (!this.#stopping && this.#failure === undefined) this.#execute(next);
  }

  #countOff(set: TakenSet): void {
    set.left -= 1;
    if (set.left > 0) return;
    const { status, ring } = this.#options;
    status.addConsumed(set.bytes);
    // The frame was given back long ago: nothing else would tell the gateway of this credit, and
    // when all senders wait for it nothing else ever happens.
    ring.wakeWriter();
  }

  #handleFailure(thrown: unknown, tuple: AnyTuple, { failed }: InputCounters): void {
    const { calls, survivesFailures, onFailure, acks } = this.#options;
    // The ring was closed under `emit`: the instance is stopping, the tuple is not to blame.
    const isCutShort = hasCode(thrown, 'CONNECTION_CLOSED');
    const failure: EngineError = calls.failure('execute', thrown, tuple);
    if (!isCutShort) this.#settleTuple(() => acks?.thrown(tuple, thrown));
    if (isCutShort || !survivesFailures) {
      this.#failure ??= { error: isCutShort ? thrown : failure };
      return;
    }
    failed.value += 1;
    onFailure(failure);
  }

  /** The ring may be closed under it, as under `emit`: then the instance is stopping. */
  #settleTuple(settle: () => void): void {
    try {
      settle();
    } catch (error) {
      this.#failure ??= { error };
    }
  }

  #throwFailure(): void {
    if (this.#failure !== undefined) throw this.#failure.error;
  }

  async #settled(): Promise<void> {
    const { bell, output } = this.#options;
    output.flush();
    for (;;) {
      const seen = bell.sequence();
      this.#throwFailure();
      if (this.#running === 0) return;
      await bell.wait(seen);
    }
  }

  async #finish(): Promise<'ended'> {
    const { bolt, calls } = this.#options;
    this.#throwFailure();
    await calls.call('finish', () => bolt.finish());
    return 'ended';
  }
}
