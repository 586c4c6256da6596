import type { TaskId } from '../../base/ids.ts';
import type { PacketConnection } from '../../net/packet-connection.ts';
import { DATA, type RingReader } from '../../ring/byte-ring.ts';
import { endOfInputSet } from '../../wire/tuple-set-writer.ts';
import { LARGE_SET_MARKER } from '../ring-markers.ts';
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
  /** Frames that have been read and not given back. */
  #unreleased = 0;
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
    return this.#unreleased === 0 && !this.#ring.hasNext();
  }

  /** Sets and their bytes since the last call. */
  takeCounts(): { readonly setsSent: number; readonly bytesSent: number } {
    const counts = { setsSent: this.#setsSent, bytesSent: this.#bytesSent };
    this.#setsSent = 0;
    this.#bytesSent = 0;
    return counts;
  }

  connect(connection: PacketConnection, creditBytes: number | undefined): void {
    this.#connection = connection;
    this.#credit = creditBytes;
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
    while (this.#maySend()) {
      if (this.#awaitsLargeSet) {
        if (!this.#sendLargeSet()) return;
      } else if (!this.#ring.next()) return;
      else this.#handleFrame();
    }
  }

  #maySend(): boolean {
    const connection = this.#connection;
    if (connection === undefined || !connection.isOpen) return false;
    if (this.#credit !== undefined) return this.#credit > 0;
    return connection.queuedBytes < QUEUED_BYTES_MAX;
  }

  #handleDone(): void {
    this.#release();
    // Without credits it is the connection's queue that says when more may be sent.
    if (this.#credit === undefined) this.pump();
  }

  #handleFrame(): void {
    const { kind, bytes, start, end } = this.#ring;
    this.#unreleased += 1;
    if (kind === LARGE_SET_MARKER) this.#awaitsLargeSet = true;
    else if (kind === DATA) this.#sendSet(bytes.subarray(start, end));
    else {
      this.#hasEnded = true;
      this.#sendFrame(endOfInputSet(this.#task));
    }
  }

  #sendLargeSet(): boolean {
    const set = this.#largeSets.shift();
    if (set === undefined) return false;
    this.#awaitsLargeSet = false;
    this.#sendSet(set);
    return true;
  }

  #sendSet(payload: Uint8Array): void {
    this.#setsSent += 1;
    this.#bytesSent += payload.length;
    if (this.#credit !== undefined) this.#credit -= payload.length;
    this.#sendFrame(payload);
  }

  /** Sends what a frame stands for, and gives the frame back when that is done. */
  #sendFrame(payload: Uint8Array): void {
    if (!this.#sendPacket(payload, this.#onDone)) this.#release();
  }

  #sendPacket(payload: Uint8Array, onDone?: () => void): boolean {
    const header = encodePacketHeader(FROM_INSTANCE, payload.length);
    return this.#connection?.sendPacket(header, payload, onDone) ?? false;
  }

  #release(): void {
    this.#unreleased -= 1;
    this.#ring.release();
  }
}
