import type { AnyBolt } from '../../api/component-runtime.ts';
import type { AnyTuple } from '../../api/tuple.ts';
import type { Clock } from '../../base/clock.ts';
import { EngineError } from '../../base/errors.ts';
import { taskId } from '../../base/ids.ts';
import type { RingReader } from '../../ring/byte-ring.ts';
import type { Doorbell } from '../../ring/doorbell.ts';
import { LARGE_SET_MARKER } from '../ring-markers.ts';
import type { TaskStatusWriter } from '../task-status.ts';
import type { ComponentRunner } from './component-runner.ts';
import type { EndTracker } from './end-tracker.ts';
import { TimeSlice } from './time-slice.ts';
import type { TupleInput } from './tuple-input.ts';
import type { TupleOutput } from './tuple-output.ts';
import { isPromise, type UserCalls } from './user-calls.ts';

const NS_PER_MS = 1e6;

export interface BoltRunnerOptions {
  readonly bolt: AnyBolt;
  /** What `execute` throws fails the tuple and no more (BasicBolt), or ends the instance (Bolt). */
  readonly survivesFailures: boolean;
  readonly calls: UserCalls;
  readonly ring: RingReader;
  readonly bell: Doorbell;
  readonly input: TupleInput;
  readonly output: TupleOutput;
  readonly ends: EndTracker;
  readonly status: TaskStatusWriter;
  readonly clock: Clock;
  readonly onFailure: (error: EngineError) => void;
}

/**
 * Reads tuple sets from the ring and calls `execute` for one tuple after the other.
 *
 * X1. One call at a time: while a promise of `execute` is pending nothing else is read, so the order
 *     per source task holds.
 * X2. A set is given back to the ring, and its bytes are credited, when its last tuple is done.
 * X3. When all upstream tasks have ended and everything before their markers is done, `finish` is
 *     called once, and the run is over (ruling R3).
 * X4. Whatever was emitted leaves before the runner waits for anything outside of the process.
 */
export class BoltRunner implements ComponentRunner {
  readonly #options: BoltRunnerOptions;
  readonly #slice: TimeSlice;
  readonly #largeSets: Uint8Array[] = [];
  #onLargeSet: (() => void) | undefined;
  #stopping = false;

  constructor(options: BoltRunnerOptions) {
    this.#options = options;
    this.#slice = new TimeSlice(options.clock);
  }

  async run(): Promise<'ended' | 'stopped'> {
    const { ring, bell, output, ends } = this.#options;
    this.#slice.begin();
    while (!this.#stopping) {
      if (ends.isComplete) return this.#finish();
      const seen = bell.sequence();
      if (!output.hasRoom) {
        if (!(await output.waitForRoom())) return 'stopped';
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
  async setActive(): Promise<void> {}

  wake(): void {
    this.#options.bell.ring();
  }

  stop(): void {
    this.#stopping = true;
    this.wake();
  }

  close(): Promise<void> {
    const { calls, bolt } = this.#options;
    return calls.call('close', () => bolt.cleanup());
  }

  /** A set that did not fit into the ring; its marker may have come already. */
  handleLargeSet(bytes: Uint8Array): void {
    this.#largeSets.push(bytes);
    this.#onLargeSet?.();
  }

  async #runFrame(): Promise<void> {
    const { ring, status, input, ends } = this.#options;
    const large = ring.kind === LARGE_SET_MARKER ? await this.#takeLargeSet() : undefined;
    const start = large === undefined ? ring.start : 0;
    const end = large === undefined ? ring.end : large.length;
    input.open(large ?? ring.bytes, start, end);
    if (input.hasTuples) await this.#executeSet();
    if (input.endOfInput) ends.ended(taskId(input.sourceTask));
    if (input.hasTuples) status.addConsumed(end - start);
    ring.release();
  }

  /** Its marker and its bytes come by two ways; whichever is first waits for the other. */
  async #takeLargeSet(): Promise<Uint8Array> {
    for (;;) {
      const set = this.#largeSets.shift();
      if (set !== undefined) return set;
      await new Promise<void>((resolve) => {
        this.#onLargeSet = resolve;
      });
    }
  }

  async #executeSet(): Promise<void> {
    const { clock, input, output, status } = this.#options;
    const startedAt = clock.now();
    const executedBefore = input.counters.executed.value;
    output.attended = true;
    status.enter('execute');
    try {
      await this.#executeTuples();
    } finally {
      status.leave();
      output.attended = false;
    }
    const { executed, executeLatencyNs } = input.counters;
    executeLatencyNs.sum += (clock.now() - startedAt) * NS_PER_MS;
    executeLatencyNs.count += executed.value - executedBefore;
  }

  async #executeTuples(): Promise<void> {
    for (;;) {
      const wait = this.#executeSome();
      if (wait === undefined) return;
      await wait;
    }
  }

  /** Runs on until the set is done, or there is something to wait for, which it returns. */
  #executeSome(): Promise<void> | undefined {
    const { bolt, input, status } = this.#options;
    const { executed } = input.counters;
    for (let tuple = input.next(); tuple !== undefined; tuple = input.next()) {
      try {
        const returned: unknown = bolt.execute(tuple);
        if (isPromise(returned)) return this.#settle(returned, tuple);
      } catch (error) {
        this.#handleFailure(error, tuple);
      }
      executed.value += 1;
      status.step();
      if (this.#slice.isOver()) return this.#giveWay();
    }
    return undefined;
  }

  async #settle(returned: PromiseLike<unknown>, tuple: AnyTuple): Promise<void> {
    const { input, output, status } = this.#options;
    status.awaitPromise();
    output.flushSoon();
    try {
      await returned;
    } catch (error) {
      this.#handleFailure(error, tuple);
    }
    input.counters.executed.value += 1;
    status.resumeUserCode();
    status.step();
  }

  async #giveWay(): Promise<void> {
    const { output, status } = this.#options;
    status.awaitPromise();
    await this.#slice.giveWay();
    if (!output.hasRoom) await output.waitForRoom();
    this.#slice.begin();
    status.resumeUserCode();
  }

  #handleFailure(thrown: unknown, tuple: AnyTuple): void {
    const { calls, survivesFailures, onFailure, input } = this.#options;
    // The ring was closed under `emit`: the instance is stopping, and the tuple is not to blame.
    if (thrown instanceof EngineError && thrown.code === 'CONNECTION_CLOSED') throw thrown;
    const failure = calls.failure('execute', thrown, tuple);
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
