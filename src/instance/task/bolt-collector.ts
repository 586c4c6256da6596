import { AsyncLocalStorage } from 'node:async_hooks';
import { type AnyTuple, TrackedTuple, type TupleOrigin } from '../../api/tuple.ts';
import type { Clock } from '../../base/clock.ts';
import { userError } from '../../base/errors.ts';
import type { FailKind } from '../../model/fail-reason.ts';
import type { AckFold } from '../../wire/ack-fold.ts';
import { encodeFailDetail, failSet } from '../../wire/fail-detail.ts';
import type { InstanceIdentity } from '../instance-identity.ts';
import { AnchorRoots } from './anchor-roots.ts';
import { type CollectorOptions, ComponentCollector } from './component-collector.ts';
import { failReason } from './fail-reasons.ts';
import type { TupleAckCounters } from './task-counters.ts';
import { msBetween, ticksAt } from './ticks.ts';
import type { TupleAcks } from './tuple-acks.ts';
import type { TupleOutput } from './tuple-output.ts';

const NS_PER_MS = 1e6;

export interface BoltCollectorOptions extends CollectorOptions {
  readonly identity: InstanceIdentity;
  readonly clock: Clock;
  /** The one that the output writes. */
  readonly acks: AckFold;
}

/**
 * Where the calls of a bolt end up under at least once.
 *
 * A3. A tuple that is emitted belongs to the trees of its anchors, each once, and to no other (row
 *     S09). The anchors may have been acked before: if their trees are complete, nobody waits for
 *     it.
 * A4. Of several acks and fails of one tuple the first counts; XOR would take a second ack for the
 *     ack of another tuple. The others are counted, and the first of them is reported.
 * A5. What concerns tuples of an earlier connection with the stream manager is counted and not sent
 *     (ring-markers.ts, G4).
 * A6. A fail leaves at once, behind what was emitted and acked before it.
 */
export class BoltCollector extends ComponentCollector implements TupleAcks {
  generation = 0;
  /** A BasicBolt: what it emits descends from the tuple that is being executed. */
  anchorsToCurrent = false;
  readonly #identity: InstanceIdentity;
  readonly #clock: Clock;
  readonly #acks: AckFold;
  readonly #output: TupleOutput;
  readonly #roots = new AnchorRoots();
  #current: TrackedTuple | undefined;
  /** In place of `#current` where several tuples are executed at once. */
  #storage: AsyncLocalStorage<TrackedTuple> | undefined;
  readonly #byOrigin = new Map<TupleOrigin, TupleAckCounters>();
  #lastOrigin: TupleOrigin | undefined;
  #lastCounters: TupleAckCounters | undefined;
  #hasReportedTwice = false;

  constructor(options: BoltCollectorOptions) {
    super(options);
    this.#identity = options.identity;
    this.#clock = options.clock;
    this.#acks = options.acks;
    this.#output = options.output;
  }

  override emit(
    streamIndex: number,
    values: readonly unknown[],
    anchors: readonly AnyTuple[] | undefined,
  ): void {
    this.send(streamIndex, values, this.#rootsOf(anchors));
  }

  override emitDirect(
    task: number,
    streamIndex: number,
    values: readonly unknown[],
    anchors: readonly AnyTuple[] | undefined,
  ): void {
    this.sendDirect(task, streamIndex, values, this.#rootsOf(anchors));
  }

  /** Ticks, and what the user has made, are tracked by nobody. */
  override ack(tuple: AnyTuple): void {
    if (!(tuple instanceof TrackedTuple) || !this.#settle(tuple)) return;
    const { processLatencyNs, processLatencies } = this.#countersOf(tuple.origin);
    const now = this.#clock.now();
    const latencyNs = msBetween(tuple.takenAt, ticksAt(now)) * NS_PER_MS;
    processLatencyNs.sum += latencyNs;
    processLatencyNs.count += 1;
    const { ackSampler } = this.options.counters;
    if (ackSampler.isDue()) {
      processLatencies?.record(latencyNs, ackSampler.weight);
      ackSampler.done(now);
    }
    this.#sendAck(tuple);
    if (this.isWatched) this.options.hooks.acked(tuple);
  }

  override fail(tuple: AnyTuple, reason: unknown): void {
    if (!(tuple instanceof TrackedTuple) || !this.#settle(tuple)) return;
    this.#countersOf(tuple.origin).failed.value += 1;
    this.#sendFail(tuple, 'explicit', reason);
    if (this.isWatched) this.options.hooks.failed(tuple, reason);
  }

  begin(tuple: AnyTuple): void {
    if (this.anchorsToCurrent) this.#current = tuple as TrackedTuple;
  }

  run(tuple: AnyTuple, call: () => unknown): unknown {
    if (!this.anchorsToCurrent) return call();
    this.#storage ??= new AsyncLocalStorage();
    return this.#storage.run(tuple as TrackedTuple, call);
  }

  succeeded(tuple: AnyTuple): void {
    if (!this.anchorsToCurrent) return;
    this.#current = undefined;
    const tracked = tuple as TrackedTuple;
    tracked.isSettled = true;
    this.#sendAck(tracked);
  }

  executed(origin: TupleOrigin, count: number, latencyNs: number): void {
    if (!this.anchorsToCurrent) return;
    const { processLatencyNs } = this.#countersOf(origin);
    processLatencyNs.sum += latencyNs;
    processLatencyNs.count += count;
  }

  timed(origin: TupleOrigin, latencyNs: number, weight: number): void {
    if (!this.anchorsToCurrent) return;
    this.#countersOf(origin).processLatencies?.record(latencyNs, weight);
  }

  thrown(tuple: AnyTuple, thrown: unknown): void {
    this.#current = undefined;
    const tracked = tuple as TrackedTuple;
    if (tracked.isSettled) return; // By the bolt itself, before it threw.
    tracked.isSettled = true;
    this.#sendFail(tracked, 'thrown', thrown);
  }

  /** The moment, in ticks. */
  now(): number {
    return ticksAt(this.#clock.now());
  }

  connectionChanged(): void {
    this.generation += 1;
    this.#acks.clear();
    this.#output.markConnection();
  }

  /** The union of the trees of the anchors; undefined when there are none (A3). */
  #rootsOf(anchors: readonly AnyTuple[] | undefined): AnchorRoots | undefined {
    const roots = this.#roots;
    roots.clear();
    if (this.anchorsToCurrent) {
      const current = this.#current ?? this.#storage?.getStore();
      if (current !== undefined) roots.addAll(current);
    } else if (anchors !== undefined) {
      for (const anchor of anchors) if (anchor instanceof TrackedTuple) roots.addAll(anchor);
    }
    return roots.count === 0 ? undefined : roots;
  }

  /** False when the tuple has been settled before (A4). */
  #settle(tuple: TrackedTuple): boolean {
    if (!tuple.isSettled) {
      tuple.isSettled = true;
      return true;
    }
    this.options.counters.settledTwice.value += 1;
    if (!this.#hasReportedTwice) {
      this.#hasReportedTwice = true;
      const where = `'${tuple.sourceStream}' of '${tuple.sourceComponent}'`;
      const text = `a tuple of ${where} was acked or failed twice; only the first time counts`;
      this.options.onError(userError('INVALID_ARGUMENT', text));
    }
    return false;
  }

  #sendAck(tuple: TrackedTuple): void {
    this.#countersOf(tuple.origin).acked.value += 1;
    if (tuple.rootCount === 0 || this.#isStale(tuple)) return;
    const { keyLow, keyHigh } = tuple;
    for (let index = 0; index < tuple.rootCount; index += 1) {
      this.#output.ack(
        tuple.rootTask(index),
        tuple.rootLow(index),
        tuple.rootHigh(index),
        keyLow,
        keyHigh,
      );
    }
  }

  #sendFail(tuple: TrackedTuple, kind: FailKind, given: unknown): void {
    const { failLatencyNs } = this.#countersOf(tuple.origin);
    failLatencyNs.observe(msBetween(tuple.takenAt, this.now()) * NS_PER_MS);
    this.options.counters.failedFor(kind).value += 1;
    if (tuple.rootCount === 0 || this.#isStale(tuple)) return;
    this.#roots.clear();
    this.#roots.addAll(tuple);
    const detail = encodeFailDetail(failReason(kind, this.#identity, given));
    this.#output.sendControl(failSet(this.#identity.task, this.#roots, detail)); // A6
  }

  #isStale(tuple: TrackedTuple): boolean {
    if (tuple.generation === this.generation) return false;
    this.options.counters.settledStale.value += 1;
    return true;
  }

  #countersOf(origin: TupleOrigin): TupleAckCounters {
    if (origin === this.#lastOrigin) return this.#lastCounters as TupleAckCounters;
    let counters = this.#byOrigin.get(origin);
    if (counters === undefined) {
      counters = this.options.counters.tupleAcks(origin.component, origin.stream);
      this.#byOrigin.set(origin, counters);
    }
    this.#lastOrigin = origin;
    this.#lastCounters = counters;
    return counters;
  }
}
