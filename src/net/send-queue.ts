/*
  What one connection still has to send, in two lanes.

      control lane ──┐
                     ├──> one batch (≤ 256 KiB) ──> stream ──> operating system
      data lane    ──┘

  Q1. Within a lane packets keep their order. Control overtakes data that is not in the batch yet.
  Q2. One batch is with the stream at a time, and it holds at most BATCH_BYTES_MAX, or a single
      larger packet. This is what makes Q1 worth something: a control packet never waits for more
      than that. It costs no speed: the operating system still has a full socket buffer to send
      while the next batch is put together.
  Q3. Packets that are sent in one turn of the event loop travel in one batch: the first one asks
      for a microtask, which gathers them all.
  Q4. `onDone` of a data packet is called exactly once, in order of the packets: with true when the
      network has its own copy of the bytes, with false when the connection ended first. Only then
      may the memory be used again: this is where slots of a ring are freed.
*/

import { BoundedQueue } from '../base/bounded-queue.ts';
import type { ByteStream } from './network.ts';

/**
 * Enough for the kernel to take it in one call, little enough to write in well under a millisecond.
 */
const BATCH_BYTES_MAX = 256 * 1024;

export type OnDone = (written: boolean) => void;

interface DataPacket {
  readonly header: Uint8Array;
  readonly payload: Uint8Array;
  readonly onDone: OnDone | undefined;
}

export interface SendQueueLimits {
  readonly controlBytesMax: number;
  readonly dataBytesMax: number;
}

export class SendQueue {
  readonly #stream: ByteStream;
  readonly #control: BoundedQueue<Uint8Array>;
  readonly #data: BoundedQueue<DataPacket>;
  readonly #onBatchWritten = (): void => this.#finishBatch();
  readonly #onTurn = (): void => this.#pump();
  /** The memory that is with the stream, and whom to tell when it is free again. */
  #batch: Uint8Array[] = [];
  #batchBytes = 0;
  #batchDone: (OnDone | undefined)[] = [];
  #turnAsked = false;
  #ending = false;
  #ended = false;

  constructor(stream: ByteStream, limits: SendQueueLimits) {
    this.#stream = stream;
    this.#control = new BoundedQueue(limits.controlBytesMax);
    this.#data = new BoundedQueue(limits.dataBytesMax);
  }

  /** Bytes that were accepted and of which the operating system has no copy yet. */
  get bytes(): number {
    return this.#control.bytes + this.#data.bytes + this.#batchBytes;
  }

  /** False when the lane is full. */
  pushControl(packet: Uint8Array): boolean {
    const accepted = this.#control.push(packet, packet.length);
    if (accepted) this.#askForTurn();
    return accepted;
  }

  /** False when the lane is full; `onDone` is then never called. */
  pushData(header: Uint8Array, payload: Uint8Array, onDone: OnDone | undefined): boolean {
    const bytes = header.length + payload.length;
    const accepted = this.#data.push({ header, payload, onDone }, bytes);
    if (accepted) this.#askForTurn();
    return accepted;
  }

  /** Ends the stream once everything that was accepted is written. */
  end(): void {
    this.#ending = true;
    this.#askForTurn();
  }

  /** The stream is gone: frees all memory (Q4) and accepts nothing that would be sent. */
  fail(): void {
    this.#ended = true;
    const done = this.#batchDone;
    while (this.#data.length > 0) done.push(this.#data.shift()?.onDone);
    this.#control.clear();
    this.#batch = [];
    this.#batchBytes = 0;
    this.#batchDone = [];
    for (const onDone of done) onDone?.(false);
  }

  #askForTurn(): void {
    if (this.#turnAsked || this.#batchBytes > 0) return;
    this.#turnAsked = true;
    queueMicrotask(this.#onTurn);
  }

  #pump(): void {
    this.#turnAsked = false;
    if (this.#ended || this.#batchBytes > 0) return;
    this.#gather();
    if (this.#batchBytes > 0) {
      this.#stream.write(this.#batch, this.#onBatchWritten);
    } else if (this.#ending) {
      this.#ended = true;
      this.#stream.end();
    }
  }

  #gather(): void {
    for (let packet = this.#control.peek(); packet !== undefined; packet = this.#control.peek()) {
      if (!this.#fits(packet.length)) return;
      this.#control.shift();
      this.#batch.push(packet);
      this.#batchBytes += packet.length;
    }
    for (let packet = this.#data.peek(); packet !== undefined; packet = this.#data.peek()) {
      const bytes = packet.header.length + packet.payload.length;
      if (!this.#fits(bytes)) return;
      this.#data.shift();
      this.#batch.push(packet.header);
      if (packet.payload.length > 0) this.#batch.push(packet.payload);
      this.#batchBytes += bytes;
      this.#batchDone.push(packet.onDone);
    }
  }

  #fits(bytes: number): boolean {
    return this.#batchBytes === 0 || this.#batchBytes + bytes <= BATCH_BYTES_MAX;
  }

  #finishBatch(): void {
    const done = this.#batchDone;
    this.#batch = [];
    this.#batchBytes = 0;
    this.#batchDone = [];
    for (const onDone of done) onDone?.(true);
    this.#pump();
  }
}
