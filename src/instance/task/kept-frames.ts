import { NO_ROOM, type RingWriter } from '../../ring/byte-ring.ts';
import { copyOf } from '../../wire/frame.ts';

interface KeptFrame {
  /** Undefined for a marker. */
  readonly set: Uint8Array | undefined;
  readonly marker: number;
}

/**
 * Frames for which there was no room in the ring on a thread that cannot be blocked: the
 * simulator's. They move into the ring in their order, as room comes.
 *
 * F1. While any is kept, nothing else is written into the ring or reserved in it.
 * F2. They move by themselves: nobody has to come back for them.
 */
export class KeptFrames {
  readonly #ring: RingWriter;
  #frames: KeptFrame[] = [];
  /** Settles when none is kept any more, with true, or when nobody will make room, with false. */
  #moving: Promise<boolean> | undefined;

  constructor(ring: RingWriter) {
    this.#ring = ring;
  }

  get isEmpty(): boolean {
    return this.#frames.length === 0;
  }

  /** Bytes of all kept sets. */
  get bytes(): number {
    return this.#frames.reduce((sum, { set }) => sum + (set?.length ?? 0), 0);
  }

  /** What the oldest needs of the ring. */
  get firstBytes(): number {
    return this.#frames[0]?.set?.length ?? 0;
  }

  /** Writes a set that lies in other memory into the ring, or keeps a copy. */
  addSet(set: Uint8Array): void {
    if (this.isEmpty && this.#writeSet(set)) return;
    this.#keep({ set: copyOf(set, 0, set.length), marker: 0 });
  }

  addMarker(marker: number): void {
    if (this.isEmpty && this.#ring.writeMarker(marker)) return;
    this.#keep({ set: undefined, marker });
  }

  /** Moves what there is room for now; true when none is left. */
  move(): boolean {
    let moved = 0;
    for (const { set, marker } of this.#frames) {
      const isWritten = set === undefined ? this.#ring.writeMarker(marker) : this.#writeSet(set);
      if (!isWritten) break;
      moved += 1;
    }
    this.#frames = this.#frames.slice(moved);
    return this.isEmpty;
  }

  /** Resolves to true when none is kept, to false when nobody will make room any more. */
  async moved(): Promise<boolean> {
    return this.isEmpty || (await this.#moving) === true;
  }

  #keep(frame: KeptFrame): void {
    this.#frames.push(frame);
    this.#moving ??= this.#moveAll();
  }

  async #moveAll(): Promise<boolean> {
    do {
      if (!(await this.#ring.waitForRoom(this.firstBytes))) return false;
    } while (!this.move());
    this.#moving = undefined;
    return true;
  }

  #writeSet(set: Uint8Array): boolean {
    const start = this.#ring.reserve(set.length);
    if (start === NO_ROOM) return false;
    this.#ring.bytes.set(set, start);
    this.#ring.commit(start, start + set.length);
    return true;
  }
}
