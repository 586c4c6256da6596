import type { FailKind, FailReason } from '../../model/fail-reason.ts';
import type { Clock } from '../../base/clock.ts';
import type { TaskId } from '../../base/ids.ts';
import type { LatencySampler } from '../../metrics/latency-sampler.ts';
import type { RingReader } from '../../ring/byte-ring.ts';
import { AckSetReader } from '../../wire/ack-set-reader.ts';
import { decodeFailDetail } from '../../wire/fail-detail.ts';
import { StreamHeaders } from '../../wire/stream-header.ts';
import { TupleSetReader } from '../../wire/tuple-set-reader.ts';
import { CONNECTION_MARKER, LARGE_SET_MARKER } from '../ring-markers.ts';
import type { AckedAtOnce } from './acked-at-once.ts';
import type { LargeSets } from './large-sets.ts';
import type { PendingMessages } from './pending-messages.ts';
import type { SpoutMessages } from './spout-messages.ts';
import type { MessageCounters, TaskCounters } from './task-counters.ts';

const NS_PER_MS = 1e6;

export interface TrackedMessagesOptions {
  readonly task: TaskId;
  readonly pending: PendingMessages;
  /** Those that nobody tracks, as nobody reads their stream. */
  readonly atOnce: AckedAtOnce;
  /** The setting `topology.max.spout.pending`. */
  readonly pendingMax: number;
  readonly ring: RingReader;
  readonly largeSets: LargeSets;
  readonly clock: Clock;
  readonly counters: TaskCounters;
  /** By stream index. */
  readonly streamCounters: readonly MessageCounters[];
}

/**
 * The fate of a spout's messages under at least once, as the stream manager tells it through the
 * ring.
 *
 * T1. A key that is not pending is counted and passed over: an ack that comes after the failure, or
 *     for a process that is gone.
 * T2. After a connection was lost and made again, all that was emitted before the task meets the
 *     marker fails, in the order of emission: its trees were in a stream manager that is gone, or
 *     that has forgotten them (ruling R14).
 * T3. The engine's own stream managers fail trees that time out. Heron's forget them silently, and
 *     then `expire` fails what is older than the time-out.
 * T4. Nothing is looked up twice: one message is taken from those that are pending for each `next`,
 *     and what is left waits in the ring, which is bounded.
 */
export class TrackedMessages implements SpoutMessages {
  messageId: unknown = undefined;
  reason: FailReason | undefined = undefined;
  latencyMs = 0;
  /** May change at any time. With fewer than are pending none is emitted until they are settled. */
  pendingMax: number;
  readonly #options: TrackedMessagesOptions;
  readonly #sampler: LatencySampler;
  readonly #set = new TupleSetReader(new StreamHeaders());
  readonly #acks = new AckSetReader();
  #bytes: Uint8Array = new Uint8Array(0);
  /** A control set is open; its frame has not been given back. */
  #isOpen = false;
  /** Root of the open entry from which to go on. */
  #rootIndex = 0;
  #hasEntry = false;
  #entryReason: FailReason | undefined;
  /** When the open set was taken out of the ring. */
  #nowMs = 0;
  #awaitsLargeSet = false;
  /** Sequence number below which all are lost (T2). */
  #lostBefore = 0;
  /** Moment by which all that was emitted has timed out (T3). */
  #expiredBy = Number.NEGATIVE_INFINITY;

  constructor(options: TrackedMessagesOptions) {
    this.pendingMax = options.pendingMax;
    this.#options = options;
    this.#sampler = options.counters.ackSampler;
  }

  get isFull(): boolean {
    return this.#options.pending.count >= this.pendingMax;
  }

  get count(): number {
    return this.#options.pending.count + this.#options.atOnce.count;
  }

  get hasNews(): boolean {
    const { ring, atOnce, largeSets } = this.#options;
    if (this.#awaitsLargeSet) return largeSets.hasSome || atOnce.hasNews;
    return this.#isOpen || ring.hasNext() || atOnce.hasNews || this.#hasLost;
  }

  /** Fails what was emitted at `ms` or earlier (T3); the runner is to be woken. */
  expire(ms: number): void {
    this.#expiredBy = ms;
  }

  next(): boolean {
    if (this.#nextAtOnce() || this.#nextLost()) return true;
    while (this.#isOpen || this.#openFrame()) {
      if (this.#nextOfSet()) return true;
      this.#closeSet();
      if (this.#nextLost()) return true;
    }
    return false;
  }

  get #hasLost(): boolean {
    return this.#lostBefore > 0 || this.#expiredBy !== Number.NEGATIVE_INFINITY;
  }

  #nextAtOnce(): boolean {
    const { atOnce } = this.#options;
    if (!atOnce.next()) return false;
    this.messageId = atOnce.messageId;
    this.reason = undefined;
    this.latencyMs = 0;
    return true;
  }

  #nextLost(): boolean {
    if (!this.#hasLost) return false;
    const { pending, clock } = this.#options;
    this.#nowMs = clock.now();
    if (pending.takeOldest(this.#lostBefore)) return this.#failed(LOST_STREAM_MANAGER);
    this.#lostBefore = 0;
    if (pending.takeEmittedBy(this.#expiredBy)) {
      this.#options.streamCounters[pending.stream]?.timedOut.add(1);
      return this.#failed(TIMED_OUT);
    }
    this.#expiredBy = Number.NEGATIVE_INFINITY;
    return false;
  }

  /** Makes the next frame of the ring the open set; false when there is none, or it has to come. */
  #openFrame(): boolean {
    const { ring, largeSets, pending, clock } = this.#options;
    if (!this.#awaitsLargeSet && !ring.next()) return false;
    if (!this.#awaitsLargeSet && ring.kind === LARGE_SET_MARKER) this.#awaitsLargeSet = true;
    const large = this.#awaitsLargeSet ? largeSets.poll() : undefined;
    if (this.#awaitsLargeSet && large === undefined) return false;
    this.#awaitsLargeSet = false;
    this.#isOpen = true;
    this.#hasEntry = false;
    this.#nowMs = clock.now();
    if (large === undefined && ring.kind === CONNECTION_MARKER) {
      this.#lostBefore = pending.next;
      this.#acks.open(ring.bytes, 0, 0);
      return true;
    }
    this.#bytes = large ?? ring.bytes;
    const start = large === undefined ? ring.start : 0;
    const end = large === undefined ? ring.end : large.length;
    this.#set.open(this.#bytes, start, end);
    this.#acks.open(this.#bytes, this.#set.controlStart, this.#set.controlEnd);
    return true;
  }

  #closeSet(): void {
    this.#isOpen = false;
    this.#options.ring.release();
  }

  /** Moves to the next entry of the open set whose message is pending. */
  #nextOfSet(): boolean {
    const acks = this.#acks;
    for (;;) {
      while (this.#hasEntry && this.#rootIndex < acks.roots.count) {
        const index = this.#rootIndex;
        this.#rootIndex += 1;
        if (this.#settle(index)) return true;
      }
      this.#hasEntry = acks.next();
      if (!this.#hasEntry) return false;
      this.#rootIndex = 0;
      this.#entryReason = acks.kind === 'fail' ? this.#readReason() : undefined;
    }
  }

  #readReason(): FailReason {
    const { detailStart, detailEnd } = this.#acks;
    // Heron's own processes give no reason; what they pass on is what somebody called `fail` for.
    if (detailStart === detailEnd) return FAILED;
    return decodeFailDetail(this.#bytes, detailStart, detailEnd);
  }

  #settle(index: number): boolean {
    const { pending, task, counters } = this.#options;
    const { roots } = this.#acks;
    const isPending =
      roots.task(index) === task && pending.take(roots.keyLow(index), roots.keyHigh(index));
    if (!isPending) {
      counters.unknownMessages.value += 1; // T1
      return false;
    }
    const reason = this.#entryReason;
    return reason === undefined ? this.#acked() : this.#failed(reason);
  }

  #acked(): boolean {
    const { acked, completeLatencyNs, completeLatencies } = this.#taken();
    const latencyNs = this.latencyMs * NS_PER_MS;
    this.reason = undefined;
    acked.value += 1;
    completeLatencyNs.sum += latencyNs;
    completeLatencyNs.count += 1;
    const sampler = this.#sampler;
    if (sampler.isDue()) {
      completeLatencies?.record(latencyNs, sampler.weight);
      sampler.done(this.#nowMs);
    }
    return true;
  }

  #failed(reason: FailReason): boolean {
    const { failed, failLatencyNs } = this.#taken();
    this.reason = reason;
    failed.value += 1;
    failLatencyNs.sum += this.latencyMs * NS_PER_MS;
    failLatencyNs.count += 1;
    this.#options.counters.failedFor(reason.kind).value += 1;
    return true;
  }

  /** The message that was just taken from those that are pending becomes the current one. */
  #taken(): MessageCounters {
    const { pending, streamCounters } = this.#options;
    this.messageId = pending.messageId;
    pending.messageId = undefined; // It is the user's memory.
    this.latencyMs = this.#nowMs - pending.emittedAtMs;
    return streamCounters[pending.stream] as MessageCounters;
  }
}

function withoutError(kind: FailKind): FailReason {
  return { kind, component: undefined, task: undefined, error: undefined };
}

const LOST_STREAM_MANAGER = withoutError('lost-stream-manager');
const TIMED_OUT = withoutError('time-out');
const FAILED = withoutError('explicit');
