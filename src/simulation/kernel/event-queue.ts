/*
  What is going to happen in a simulated world, earliest first: a binary heap in which each event
  knows its place, so that cancelling takes the event out instead of leaving it to be skipped.
  Engines make far more time-outs than ever pass.

  Q1. Events come out in the order of their time, and those of one moment in the order of their
      making.
  Q2. A cancelled event holds neither memory of its maker nor a place in the queue.
*/

import { assert } from '../../base/assert.ts';
import type { Timer } from '../../base/clock.ts';

/** Whose events wait while it is busy. */
export interface EventOwner {
  /** Its events vanish. */
  readonly isGone: boolean;
  /** The event is due. */
  take(event: SimulatedEvent): void;
}

const NOWHERE = -1;

export class SimulatedEvent implements Timer {
  readonly atUs: number;
  readonly sequence: number;
  /** Undefined: a kernel's own event. */
  readonly owner: EventOwner | undefined;
  /** Undefined once it has been cancelled. */
  call: (() => void) | undefined;
  /** The next one in its owner's line of waiting events. */
  following: SimulatedEvent | undefined;
  /** Its index in the heap; the queue's own. */
  slot = NOWHERE;
  readonly #queue: EventQueue;

  constructor(
    queue: EventQueue,
    atUs: number,
    sequence: number,
    owner: EventOwner | undefined,
    call: (() => void) | undefined,
  ) {
    this.atUs = atUs;
    this.sequence = sequence;
    this.owner = owner;
    this.call = call;
    this.following = undefined;
    this.#queue = queue;
  }

  cancel(): void {
    this.call = undefined;
    if (this.slot !== NOWHERE) this.#queue.remove(this);
  }
}

export class EventQueue {
  readonly #heap: SimulatedEvent[] = [];
  #sequence = 0;

  get size(): number {
    return this.#heap.length;
  }

  get first(): SimulatedEvent | undefined {
    return this.#heap[0];
  }

  /** What is put after the end of time never happens, and takes no place. */
  add(atUs: number, owner: EventOwner | undefined, call: () => void): SimulatedEvent {
    const isEver = atUs < Number.POSITIVE_INFINITY;
    assert(isEver || atUs === Number.POSITIVE_INFINITY, 'an event has a time');
    const event = new SimulatedEvent(this, atUs, this.#sequence, owner, isEver ? call : undefined);
    this.#sequence += 1;
    if (isEver) {
      this.#heap.push(event);
      this.#rise(event, this.#heap.length - 1);
    }
    return event;
  }

  remove(event: SimulatedEvent): void {
    const { slot } = event;
    assert(this.#heap[slot] === event, 'an event that is taken out is in the queue');
    const last = this.#heap.pop() as SimulatedEvent;
    event.slot = NOWHERE;
    if (last === event) return;
    this.#sink(last, slot);
    this.#rise(last, last.slot);
  }

  /** Moves the event, whose place is free, from there towards the root. */
  #rise(event: SimulatedEvent, from: number): void {
    const heap = this.#heap;
    let slot = from;
    while (slot > 0) {
      const above = (slot - 1) >> 1;
      const other = heap[above] as SimulatedEvent;
      if (!isBefore(event, other)) break;
      heap[slot] = other;
      other.slot = slot;
      slot = above;
    }
    heap[slot] = event;
    event.slot = slot;
  }

  #sink(event: SimulatedEvent, from: number): void {
    const heap = this.#heap;
    const { length } = heap;
    let slot = from;
    for (;;) {
      let below = 2 * slot + 1;
      if (below >= length) break;
      let other = heap[below] as SimulatedEvent;
      const right = heap[below + 1];
      if (right !== undefined && isBefore(right, other)) {
        other = right;
        below += 1;
      }
      if (!isBefore(other, event)) break;
      heap[slot] = other;
      other.slot = slot;
      slot = below;
    }
    heap[slot] = event;
    event.slot = slot;
  }
}

function isBefore(one: SimulatedEvent, other: SimulatedEvent): boolean {
  return one.atUs < other.atUs || (one.atUs === other.atUs && one.sequence < other.sequence);
}
