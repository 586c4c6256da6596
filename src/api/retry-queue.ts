/**
 * Messages that wait to be emitted again, by the time at which they may.
 *
 * A binary heap: `take` gives the one that has been due for longest, of two that are due at the
 * same time the one that was added first.
 */
export class RetryQueue<Message> {
  readonly #heap: Waiting<Message>[] = [];
  #added = 0;

  get length(): number {
    return this.#heap.length;
  }

  /** When the first one is due, by the clock that `add` was given times of. */
  get firstDueMs(): number | undefined {
    return this.#heap[0]?.dueMs;
  }

  add(message: Message, dueMs: number): void {
    this.#added += 1;
    const waiting = { message, dueMs, number: this.#added };
    let at = this.#heap.length;
    while (at > 0) {
      const above = (at - 1) >>> 1;
      const parent = this.#heap[above] as Waiting<Message>;
      if (isBefore(parent, waiting)) break;
      this.#heap[at] = parent;
      at = above;
    }
    this.#heap[at] = waiting;
  }

  /** The first one if it is due. */
  take(nowMs: number): Message | undefined {
    const first = this.#heap[0];
    if (first === undefined || first.dueMs > nowMs) return undefined;
    const last = this.#heap.pop() as Waiting<Message>;
    if (last !== first) this.#sink(last);
    return first.message;
  }

  /** Finds the place of one from the top down. */
  #sink(waiting: Waiting<Message>): void {
    const heap = this.#heap;
    let at = 0;
    for (;;) {
      let below = at * 2 + 1;
      let child = heap[below];
      if (child === undefined) break;
      const other = heap[below + 1];
      if (other !== undefined && isBefore(other, child)) {
        below += 1;
        child = other;
      }
      if (isBefore(waiting, child)) break;
      heap[at] = child;
      at = below;
    }
    heap[at] = waiting;
  }
}

interface Waiting<Message> {
  readonly message: Message;
  readonly dueMs: number;
  readonly number: number;
}

function isBefore<Message>(one: Waiting<Message>, other: Waiting<Message>): boolean {
  return one.dueMs === other.dueMs ? one.number < other.number : one.dueMs < other.dueMs;
}
