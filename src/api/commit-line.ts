/*
  How far a source may be committed: up to the last message before the first gap.

    emitted     a  b  c  d  e  f  g
    settled     x  x     x     x
                   ▲ ▲
                   │ └─ first: the oldest that is not settled
                   └─── committable

  L1. Messages are in the order in which they were added, whatever their positions are.
  L2. `committable` is that of the last message of an unbroken run of settled ones from the start;
      it never passes one that is not settled, and never goes back.
  L3. Memory is that of the messages from the first that is not settled; what has been passed is
      forgotten.

  Adding and settling cost the same however many messages wait (bench/replay.ts).
*/

/** A message in the line. */
export interface Place<Position> {
  readonly position: Position;
  isSettled: boolean;
}

/** A power of two, so that an index wraps by a mask. A ring that small is not given back. */
const SIZE_MIN = 1_024;
/** A larger one is halved when so little of it is in use: bursts do not resize it all the time. */
const GIVEN_BACK_BELOW = 1 / 16;

export class CommitLine<Position> {
  /** A ring: from `#first` on, `#length` places. */
  #places: (Place<Position> | undefined)[] = emptyPlaces(SIZE_MIN);
  #first = 0;
  #length = 0;
  #committable: Position | undefined;

  /** Messages from the first that is not settled to the last. */
  get length(): number {
    return this.#length;
  }

  /** The position to commit; undefined until the first message is settled. */
  get committable(): Position | undefined {
    return this.#committable;
  }

  add(place: Place<Position>): void {
    if (this.#length === this.#places.length) this.#resize(this.#length * 2);
    this.#places[(this.#first + this.#length) & (this.#places.length - 1)] = place;
    this.#length += 1;
  }

  /** True when `committable` has moved. Settling a message again changes nothing. */
  settle(place: Place<Position>): boolean {
    if (place.isSettled) return false;
    place.isSettled = true;
    const before = this.#length;
    let next = this.#places[this.#first];
    while (this.#length > 0 && next !== undefined && next.isSettled) {
      this.#committable = next.position;
      this.#places[this.#first] = undefined;
      this.#first = (this.#first + 1) & (this.#places.length - 1);
      this.#length -= 1;
      next = this.#places[this.#first];
    }
    const size = this.#places.length;
    if (size > SIZE_MIN && this.#length < size * GIVEN_BACK_BELOW) {
      this.#resize(size / 2);
    }
    return this.#length < before;
  }

  #resize(size: number): void {
    const places = emptyPlaces<Position>(size);
    for (let index = 0; index < this.#length; index += 1) {
      places[index] = this.#places[(this.#first + index) & (this.#places.length - 1)];
    }
    this.#places = places;
    this.#first = 0;
  }
}

function emptyPlaces<Position>(size: number): (Place<Position> | undefined)[] {
  return new Array<Place<Position> | undefined>(size).fill(undefined);
}
