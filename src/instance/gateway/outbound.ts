import { assert } from '../../base/assert.ts';
import type { TaskId } from '../../base/ids.ts';
import type { PacketConnection } from '../../net/packet-connection.ts';
import { DATA, type RingReader } from '../../ring/byte-ring.ts';
import { endOfInputSet } from '../../wire/tuple-set-writer.ts';
import { CONTROL_TAG } from '../../wire/tuple-set-format.ts';
import { CONNECTION_MARKER, END_OF_INPUT_MARKER, LARGE_SET_MARKER } from '../ring-markers.ts';
import { encodePacketHeader } from './packet-header.ts';

/** Instance → stream manager. */
export const FROM_INSTANCE = 'heron.proto.system.HeronTupleSet';

/** Towards a stream manager without credits: what may wait in the connection before we stop. */
const QUEUED_BYTES_MAX = 1024 * 1024;

/**
 * Empties the task's ring into the connection with the stream manager.
 *
 * U1. A set leaves only while there is credit (ruling R4); the balance may go below zero by one
 *     set. Without credit the ring fills, and then `emit` waits: that is back pressure.
 * U2. A frame is given back to the ring when the network has its own copy, in the order of the
 *     frames: a marker's frame too, since earlier ones may still be with the network (ruling R15).
 * U3. What was handed to a connection that is lost is lost (at most once); what is still in the
 *     ring goes to the next one, which begins with a full window.
 * U4. The end of the task is state, not an event: it is said again on every new connection.
 * U5. Acks and fails cost no credit and need none. What is behind a set that waits for credit waits
 *     with it: nothing overtakes what was emitted before (ruling R13).
 * U6. Acks and fails of tuples that a lost connection has brought are thrown away: the task has
 *     written them before the answer to the marker of the newest connection (ring-markers.ts, G3).
 */
export class Outbound {
  readonly #ring: RingReader;
  readonly #task: TaskId;
  readonly #onDone = (): void => this.#handleDone();
  readonly #largeSets: Uint8Array[] = [];
  #connection: PacketConnection | undefined;
  /** Bytes that may be sent; undefined where the peer knows no credits. */
  #credit: number | undefined = 0;
  #hasEnded = false;
  /** A large set's frame has been read, its bytes have not come yet. */
  #awaitsLargeSet = false;
  /** The frame that was read last waits for credit. */
  #waitsForCredit: Uint8Array | undefined;
  /** Markers that the task has still to write (U6). */
  #answersAwaited = 0;
  /** Frames that have been read, and those of them that have been given back. */
  #read = 0;
  #released = 0;
  /** Which of the frames went nowhere and wait for those in front of them (U2). */
  readonly #discarded: number[] = [];
  #setsSent = 0;
  #bytesSent = 0;

  constructor(ring: RingReader, task: TaskId) {
    this.#ring = ring;
    this.#task = task;
  }

  get hasEnded(): boolean {
    return this.#hasEnded;
  }

  /** True when everything that the task has written is with the network. */
  get isDrained(): boolean {
    return this.#read === this.#released && !this.#ring.hasNext();
  }

  /** Sets and their bytes since the last call. */
  takeCounts(): { readonly setsSent: number; readonly bytesSent: number } {
    const counts = { setsSent: this.#setsSent, bytesSent: this.#bytesSent };
    this.#setsSent = 0;
    this.#bytesSent = 0;
    return counts;
  }

  /** `awaitsAnswer`: the task will write a marker behind the acks that belong to the past (U6). */
  connect(
    connection: PacketConnection,
    creditBytes: number | undefined,
    awaitsAnswer = false,
  ): void {
    this.#connection = connection;
    this.#credit = creditBytes;
    if (awaitsAnswer) this.#answersAwaited += 1;
    if (this.#hasEnded) this.#sendPacket(endOfInputSet(this.#task));
    this.pump();
  }

  /**
   * An earlier process of this task has sent everything: only the end is left to be repeated (U4).
   */
  end(): void {
    this.#hasEnded = true;
  }

  disconnect(): void {
    this.#connection = undefined;
  }

  grant(bytes: number): void {
    if (this.#credit === undefined) return;
    this.#credit += bytes;
    this.pump();
  }

  handleLargeSet(bytes: Uint8Array): void {
    this.#largeSets.push(bytes);
    this.pump();
  }

  /** Sends what can be sent now. */
  pump(): void {
    while (this.#isWritable) {
      const waiting = this.#waitsForCredit;
      if (waiting !== undefined) {
        if (!this.#hasCredit) return;
        this.#waitsForCredit = undefined;
        this.#sendSet(waiting);
      } else if (this.#awaitsLargeSet) {
        if (!this.#takeLargeSet()) return;
      } else if (!this.#ring.next()) return;
      else this.#handleFrame();
    }
  }

  get #isWritable(): boolean {
    const connection = this.#connection;
    if (connection === undefined || !connection.isOpen) return false;
    return this.#credit !== undefined || connection.queuedBytes < QUEUED_BYTES_MAX;
  }

  get #hasCredit(): boolean {
    return this.#credit === undefined || this.#credit > 0;
  }

  #handleDone(): void {
    this.#release();
    // Without credits it is the connection's queue that says when more may be sent.
    if (this.#credit === undefined) this.pump();
  }

  #handleFrame(): void {
    const { kind, bytes, start, end } = this.#ring;
    this.#read += 1;
    switch (kind) {
      case DATA:
        this.#handleSet(bytes.subarray(start, end));
        return;
      case LARGE_SET_MARKER:
        this.#awaitsLargeSet = true;
        return;
      case CONNECTION_MARKER:
        this.#answersAwaited -= 1;
        this.#discard();
        return;
      default:
        assert(kind === END_OF_INPUT_MARKER, `a frame of kind ${kind}`);
        this.#hasEnded = true;
        this.#sendFrame(endOfInputSet(this.#task));
    }
  }

  #takeLargeSet(): boolean {
    const set = this.#largeSets.shift();
    if (set === undefined) return false;
    this.#awaitsLargeSet = false;
    this.#handleSet(set);
    return true;
  }

  #handleSet(set: Uint8Array): void {
    // The task writes a set either with tuples or with acks, and the field comes first.
    const isControl = set[0] === CONTROL_TAG;
    if (!isControl && !this.#hasCredit) this.#waitsForCredit = set;
    else if (!isControl) this.#sendSet(set);
    else if (this.#answersAwaited > 0)
      this.#discard(); // U6
    else this.#sendFrame(set);
  }

  #sendSet(payload: Uint8Array): void {
    this.#setsSent += 1;
    this.#bytesSent += payload.length;
    if (this.#credit !== undefined) this.#credit -= payload.length;
    this.#sendFrame(payload);
  }

  /** Sends what a frame stands for, and gives the frame back when that is done. */
  #sendFrame(payload: Uint8Array): void {
    if (!this.#sendPacket(payload, this.#onDone)) this.#discard();
  }

  #sendPacket(payload: Uint8Array, onDone?: () => void): boolean {
    const header = encodePacketHeader(FROM_INSTANCE, payload.length);
    return this.#connection?.sendPacket(header, payload, onDone) ?? false;
  }

  /** The frame that was read last goes nowhere. */
  #discard(): void {
    this.#discarded.push(this.#read);
    this.#releaseDiscarded();
  }

  /** The network has its copy of the oldest frame that it did not have. */
  #release(): void {
    this.#released += 1;
    this.#ring.release();
    if (this.#discarded.length > 0) this.#releaseDiscarded();
  }

  #releaseDiscarded(): void {
    while (this.#discarded[0] === this.#released + 1) {
      this.#discarded.shift();
      this.#released += 1;
      this.#ring.release();
    }
  }
}
