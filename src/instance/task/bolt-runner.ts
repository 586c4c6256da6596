import type { AnyTuple } from '../../api/tuple.ts';
import type { Clock } from '../../base/clock.ts';
import { type EngineError, hasCode } from '../../base/errors.ts';
import type { LatencySampler } from '../../metrics/latency-sampler.ts';
import type { RingReader } from '../../ring/byte-ring.ts';
import type { Doorbell } from '../../ring/doorbell.ts';
import { waitedMs } from '../arrival-stamp.ts';
import { CONNECTION_MARKER, LARGE_SET_MARKER } from '../ring-markers.ts';
import type { TaskStatusWriter } from '../task-status.ts';
import type { ComponentRunner } from './component-runner.ts';
import type { DueEvents } from './due-events.ts';
import type { EndTracker } from './end-tracker.ts';
import type { LargeSets } from './large-sets.ts';
import { RoomOrEvent } from './room-or-event.ts';
import type { BoltCalls } from './task-hooks.ts';
import { TimeSlice } from './time-slice.ts';
import type { TupleAcks } from './tuple-acks.ts';
import type { TupleInput } from './tuple-input.ts';
import type { TupleOutput } from './tuple-output.ts';
import { isPromise, type UserCalls } from './user-calls.ts';

const NS_PER_MS = 1e6;
/** In the place of when a call began that is not timed. */
const UNTIMED = -1;

export interface BoltRunnerOptions {
  readonly bolt: BoltCalls;
  /** What `execute` throws fails the tuple and no more (BasicBolt), or ends the instance (Bolt). */
  readonly survivesFailures: boolean;
  readonly calls: UserCalls;
  readonly ring: RingReader;
  readonly largeSets: LargeSets;
  readonly bell: Doorbell;
  readonly input: TupleInput;
  readonly output: TupleOutput;
  /** Undefined under at most once. */
  readonly acks: TupleAcks | undefined;
  readonly ends: EndTracker;
  readonly due: DueEvents;
  readonly status: TaskStatusWriter;
  /** Chooses the calls that are timed. */
  readonly sampler: LatencySampler;
  readonly clock: Clock;
  readonly onFailure: (error: EngineError) => void;
}

/**
 * Reads tuple sets from the ring and calls `execute` for one tuple after the other.
 *
 * X1. One call at a time: while a promise of `execute` is pending nothing else is read, so the
 *     order per source task holds.
 * X2. A set is given back to the ring, and its bytes are credited, when its last tuple is done.
 * X3. When all upstream tasks have ended and everything before their markers is done, `finish` is
 *     called once, and the run is over (ruling R3). Which tasks are upstream is what the newest
 *     plan says that was sent before the last marker.
 * X4. Whatever was emitted leaves before the runner waits for anything outside of the process, and
 *     at the end of each time slice.
 * X5. After `stop` no further tuple is executed, also not of a set that has been begun.
 * X6. Ticks, timers and plan changes get their turn between two tuples, at least once in a time
 *     slice, and go on while there is no room for what the bolt emits.
 * X7. Under at least once, what a BasicBolt emits inside `execute` descends from the tuple that it
 *     was given, also while its promise is pending; what ticks, timers and `finish` emit descends
 *     from none. A tuple whose `execute` throws is failed before anything else happens, also where
 *     the failure ends the instance (row O38).
 */
export class BoltRunner implements ComponentRunner {
  readonly #options: BoltRunnerOptions;
  readonly #slice: TimeSlice;
  readonly #room: RoomOrEvent;
  #stopping = false;

  constructor(options: BoltRunnerOptions) {
    this.#options = options;
    this.#slice = new TimeSlice(options.clock);
    this.#room = new RoomOrEvent(options.output, options.due);
  }

  async run(): Promise<'ended' | 'stopped'> {
    const { ring, bell, output, ends, due, status } = this.#options;
    this.#slice.begin();
    while (!this.#stopping) {
      const seen = bell.sequence();
      if (!due.isEmpty) await this.#runDue();
      if (this.#stopping) break;
      if (ends.isComplete && !status.awaitsPlan) return this.#finish();
      if (!output.hasRoom) {
        if (!(await this.#room.wait())) return 'stopped';
      } else if (ring.next()) await this.#runFrame();
      else {
        output.flush();
        await bell.wait(seen);
        this.#slice.begin();
      }
    }
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

  async #runFrame(): Promise<void> {
    const { ring, largeSets, status, input, ends, acks } = this.#options;
    if (ring.kind === CONNECTION_MARKER) {
      acks?.connectionChanged();
      ring.release();
      return;
    }
    const large = ring.kind === LARGE_SET_MARKER ? await largeSets.take() : undefined;
    const start = large === undefined ? ring.start : 0;
    const end = large === undefined ? ring.end : large.length;
    input.open(large ?? ring.bytes, start, end);
    if (input.hasTuples) {
      ends.heard(input.sourceTask);
      await this.#executeSet(large === undefined);
    }
    if (this.#stopping) return;
    if (input.endOfInput) ends.ended(input.sourceTask);
    if (input.hasTuples) status.addConsumed(end - start);
    ring.release();
  }

  async #executeSet(isInRing: boolean): Promise<void> {
    const { clock, input, output, status, due, acks, ring } = this.#options;
    const { executed, executeTimeNs, executeLatencyNs, queueLatencies } = input.counters;
    const startedAt = clock.now();
    const waited = isInRing ? waitedMs(ring.bytes, ring.start, startedAt) : undefined;
    const executedBefore = executed.value;
    output.attended = true;
    status.enter('execute');
    try {
      let wait = this.#executeSome();
      while (wait !== undefined) {
        await wait;
        if (!due.isEmpty) await this.#runDueInSet();
        if (this.#stopping) break;
        wait = this.#executeSome();
      }
    } finally {
      status.leave();
      output.attended = false;
    }
    const latencyNs = (clock.now() - startedAt) * NS_PER_MS;
    const count = executed.value - executedBefore;
    executeTimeNs.value += latencyNs;
    executeLatencyNs.sum += latencyNs;
    executeLatencyNs.count += count;
    if (waited !== undefined && count > 0) queueLatencies?.record(waited * NS_PER_MS, count);
    acks?.executed(input.origin, count, latencyNs);
  }

  /** Runs on until the set is done, or there is something to wait for, which it returns. */
  #executeSome(): Promise<void> | undefined {
    const { bolt, input, status, acks, sampler, clock } = this.#options;
    const { executed } = input.counters;
    for (let tuple = input.next(); tuple !== undefined; tuple = input.next()) {
      acks?.begin(tuple);
      const startedAt = sampler.isDue() ? clock.now() : UNTIMED;
      try {
        const returned: unknown = bolt.execute(tuple);
        if (isPromise(returned)) return this.#settle(returned, tuple, startedAt);
        acks?.succeeded(tuple);
      } catch (error) {
        this.#handleFailure(error, tuple);
      }
      if (startedAt !== UNTIMED) this.#time(startedAt);
      executed.value += 1;
      status.step();
      if (this.#slice.isOver()) return this.#giveWay();
    }
    return undefined;
  }

  /** Awaits a promise of the user. What is emitted meanwhile comes from callbacks. */
  async #settle(returned: PromiseLike<unknown>, tuple: AnyTuple, startedAt: number): Promise<void> {
    const { input, output, status, acks } = this.#options;
    status.awaitPromise();
    output.attended = false;
    output.flushSoon();
    try {
      await returned;
      acks?.succeeded(tuple);
    } catch (error) {
      this.#handleFailure(error, tuple);
    }
    if (startedAt !== UNTIMED) this.#time(startedAt);
    input.counters.executed.value += 1;
    output.attended = true;
    status.resumeUserCode();
    status.step();
  }

  /** A call that was to be timed is over. */
  #time(startedAt: number): void {
    const { input, acks, sampler, clock } = this.#options;
    const { executeLatencies } = input.counters;
    const now = clock.now();
    const latencyNs = (now - startedAt) * NS_PER_MS;
    executeLatencies?.record(latencyNs, sampler.weight);
    acks?.timed(input.origin, latencyNs, sampler.weight);
    sampler.done(now);
  }

  /** Timers, promises and messages get their turn; nothing of this component is on the stack. */
  async #giveWay(): Promise<void> {
    const { output, status } = this.#options;
    status.leave();
    output.attended = false;
    output.flush();
    await this.#slice.giveWay();
    while (!output.hasRoom && !this.#stopping && (await this.#room.wait())) await this.#runDue();
    output.attended = true;
    this.#slice.begin();
    status.enter('execute');
  }

  #runDue(): Promise<void> {
    const { due, calls } = this.#options;
    return due.runRound(calls, () => !this.#stopping);
  }

  async #runDueInSet(): Promise<void> {
    const { output, status } = this.#options;
    status.leave();
    output.attended = false;
    await this.#runDue();
    output.attended = true;
    status.enter('execute');
  }

  #handleFailure(thrown: unknown, tuple: AnyTuple): void {
    const { calls, survivesFailures, onFailure, input, acks } = this.#options;
    // The ring was closed under `emit`: the instance is stopping, the tuple is not to blame.
    if (hasCode(thrown, 'CONNECTION_CLOSED')) throw thrown;
    const failure = calls.failure('execute', thrown, tuple);
    acks?.thrown(tuple, thrown);
    if (!survivesFailures) throw failure;
    input.counters.failed.value += 1;
    onFailure(failure);
  }

  async #finish(): Promise<'ended'> {
    const { bolt, calls } = this.#options;
    await calls.call('finish', () => bolt.finish());
    return 'ended';
  }
}
