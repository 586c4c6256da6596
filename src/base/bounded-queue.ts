/** Below this many taken places, moving the rest costs more than it gives back. */
const GIVE_BACK_MIN = 32;

/** A FIFO queue with a limit on bytes and on items; push and shift are O(1), amortised. */
export class BoundedQueue<T> {
  readonly #bytesMax: number;
  readonly #itemsMax: number;
  /** Items before `#first` have been taken; their places are given back half an array at a time. */
  #items: (T | undefined)[] = [];
  #sizes: number[] = [];
  #first = 0;
  #bytes = 0;

  constructor(bytesMax: number, itemsMax = Number.POSITIVE_INFINITY) {
    this.#bytesMax = bytesMax;
    this.#itemsMax = itemsMax;
  }

  get length(): number {
    return this.#items.length - this.#first;
  }

  get bytes(): number {
    return this.#bytes;
  }

  /** False when the item would break a limit; the queue is then as it was. */
  push(item: T, bytes: number): boolean {
    if (this.#bytes + bytes > this.#bytesMax || this.length >= this.#itemsMax) return false;
    this.#items.push(item);
    this.#sizes.push(bytes);
    this.#bytes += bytes;
    return true;
  }

  /** The oldest item, which stays. */
  peek(): T | undefined {
    return this.#items[this.#first];
  }

  /** Takes the oldest item; undefined when the queue is empty. */
  shift(): T | undefined {
    if (this.length === 0) return undefined;
    const item = this.#items[this.#first];
    this.#items[this.#first] = undefined;
    this.#bytes -= this.#sizes[this.#first] ?? 0;
    this.#first += 1;
    if (this.#first === this.#items.length) this.clear();
    else if (this.#first > GIVE_BACK_MIN && this.#first * 2 > this.#items.length) this.#giveBack();
    return item;
  }

  clear(): void {
    this.#items.length = 0;
    this.#sizes.length = 0;
    this.#first = 0;
    this.#bytes = 0;
  }

  #giveBack(): void {
    this.#items = this.#items.slice(this.#first);
    this.#sizes = this.#sizes.slice(this.#first);
    this.#first = 0;
  }
}
