import { assertDefined } from '../../base/assert.ts';
import { copyOf } from '../../wire/frame.ts';
import { malformed } from '../../wire/malformed.ts';

/**
 * Reads the fields of one frame; jute-writer.ts says how they lie. What it returns is the caller's
 * own: nothing refers to the memory of the frame.
 *
 * Every method throws an EngineError PACKET_MALFORMED where the frame ends too early.
 */
export class JuteReader {
  readonly #bytes: Buffer;
  #at = 0;

  constructor(bytes: Buffer) {
    this.#bytes = bytes;
  }

  int(): number {
    return this.#bytes.readInt32BE(this.#take(4));
  }

  long(): bigint {
    return this.#bytes.readBigInt64BE(this.#take(8));
  }

  boolean(): boolean {
    return assertDefined(this.#bytes[this.#take(1)], 'inside of the frame') !== 0;
  }

  /** Empty where there is none. */
  buffer(): Uint8Array {
    const length = Math.max(0, this.int());
    const start = this.#take(length);
    return copyOf(this.#bytes, start, start + length);
  }

  string(): string {
    const length = Math.max(0, this.int());
    const start = this.#take(length);
    return this.#bytes.toString('utf8', start, start + length);
  }

  vector<T>(read: () => T): T[] {
    const count = this.int();
    // Every element has a byte at least: a count beyond that must not make us set memory aside.
    if (count > this.#bytes.length - this.#at) throw malformed(`a vector of ${count} elements`);
    const elements: T[] = [];
    for (let index = 0; index < count; index += 1) elements.push(read());
    return elements;
  }

  #take(bytes: number): number {
    const start = this.#at;
    if (bytes > this.#bytes.length - start) {
      throw malformed(`${bytes} bytes where ${this.#bytes.length - start} are left`);
    }
    this.#at += bytes;
    return start;
  }
}
