/*
  One end of a simulated TCP connection. Both ends know each other; what one sends reaches the other
  as an event of its thread.

  S1. What is sent arrives in order, after a latency that differs from piece to piece, and is read
      in chunks that may be cut anywhere.
  S2. Between writer and reader lie at most `windowBytes`. What does not fit stays with the writer,
      by reference as its port allows, and `onWritten` waits.
  S3. A chunk is overwritten as soon as `onData` returns: whoever kept it is found out.
  S4. An end that goes with unread bytes resets the connection, and what the peer has not read may
      be lost; otherwise the peer reads everything first. A killed thread's ends go so too.
  S5. No event is told from inside of a call of the owner.
*/

import { assert } from '../../base/assert.ts';
import { type EngineError, environmentError } from '../../base/errors.ts';
import type { Random } from '../../base/random.ts';
import type { ByteStream, ByteStreamEvents } from '../../net/network.ts';
import { isOneOf } from './named-random.ts';
import type { Party } from './network-faults.ts';
import type { SimulatedThread, ThreadDependent } from './simulated-thread.ts';
import { MICROSECONDS_PER_MILLISECOND } from './simulated-time.ts';

/** What one call of the platform reads at most; TcpNetwork's own size. */
export const READ_BYTES_MAX = 64 * 1024;
const SEGMENT_BYTES_MAX = 64 * 1024;
/** One in so many reads gets only a part of what is there. */
const CUT_READS = 8;
/** From the network's copy of the bytes to `onWritten`. */
const WRITTEN_MS = 0.003;
/** What a stale chunk holds (S3). */
const SCRIBBLE = 0xdb;

type Piece =
  | { readonly kind: 'bytes'; readonly bytes: Buffer }
  /** So many bytes have been read. */
  | { readonly kind: 'room'; readonly bytes: number }
  | { readonly kind: 'end' }
  | { readonly kind: 'reset' };

interface Write {
  readonly chunks: readonly Uint8Array[];
  readonly onWritten: () => void;
  chunk: number;
  offset: number;
}

/** What both ends of a connection have in common. */
export interface SimulatedConnection {
  readonly number: number;
  readonly windowBytes: number;
  /** What is sent vanishes, and nobody is told. */
  isHalfOpen: boolean;
  /** How many of its ends live. */
  ends: number;
}

/** What an end needs of its network. */
export interface StreamNetwork {
  readonly nowUs: number;
  readonly random: Random;
  /** For the bytes of one read of any stream. */
  readonly readBuffer: Buffer;
  blocks(from: Party, to: Party): boolean;
  latencyUs(from: Party, to: Party): number;
  /** This end has pieces to send once the network is whole; `sendHeld` sends them. */
  hold(end: SimulatedStream): void;
  tellSent(end: SimulatedStream, bytes: Buffer): void;
  tellRead(end: SimulatedStream, bytes: Buffer): void;
  forget(connection: SimulatedConnection): void;
}

export interface SimulatedStreamOptions {
  readonly network: StreamNetwork;
  readonly connection: SimulatedConnection;
  readonly thread: SimulatedThread;
  readonly party: Party;
  readonly remote: string;
}

export class SimulatedStream implements ByteStream, ThreadDependent {
  readonly remote: string;
  readonly party: Party;
  readonly connection: SimulatedConnection;
  readonly thread: SimulatedThread;
  readonly #network: StreamNetwork;
  #peer: SimulatedStream | undefined;
  #events: ByteStreamEvents | undefined;
  #isOpen = true;
  #hasToldClosed = false;
  #error: EngineError | undefined;
  // Sending.
  readonly #writes: Write[] = [];
  readonly #held: Piece[] = [];
  /** Taken from the writer and not yet read by the peer's owner (S2). */
  #unreadBytes = 0;
  #lastArrivalUs = 0;
  #isEnding = false;
  // Receiving.
  readonly #arrived: Buffer[] = [];
  #arrivedAt = 0;
  #hasPeerEnded = false;
  #isPaused = false;
  #isReadDue = false;

  constructor({ network, connection, thread, party, remote }: SimulatedStreamOptions) {
    this.#network = network;
    this.connection = connection;
    this.thread = thread;
    this.party = party;
    this.remote = remote;
    this.#peer = undefined;
    this.#events = undefined;
    this.#error = undefined;
    thread.attach(this);
  }

  /** Both ends of a connection are joined before anything else. */
  static join(one: SimulatedStream, other: SimulatedStream): void {
    one.#peer = other;
    other.#peer = one;
  }

  get peer(): SimulatedStream {
    assert(this.#peer !== undefined, 'both ends have been joined');
    return this.#peer;
  }

  get isOpen(): boolean {
    return this.#isOpen;
  }

  /** What the network holds of this end's bytes, on the way or unread. */
  get bufferedBytes(): number {
    return this.#unreadBytes;
  }

  start(events: ByteStreamEvents): void {
    assert(this.#events === undefined, 'a stream has one owner');
    this.#events = events;
    if (this.#isOpen) this.#readSoon();
    else this.#tellClosedSoon();
  }

  write(chunks: readonly Uint8Array[], onWritten: () => void): void {
    if (!this.#isOpen) return;
    assert(!this.#isEnding, 'nothing is written after the end');
    this.#writes.push({ chunks, onWritten, chunk: 0, offset: 0 });
    this.#pump();
  }

  pause(): void {
    this.#isPaused = true;
  }

  resume(): void {
    this.#isPaused = false;
    this.#readSoon();
  }

  end(): void {
    if (!this.#isOpen || this.#isEnding) return;
    this.#isEnding = true;
    if (this.#writes.length === 0) this.#send({ kind: 'end' });
  }

  destroy(): void {
    if (!this.#isOpen) return;
    this.#leave();
    this.#tellClosedSoon();
  }

  onThreadKilled(): void {
    if (this.#isOpen) this.#leave();
  }

  /** A box on the way has forgotten the connection, and says so to this end. */
  reset(): void {
    this.thread.post(0, () => this.#onReset());
  }

  /** For the network: sends what a partition held back. */
  sendHeld(): void {
    for (const piece of this.#held.splice(0)) this.#send(piece);
  }

  /** Takes from the writer what fits into the window (S2). */
  #pump(): void {
    const done: (() => void)[] = [];
    while (this.#writes.length > 0) {
      const room = this.connection.windowBytes - this.#unreadBytes;
      if (room <= 0) break;
      const segment = this.#takeSegment(Math.min(room, SEGMENT_BYTES_MAX), done);
      if (segment.length === 0) continue;
      this.#unreadBytes += segment.length;
      this.#network.tellSent(this, segment);
      this.#send({ kind: 'bytes', bytes: segment });
    }
    if (done.length > 0) {
      this.thread.post(WRITTEN_MS, () => {
        for (const call of done) if (this.#isOpen) call();
      });
    }
    if (this.#isEnding && this.#writes.length === 0) this.#send({ kind: 'end' });
  }

  #takeSegment(bytesMax: number, done: (() => void)[]): Buffer {
    const segment = Buffer.allocUnsafeSlow(Math.min(bytesMax, this.#writableBytes(bytesMax)));
    let filled = 0;
    for (;;) {
      const write = this.#writes[0];
      if (write === undefined) return segment;
      const chunk = write.chunks[write.chunk];
      if (chunk === undefined) {
        done.push(write.onWritten);
        this.#writes.shift();
        continue;
      }
      if (filled === segment.length && chunk.length > write.offset) return segment;
      const count = Math.min(segment.length - filled, chunk.length - write.offset);
      segment.set(chunk.subarray(write.offset, write.offset + count), filled);
      filled += count;
      write.offset += count;
      if (write.offset < chunk.length) return segment;
      write.chunk += 1;
      write.offset = 0;
    }
  }

  /** How much waits to be written; the count stops at `enough`. */
  #writableBytes(enough: number): number {
    let sum = 0;
    for (const { chunks, chunk, offset } of this.#writes) {
      sum -= offset;
      for (let index = chunk; index < chunks.length; index += 1) {
        sum += (chunks[index] as Uint8Array).length;
        if (sum >= enough) return sum;
      }
    }
    return sum;
  }

  #send(piece: Piece): void {
    if (this.connection.isHalfOpen) return;
    const { party, peer } = this;
    if (this.#held.length > 0 || this.#network.blocks(party, peer.party)) {
      if (this.#held.length === 0) this.#network.hold(this);
      this.#held.push(piece);
      return;
    }
    const transferUs = piece.kind === 'bytes' ? Math.ceil(piece.bytes.length / 1024) : 0; // 1 GB/s.
    const earliestUs = this.#network.nowUs + this.#network.latencyUs(party, peer.party);
    this.#lastArrivalUs = Math.max(this.#lastArrivalUs, earliestUs) + transferUs;
    peer.thread.postAt(this.#lastArrivalUs, () => peer.#arrive(piece));
  }

  #arrive(piece: Piece): void {
    if (!this.#isOpen) {
      if (piece.kind === 'bytes') this.#send({ kind: 'reset' }); // Nobody is here any more.
      return;
    }
    switch (piece.kind) {
      case 'bytes':
        this.#arrived.push(piece.bytes);
        if (!this.#isReadDue) this.#read();
        break;
      case 'room':
        this.#unreadBytes -= piece.bytes;
        this.#pump();
        break;
      case 'end':
        this.#hasPeerEnded = true;
        if (!this.#isReadDue) this.#read();
        break;
      case 'reset':
        this.#onReset();
        break;
    }
  }

  #readSoon(): void {
    if (this.#isReadDue || !this.#isOpen) return;
    this.#isReadDue = true;
    this.thread.post(0, () => {
      this.#isReadDue = false;
      this.#read();
    });
  }

  #read(): void {
    if (this.#isPaused || !this.#isOpen || this.#events === undefined) return;
    const count = this.#fillReadBuffer();
    if (count === 0) {
      if (this.#hasPeerEnded) this.#onPeerEnded();
      return;
    }
    this.#tellRoom(count);
    const { readBuffer } = this.#network;
    const chunk = Buffer.from(readBuffer.buffer, readBuffer.byteOffset, count);
    this.#network.tellRead(this, chunk);
    try {
      this.#events.onData(chunk);
    } finally {
      chunk.fill(SCRIBBLE);
      const isMore = this.#arrived.length > 0 || this.#hasPeerEnded;
      if (isMore && !this.#isPaused) this.#readSoon();
    }
  }

  /** Returns how many bytes it has moved there. */
  #fillReadBuffer(): number {
    const { random, readBuffer } = this.#network;
    const isCut = this.#arrived.length > 0 && isOneOf(random, CUT_READS);
    const first = this.#arrived[0]?.length ?? 0;
    const bytesMax = isCut ? 1 + random.below(first - this.#arrivedAt) : READ_BYTES_MAX;
    let count = 0;
    let whole = 0;
    for (const segment of this.#arrived) {
      const taken = Math.min(bytesMax - count, segment.length - this.#arrivedAt);
      segment.copy(readBuffer, count, this.#arrivedAt, this.#arrivedAt + taken);
      count += taken;
      this.#arrivedAt += taken;
      if (this.#arrivedAt < segment.length) break;
      this.#arrivedAt = 0;
      whole += 1;
    }
    this.#arrived.splice(0, whole);
    return count;
  }

  /**
   * The peer may send so much more. It is told by an event only if it waits for that, or could not
   * be told at once.
   */
  #tellRoom(bytes: number): void {
    const { peer } = this;
    const isWaiting = peer.#writes.length > 0 || this.#held.length > 0;
    if (isWaiting || this.#network.blocks(this.party, peer.party))
      this.#send({ kind: 'room', bytes });
    else peer.#unreadBytes -= bytes;
  }

  /** No peer of the engine ends one direction only: its end means that it is gone. */
  #onPeerEnded(): void {
    this.#leave();
    this.#tellClosedSoon();
  }

  #onReset(): void {
    if (!this.#isOpen) return;
    const message = `the connection with ${this.remote} broke: read ECONNRESET`;
    this.#error = environmentError('CONNECTION_LOST', message, { retryable: true });
    this.#close();
    this.#tellClosed();
  }

  /** Goes, and lets the peer know (S4). */
  #leave(): void {
    const hasUnread = this.#arrived.length > 0;
    this.#close();
    this.#send({ kind: hasUnread ? 'reset' : 'end' });
  }

  #close(): void {
    this.#isOpen = false;
    this.#writes.length = 0;
    this.#arrived.length = 0;
    this.#arrivedAt = 0;
    this.thread.detach(this);
    this.connection.ends -= 1;
    if (this.connection.ends === 0) this.#network.forget(this.connection);
  }

  #tellClosedSoon(): void {
    this.thread.post(1 / MICROSECONDS_PER_MILLISECOND, () => this.#tellClosed());
  }

  /** Once; an owner that comes late is told at its start. */
  #tellClosed(): void {
    if (this.#events === undefined || this.#hasToldClosed) return;
    this.#hasToldClosed = true;
    this.#events.onClosed(this.#error);
  }
}
