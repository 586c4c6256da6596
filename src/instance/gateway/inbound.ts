import type { Clock } from '../../base/clock.ts';
import type { TaskId } from '../../base/ids.ts';
import type { PacketConnection } from '../../net/packet-connection.ts';
import { NO_ROOM, type RingWriter } from '../../ring/byte-ring.ts';
import { copyOf, type Packet } from '../../wire/frame.ts';
import { StreamHeaders } from '../../wire/stream-header.ts';
import { readBackPressureNotice } from '../../wire/back-pressure-notice.ts';
import { TupleSetReader } from '../../wire/tuple-set-reader.ts';
import { consumedBytesSet } from '../../wire/tuple-set-writer.ts';
import { STAMP_BYTES, writeArrival } from '../arrival-stamp.ts';
import { CONNECTION_MARKER, LARGE_SET_MARKER } from '../ring-markers.ts';
import type { TaskStatusReader } from '../task-status.ts';
import { FROM_INSTANCE } from './outbound.ts';
import { encodePacketHeader } from './packet-header.ts';

/**
 * Credit goes back when this part of the window has been consumed, or as much as is left: a sender
 * judges by it how old the oldest is that the task has not done.
 */
const CREDIT_PARTS = 4;

export interface InboundOptions {
  readonly clock: Clock;
  readonly ring: RingWriter;
  readonly task: TaskId;
  readonly status: TaskStatusReader;
  /** The setting `heron.streammgr.credit.bytes`. */
  readonly windowBytes: number;
  readonly sendLargeSet: (bytes: Uint8Array) => void;
  /** Whether the task keeps account of tuples, so that it is told of acks and connections. */
  readonly isTracked: boolean;
  /** The stream manager has room again for so many bytes from this instance. */
  readonly onGrant: (bytes: number) => void;
  /** Rings the task's doorbell for a word in its status. */
  readonly ringTask: () => void;
}

interface WaitingSet {
  readonly bytes: Buffer;
  readonly arrivedAtMs: number;
}

/** A set that waits for room, or a marker where it has no bytes of its own. */
type WaitingFrame = WaitingSet | typeof CONNECTION_MARKER;

/**
 * Fills the task's ring with what the stream manager sends, and tells it what the task has
 * consumed.
 *
 * V1. The socket is always read. What does not fit into the ring waits here; credits bound it.
 * V2. Sets keep their order, whichever way they take into the task's thread.
 * V3. Once the task has ended it reads nothing more. What still comes, from an upstream task that
 *     was started again and does not know better, is dropped and credited, so that its sender can
 *     come to its end as well.
 * V4. Acks and fails take their turn among the sets, and neither cost nor earn credit.
 * V5. Back pressure is a word in the task's status, which a new connection clears: a stream manager
 *     that is gone holds nobody (ruling R12).
 * V6. With at least once, what waits for room when a connection is made again is dropped: its trees
 *     have failed with the earlier one. Otherwise each connection would add a window to V1.
 */
export class Inbound {
  readonly #options: InboundOptions;
  readonly #reader = new TupleSetReader(new StreamHeaders());
  #waiting: WaitingFrame[] = [];
  #connection: PacketConnection | undefined;
  /** Bytes handed to the task and not consumed yet. */
  #outstanding = 0;
  /** Bytes consumed and not reported yet. */
  #consumed = 0;
  /** Bytes of earlier connections that the task has still to work off; they earn no credit. */
  #stale = 0;
  #hasEnded = false;
  #hasBeenConnected = false;
  #ringFull = 0;
  #setsReceived = 0;
  #bytesReceived = 0;

  constructor(options: InboundOptions) {
    this.#options = options;
  }

  /** Bytes of the sets that have found no room in the ring yet (V1). */
  get waitingBytes(): number {
    return this.#waiting.reduce((sum, set) => sum + (isMarker(set) ? 0 : set.bytes.length), 0);
  }

  /** Bytes handed to the task that it is not done with. */
  get outstandingBytes(): number {
    return this.#outstanding;
  }

  /** Sets and their bytes since the last call, and how often the ring had no room for one. */
  takeCounts(): {
    readonly setsReceived: number;
    readonly bytesReceived: number;
    readonly ringFull: number;
  } {
    const counts = {
      setsReceived: this.#setsReceived,
      bytesReceived: this.#bytesReceived,
      ringFull: this.#ringFull,
    };
    this.#setsReceived = 0;
    this.#bytesReceived = 0;
    this.#ringFull = 0;
    return counts;
  }

  /**
   * `forgetsTimeOuts`: the stream manager does not tell of trees that time out, as Heron's own.
   * Returns whether the task will answer by a marker: this is not its first connection.
   */
  connect(connection: PacketConnection, forgetsTimeOuts = false): boolean {
    this.#connection = connection;
    this.#options.status.setForgetsTimeOuts(forgetsTimeOuts);
    const isNews = this.#hasBeenConnected && this.#options.isTracked && !this.#hasEnded;
    this.#hasBeenConnected = true;
    if (isNews) this.#dropWaiting();
    // The stream manager starts with a full window: what an earlier connection brought is not owed.
    this.#consumed = 0;
    this.#stale = this.#outstanding;
    if (isNews && (this.#waiting.length > 0 || !this.#writeFrame(CONNECTION_MARKER))) {
      this.#waiting.push(CONNECTION_MARKER);
    }
    return isNews;
  }

  disconnect(): void {
    this.#connection = undefined;
    this.#hold(false);
  }

  handleSet(packet: Packet): void {
    const { payloadStart, payloadEnd, bytes } = packet;
    const reader = this.#reader;
    reader.open(bytes, payloadStart, payloadEnd);
    if (reader.grantedBytes > 0) this.#options.onGrant(reader.grantedBytes);
    if (reader.backPressureEnd > 0) this.#handleBackPressure(bytes);
    const hasData = reader.stream !== undefined;
    const isForTask = hasData || reader.endOfInput || this.#hasNewsOfAcks;
    if (!isForTask) return;
    const setBytes = payloadEnd - payloadStart;
    if (hasData) {
      this.#outstanding += setBytes;
      this.#setsReceived += 1;
      this.#bytesReceived += setBytes;
    }
    if (this.#hasEnded) {
      this.#dropAll();
      return;
    }
    const nowMs = this.#options.clock.now();
    if (this.#waiting.length > 0 || !this.#write(bytes, payloadStart, payloadEnd, nowMs)) {
      const copy = copyOf(bytes, payloadStart, payloadEnd);
      this.#waiting.push({ bytes: copy, arrivedAtMs: nowMs });
      this.#ringFull += 1;
    }
  }

  /** The task has read its last set (V3). */
  end(): void {
    this.pump();
    this.#hasEnded = true;
    this.#dropAll();
  }

  /** The task has read something: hands on what waits, and reports what was consumed. */
  pump(): void {
    this.#moveWaiting();
    const fresh = this.#options.status.takeConsumed();
    if (fresh === 0) return;
    this.#outstanding -= fresh;
    const stale = Math.min(this.#stale, fresh);
    this.#stale -= stale;
    this.#consumed += fresh - stale;
    this.#report();
  }

  get #hasNewsOfAcks(): boolean {
    return this.#options.isTracked && this.#reader.controlEnd > 0;
  }

  #handleBackPressure(bytes: Uint8Array): void {
    const { backPressureStart, backPressureEnd } = this.#reader;
    this.#hold(readBackPressureNotice(bytes, backPressureStart, backPressureEnd).isHeld);
  }

  #hold(isHeld: boolean): void {
    this.#options.status.setHeld(isHeld);
    this.#options.ringTask();
  }

  /** V6. Markers of connections stay, each of which the task answers. */
  #dropWaiting(): void {
    for (const frame of this.#waiting) {
      if (isMarker(frame)) continue;
      const { bytes } = frame;
      this.#reader.open(bytes, 0, bytes.length);
      if (this.#reader.stream !== undefined) this.#outstanding -= bytes.length;
    }
    this.#waiting = this.#waiting.filter(isMarker);
  }

  /** What the task has not read counts as consumed. */
  #dropAll(): void {
    this.#waiting = [];
    this.#consumed += this.#outstanding - this.#stale;
    this.#outstanding = 0;
    this.#stale = 0;
    this.#report();
  }

  #moveWaiting(): void {
    if (this.#waiting.length === 0) return;
    let moved = 0;
    for (const frame of this.#waiting) {
      if (!this.#writeFrame(frame)) break;
      moved += 1;
    }
    if (moved > 0) this.#waiting = this.#waiting.slice(moved);
  }

  #writeFrame(frame: WaitingFrame): boolean {
    if (isMarker(frame)) return this.#options.ring.writeMarker(frame);
    const { bytes, arrivedAtMs } = frame;
    return this.#write(bytes, 0, bytes.length, arrivedAtMs);
  }

  #write(bytes: Buffer, start: number, end: number, arrivedAtMs: number): boolean {
    const { ring, sendLargeSet } = this.#options;
    const setBytes = end - start;
    if (setBytes + STAMP_BYTES > ring.payloadBytesMax) {
      if (!ring.writeMarker(LARGE_SET_MARKER)) return false;
      sendLargeSet(copyOf(bytes, start, end));
      return true;
    }
    const reserved = ring.reserve(setBytes + STAMP_BYTES);
    if (reserved === NO_ROOM) return false;
    const at = writeArrival(ring.bytes, reserved, arrivedAtMs);
    // Into shared memory `copy` of a part takes less than half as long as `set` (bench/ring.ts).
    bytes.copy(ring.bytes, at, start, end);
    ring.commit(at, at + setBytes);
    return true;
  }

  #report(): void {
    const { windowBytes, task } = this.#options;
    if (this.#consumed === 0) return;
    if (this.#consumed < Math.min(windowBytes / CREDIT_PARTS, this.#outstanding)) return;
    const payload = consumedBytesSet(task, this.#consumed);
    const header = encodePacketHeader(FROM_INSTANCE, payload.length);
    if (this.#connection?.sendPacket(header, payload)) this.#consumed = 0;
  }
}

function isMarker(frame: WaitingFrame): frame is typeof CONNECTION_MARKER {
  return frame === CONNECTION_MARKER;
}
