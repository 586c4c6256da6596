import { assert } from '../../base/assert.ts';

/** Of a page: small enough that a straggler holds little, large enough that pages are rare. */
const PAGE_SLOTS = 1024;
const TWO_32 = 2 ** 32;
/** In the place of a message id that is no longer pending; users cannot have it. */
const SETTLED = Symbol('settled');

/** The messages of PAGE_SLOTS consecutive sequence numbers. */
interface Page {
  readonly ids: unknown[];
  readonly emittedAtMs: Float64Array;
  readonly streams: Int32Array;
  pending: number;
}

/**
 * The messages of a spout task that wait for their ack or fail, by sequence number.
 *
 * The root key of a message is its sequence number, 64 bits of which the high half starts at a
 * random number, so that two processes of a task do not meet; the low half counts from 1. Keys of
 * one process never repeat (row S03), and a key leads to its place without a hash.
 *
 *     sequence  0 … 1023 │ 1024 … 2047 │ 2048 … 3071 │ 3072 …
 *     pages     given up │  3 pending  │  given up   │ being filled
 *
 * M1. The 64-bit zero is never a key: in stream managers it means none.
 * M2. A page without pending messages is given up, unless it is being filled: what all messages
 *     take is bounded by a page for each pending one, and is a page when there are none. About 20
 *     bytes a message where none is late.
 * M3. `messageId`, `emittedAtMs` and `stream` are those of the message that was taken last.
 */
export class PendingMessages {
  messageId: unknown = undefined;
  emittedAtMs = 0;
  /** Index of the stream in the component's declaration. */
  stream = 0;
  /** Emitted and not settled. */
  count = 0;
  /** The key of the next message, for its tuple; `add` moves on. */
  nextLow = 0;
  nextHigh = 0;
  /** Sequence number of the next message. */
  next: number;
  readonly #firstHigh: number;
  readonly #pages = new Map<number, Page>();
  #filling: Page | undefined;
  /** Nothing before it is pending. */
  #oldest: number;
  /** Acks mostly come for messages of one page, one after the other. */
  #foundNumber = -1;
  #found: Page | undefined;

  /** `firstHigh` is a random int32; `first` is another start than usual, for tests. */
  constructor(firstHigh: number, first = 1) {
    this.#firstHigh = firstHigh | 0;
    this.next = first;
    this.#oldest = first;
    this.#makeKey();
  }

  /** Pages that are held, for tests. */
  get pageCount(): number {
    return this.#pages.size;
  }

  /** Adds the message whose tuple has the next key. */
  add(messageId: unknown, stream: number, emittedAtMs: number): void {
    const { next } = this;
    const slot = next % PAGE_SLOTS;
    if (slot === 0) this.#turnPage();
    const page = this.#filling ?? this.#newPage();
    page.ids[slot] = messageId;
    page.emittedAtMs[slot] = emittedAtMs;
    page.streams[slot] = stream;
    page.pending += 1;
    this.count += 1;
    this.next = next + 1;
    this.nextLow = (this.nextLow + 1) | 0;
    if (this.nextLow === 0) this.#makeKey();
  }

  /** Takes a message by its key; false when it is not pending, or was never this task's. */
  take(low: number, high: number): boolean {
    const sequence = ((high - this.#firstHigh) >>> 0) * TWO_32 + (low >>> 0);
    const number = Math.floor(sequence / PAGE_SLOTS);
    if (number !== this.#foundNumber) {
      this.#found = this.#pages.get(number);
      this.#foundNumber = number;
    }
    const page = this.#found;
    return page !== undefined && this.#takeFrom(page, number, sequence % PAGE_SLOTS);
  }

  /** Takes the oldest message if its sequence number is below `before`; false when it is not. */
  takeOldest(before: number): boolean {
    return this.#findOldest() && this.#oldest < before && this.#takeFound();
  }

  /** Takes the oldest message if it was emitted at `ms` or earlier; false when it was not. */
  takeEmittedBy(ms: number): boolean {
    if (!this.#findOldest()) return false;
    const page = this.#pages.get(Math.floor(this.#oldest / PAGE_SLOTS)) as Page;
    const emittedAtMs = page.emittedAtMs[this.#oldest % PAGE_SLOTS] as number;
    return emittedAtMs <= ms && this.#takeFound();
  }

  #takeFrom(page: Page, number: number, slot: number): boolean {
    const messageId = page.ids[slot];
    if (messageId === SETTLED) return false;
    this.messageId = messageId;
    this.emittedAtMs = page.emittedAtMs[slot] as number;
    this.stream = page.streams[slot] as number;
    page.ids[slot] = SETTLED;
    page.pending -= 1;
    this.count -= 1;
    if (page.pending === 0 && page !== this.#filling) this.#giveUp(number);
    return true;
  }

  /** Moves `#oldest` on to a message that is pending; false when there is none. */
  #findOldest(): boolean {
    if (this.count === 0) {
      this.#oldest = this.next;
      return false;
    }
    for (;;) {
      const number = Math.floor(this.#oldest / PAGE_SLOTS);
      const page = this.#pages.get(number);
      if (page === undefined) {
        this.#oldest = (number + 1) * PAGE_SLOTS;
        continue;
      }
      for (let slot = this.#oldest % PAGE_SLOTS; slot < PAGE_SLOTS; slot += 1) {
        if (page.ids[slot] === SETTLED) continue;
        this.#oldest = number * PAGE_SLOTS + slot;
        assert(this.#oldest < this.next, 'a message is pending');
        return true;
      }
      this.#oldest = (number + 1) * PAGE_SLOTS;
    }
  }

  #takeFound(): boolean {
    const number = Math.floor(this.#oldest / PAGE_SLOTS);
    return this.#takeFrom(this.#pages.get(number) as Page, number, this.#oldest % PAGE_SLOTS);
  }

  #makeKey(): void {
    this.nextHigh = (this.#firstHigh + Math.floor(this.next / TWO_32)) | 0;
    this.nextLow = this.next | 0;
    if ((this.nextLow | this.nextHigh) !== 0) return;
    // M1: this number is left out.
    if (this.next % PAGE_SLOTS === 0) this.#turnPage();
    this.next += 1;
    this.nextLow = 1;
  }

  #turnPage(): void {
    const filled = this.#filling;
    this.#filling = undefined;
    if (filled?.pending === 0) this.#giveUp(Math.floor((this.next - 1) / PAGE_SLOTS));
  }

  #newPage(): Page {
    const page = {
      ids: new Array<unknown>(PAGE_SLOTS).fill(SETTLED),
      emittedAtMs: new Float64Array(PAGE_SLOTS),
      streams: new Int32Array(PAGE_SLOTS),
      pending: 0,
    };
    const number = Math.floor(this.next / PAGE_SLOTS);
    this.#filling = page;
    this.#pages.set(number, page);
    if (this.#foundNumber === number) this.#found = page;
    return page;
  }

  #giveUp(number: number): void {
    this.#pages.delete(number);
    if (this.#foundNumber === number) this.#found = undefined;
  }
}
