import type { Clock } from '../../base/clock.ts';
import { assertDefined } from '../../base/assert.ts';
import { userError } from '../../base/errors.ts';
import type { TaskId } from '../../base/ids.ts';
import { NO_ROOM, type RingWriter } from '../../ring/byte-ring.ts';
import { copyOf } from '../../wire/frame.ts';
import type { Counter } from '../../metrics/metrics-registry.ts';
import type { AckFold } from '../../wire/ack-fold.ts';
import type { Roots } from '../../wire/fail-detail.ts';
import type { StreamHeader } from '../../wire/stream-header.ts';
import { TupleSetWriter, tupleSetOverhead } from '../../wire/tuple-set-writer.ts';
import { CONNECTION_MARKER, END_OF_INPUT_MARKER, LARGE_SET_MARKER } from '../ring-markers.ts';
import { KeptFrames } from './kept-frames.ts';
import type { RoomWait } from './room-wait.ts';

/**
 * Large enough that a set's fixed costs vanish, small enough that a full one is under way soon. A
 * small ring takes smaller ones.
 */
const SET_BYTES_MAX = 32 * 1024;
/** A key, two lengths and tags: what a tuple of one value needs besides that value, rounded up. */
const TUPLE_OVERHEAD_BYTES = 64;
/** An ack of one root, rounded up. */
const ACK_BYTES = 32;

export interface TupleOutputOptions {
  readonly ring: RingWriter;
  readonly task: TaskId;
  /** By stream index. */
  readonly headers: readonly StreamHeader[];
  /** The setting `heron.instance.set.data.tuple.size.bytes`. */
  readonly tupleBytesMax: number;
  readonly roomWait: RoomWait;
  /** Plain ones, unless traces are sampled. */
  readonly newWriter?: (() => TupleSetWriter) | undefined;
  /** How often something had to wait for room in the ring. */
  readonly queueFull?: Counter;
  readonly clock: Clock;
  readonly sendLargeSet: (bytes: Uint8Array) => void;
  /** The acks of a bolt's task, gathered by its collector; undefined where there are none. */
  readonly acks?: AckFold | undefined;
}

/**
 * What a task emits, on its way into the ring: tuples are encoded inside `emit`, straight into the
 * ring's memory, as sets that leave as they are.
 *
 * O1. At most one set is open. It is closed when it is full, when the stream changes, and by
 *     `flush`, which the runner calls whenever it has nothing more to do at once (decision D8).
 * O2. A tuple that cannot be sent (O3, or a value without a form on the wire) throws out of `emit`
 *     and leaves everything before it as it was.
 * O3. A tuple beyond the limit is refused; one that is larger than a frame of the ring travels by
 *     message, with a marker frame in its place (ruling R15).
 * O4. When the ring is full `emit` waits: that is back pressure (ruling R5).
 * O5. On a thread that cannot wait, `emit` keeps what finds no room, and there is none (`hasRoom`)
 *     until all of it has moved into the ring. The frames are the same ones, in the same order.
 * O6. Acks leave by `flush` as a set of their own, behind the set that was open: what was emitted
 *     before an ack is ahead of it (ruling R13). Where there is no room for them they wait for the
 *     next flush, as more may be added; only when no more fit into one does `ack` wait for room.
 */
export class TupleOutput {
  /** Tuples emitted so far. */
  emitted = 0;
  readonly #options: TupleOutputOptions;
  readonly #newWriter: () => TupleSetWriter;
  readonly #writer: TupleSetWriter;
  readonly #kept: KeptFrames;
  readonly #acks: AckFold | undefined;
  readonly #setBytes: number;
  readonly #twoSetsBytes: number;
  /** Acks with more bytes may not fit into a frame together with one more. */
  readonly #ackBytesMax: number;
  #openStream = -1;
  /** The open set lies in the spare memory, as there was no room in the ring (O5). */
  #isOpenInSpare = false;
  #spare: Buffer | undefined;
  #unattended = true;
  #flushAsked = false;

  constructor(options: TupleOutputOptions) {
    this.#options = options;
    this.#newWriter = options.newWriter ?? (() => new TupleSetWriter());
    this.#writer = this.#newWriter();
    this.#kept = new KeptFrames(options.ring);
    this.#acks = options.acks;
    const { payloadBytesMax } = options.ring;
    this.#setBytes = Math.min(SET_BYTES_MAX, payloadBytesMax);
    this.#ackBytesMax = payloadBytesMax - ACK_BYTES;
    this.#twoSetsBytes = Math.min(2 * SET_BYTES_MAX, payloadBytesMax);
  }

  /**
   * Whether a runner is on the stack, which flushes when it is done. While none is, emits come from
   * callbacks of the user (timers, promises), and the first one of a turn asks for a flush.
   */
  set attended(value: boolean) {
    this.#unattended = !value;
  }

  /**
   * Whether a set's worth of tuples can be emitted without a wait; a little less in a small ring.
   */
  get hasRoom(): boolean {
    const { ring } = this.#options;
    if (this.#isOpenInSpare || !this.#kept.isEmpty) return false;
    if (this.#openStream === -1) return ring.hasRoom(this.#setBytes);
    return this.#writer.tupleBytes < this.#setBytes / 2 || ring.hasRoom(this.#twoSetsBytes);
  }

  /**
   * Flushes, and resolves to true when a set's worth of room is there, to false when nobody will
   * make any.
   */
  waitForRoom(): Promise<boolean> {
    this.flush();
    const { ring } = this.#options;
    this.#countFull();
    if (this.#kept.isEmpty) return ring.waitForRoom(this.#setBytes);
    return this.written().then((isWritten) => isWritten && ring.waitForRoom(this.#setBytes));
  }

  /**
   * Resolves to true when all that has been flushed is in the ring, to false when nobody will make
   * room for it any more (O5).
   */
  written(): Promise<boolean> {
    return this.#kept.moved();
  }

  /** Bytes that wait outside of the ring (O5). */
  get keptBytes(): number {
    return this.#kept.bytes;
  }

  /**
   * `tasks` are named in the tuple, besides those that the stream manager chooses. `roots` are the
   * trees that it belongs to.
   *
   * @throws EngineError VALUE_NOT_SERIALIZABLE, TUPLE_TOO_LARGE (O2).
   */
  emit(stream: number, values: readonly unknown[], tasks?: readonly number[], roots?: Roots): void {
    if (stream !== this.#openStream) this.#open(stream);
    if (!this.#writer.addTuple(values, tasks, roots)) {
      this.#addToFreshSet(stream, values, tasks, roots);
    }
    this.emitted += 1;
    if (this.#unattended) this.flushSoon();
  }

  /** Acks a tuple towards one of its roots (O6). Only where the options have acks. */
  ack(rootTask: number, rootLow: number, rootHigh: number, keyLow: number, keyHigh: number): void {
    const acks = this.#acks as AckFold;
    if (acks.isFull || acks.byteLengthMax > this.#ackBytesMax) this.flushAcks();
    acks.add(rootTask, rootLow, rootHigh, keyLow, keyHigh, 'ack');
    if (this.#unattended) this.flushSoon();
  }

  /** Closes the open set, if there is one, so that the gateway sends it, and the acks (O6). */
  flush(): void {
    if (this.#openStream !== -1) this.#closeSet();
    const acks = this.#acks;
    if (acks !== undefined && acks.count > 0) this.#writeAcks(acks);
  }

  /** As `flush`, and waits for room for the acks. */
  flushAcks(): void {
    this.flush();
    const acks = this.#acks;
    if (acks === undefined || acks.count === 0) return;
    const bytes = Buffer.allocUnsafe(acks.byteLengthMax);
    const end = acks.writeSet(bytes, 0, this.#options.task);
    acks.clear();
    this.#addSet(bytes.subarray(0, end));
  }

  /** Sends a set without data, behind everything that was emitted before. */
  sendControl(set: Uint8Array): void {
    this.flush();
    this.#addSet(set);
  }

  /** What follows belongs to another connection with the stream manager (ring-markers.ts). */
  markConnection(): void {
    this.flush();
    this.#writeMarker(CONNECTION_MARKER);
  }

  #closeSet(): void {
    this.#openStream = -1;
    const { ring } = this.#options;
    const writer = this.#writer;
    const spare = this.#isOpenInSpare ? this.#spare : undefined;
    this.#isOpenInSpare = false;
    if (writer.tupleCount === 0) return;
    writer.finish();
    if (spare === undefined) ring.commit(writer.start, writer.end);
    else this.#kept.addSet(spare.subarray(writer.start, writer.end));
  }

  /** Flushes once the events at hand have been handled. */
  flushSoon(): void {
    if (this.#flushAsked) return;
    this.#flushAsked = true;
    this.#options.clock.soon(() => {
      this.#flushAsked = false;
      this.flush();
    });
  }

  /** Says that nothing follows any more. */
  end(): void {
    this.flushAcks();
    this.#writeMarker(END_OF_INPUT_MARKER);
  }

  /** Unless there is no room (O6). */
  #writeAcks(acks: AckFold): void {
    const { ring, task } = this.#options;
    if (!this.#kept.isEmpty && !this.#kept.move()) return;
    const start = ring.reserve(acks.byteLengthMax);
    if (start === NO_ROOM) return;
    ring.commit(start, acks.writeSet(ring.bytes, start, task));
    acks.clear();
  }

  #open(stream: number): void {
    if (this.#openStream !== -1) this.#closeSet();
    const { ring, task, tupleBytesMax } = this.#options;
    const header = this.#header(stream);
    // A tuple beyond the limit must not fit: the cold path then refuses it (O3).
    const bytes = Math.min(this.#setBytes, tupleBytesMax + tupleSetOverhead(header));
    const start = this.#reserve(bytes);
    this.#isOpenInSpare = start === NO_ROOM;
    if (this.#isOpenInSpare) this.#openInSpare(bytes, header);
    else this.#writer.begin(ring.bytes, start, start + bytes, header, task);
    this.#openStream = stream;
  }

  #openInSpare(bytes: number, header: StreamHeader): void {
    this.#spare ??= Buffer.allocUnsafeSlow(this.#setBytes);
    this.#writer.begin(this.#spare, 0, bytes, header, this.#options.task);
  }

  /** NO_ROOM when what needs the bytes is to be kept (O5). */
  #reserve(bytes: number): number {
    const { ring } = this.#options;
    do {
      const start = this.#kept.isEmpty || this.#kept.move() ? ring.reserve(bytes) : NO_ROOM;
      if (start !== NO_ROOM) return start;
    } while (this.#waitForRoom(bytes));
    return NO_ROOM;
  }

  #writeMarker(kind: number): void {
    const { ring } = this.#options;
    do {
      if ((this.#kept.isEmpty || this.#kept.move()) && ring.writeMarker(kind)) return;
    } while (this.#waitForRoom(0));
    this.#kept.addMarker(kind);
  }

  #waitForRoom(bytes: number): boolean {
    const first = this.#kept.isEmpty ? bytes : this.#kept.firstBytes;
    this.#countFull();
    return this.#options.roomWait.wait(first);
  }

  #countFull(): void {
    const { queueFull } = this.#options;
    if (queueFull !== undefined) queueFull.value += 1;
  }

  /** The tuple did not fit into what was left of the open set; the cold path of `emit`. */
  #addToFreshSet(
    stream: number,
    values: readonly unknown[],
    tasks: readonly number[] | undefined,
    roots: Roots | undefined,
  ): void {
    if (this.#writer.tupleCount > 0) {
      this.#open(stream);
      if (this.#writer.addTuple(values, tasks, roots)) return;
    }
    const set = this.#encodeAlone(stream, values, tasks, roots);
    // The reserved frame is given up: the next reservation takes its place.
    this.#openStream = -1;
    this.#isOpenInSpare = false;
    this.#addSet(set);
  }

  /** Writes a whole set that lies in other memory. */
  #addSet(set: Uint8Array): void {
    const { ring, sendLargeSet } = this.#options;
    if (set.length > ring.payloadBytesMax) {
      // Memory of its own: a message clones all of the region that a view lies in.
      sendLargeSet(copyOf(set, 0, set.length));
      this.#writeMarker(LARGE_SET_MARKER);
      return;
    }
    const start = this.#reserve(set.length);
    if (start === NO_ROOM) {
      this.#kept.addSet(set);
      return;
    }
    ring.bytes.set(set, start);
    ring.commit(start, start + set.length);
  }

  /** A set of this one tuple, in memory of its own that grows up to the limit. */
  #encodeAlone(
    stream: number,
    values: readonly unknown[],
    tasks: readonly number[] | undefined,
    roots: Roots | undefined,
  ): Uint8Array {
    const { task, tupleBytesMax } = this.#options;
    const header = this.#header(stream);
    const bytesMax = tupleBytesMax + tupleSetOverhead(header) + TUPLE_OVERHEAD_BYTES;
    const writer = this.#newWriter();
    for (let bytes = SET_BYTES_MAX * 4; ; bytes *= 4) {
      const region = Buffer.allocUnsafeSlow(Math.min(bytes, bytesMax));
      writer.begin(region, 0, region.length, header, task);
      if (writer.addTuple(values, tasks, roots)) {
        const isWithinLimit = writer.tupleBytes <= tupleBytesMax;
        writer.finish();
        if (isWithinLimit) return region.subarray(writer.start, writer.end);
        break;
      }
      if (region.length === bytesMax) break;
    }
    throw userError(
      'TUPLE_TOO_LARGE',
      `a tuple for stream '${header.stream}' of '${header.component}' takes more than ` +
        `${tupleBytesMax} bytes (heron.instance.set.data.tuple.size.bytes); it was not sent: ` +
        'send it in parts, or store it and send its address',
    );
  }

  #header(stream: number): StreamHeader {
    return assertDefined(this.#options.headers[stream], `stream ${stream} is declared`);
  }
}
