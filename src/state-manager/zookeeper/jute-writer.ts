/*
  Jute, the encoding of ZooKeeper's records: fields one after the other, without names or tags.

  Frame   => length  record*
    length   int, bytes after this field
  int     => 4 bytes, big-endian
  long    => 8 bytes, big-endian
  boolean => 1 byte, 0 or 1
  buffer  => length int, -1 for none; then so many bytes
  string  => a buffer of UTF-8
  vector  => count int, -1 for none; then so many elements
*/

const LENGTH_BYTES = 4;
/** Most requests are a path and a few numbers. */
const FIRST_BYTES = 128;

/** Writes one frame. */
export class JuteWriter {
  #bytes = Buffer.allocUnsafeSlow(FIRST_BYTES);
  #at = LENGTH_BYTES;

  int(value: number): this {
    this.#reserve(4);
    this.#at = this.#bytes.writeInt32BE(value, this.#at);
    return this;
  }

  long(value: bigint): this {
    this.#reserve(8);
    this.#at = this.#bytes.writeBigInt64BE(value, this.#at);
    return this;
  }

  boolean(value: boolean): this {
    this.#reserve(1);
    this.#at = this.#bytes.writeUInt8(value ? 1 : 0, this.#at);
    return this;
  }

  buffer(value: Uint8Array): this {
    this.int(value.length);
    this.#reserve(value.length);
    this.#bytes.set(value, this.#at);
    this.#at += value.length;
    return this;
  }

  string(value: string): this {
    return this.buffer(Buffer.from(value, 'utf8'));
  }

  vector<T>(elements: readonly T[], write: (element: T) => void): this {
    this.int(elements.length);
    for (const element of elements) write(element);
    return this;
  }

  /** The whole frame with its length in front; nothing may be written after it. */
  frame(): Uint8Array {
    this.#bytes.writeInt32BE(this.#at - LENGTH_BYTES, 0);
    return this.#bytes.subarray(0, this.#at);
  }

  #reserve(bytes: number): void {
    const needed = this.#at + bytes;
    if (needed <= this.#bytes.length) return;
    const larger = Buffer.allocUnsafeSlow(Math.max(this.#bytes.length * 2, needed));
    this.#bytes.copy(larger, 0, 0, this.#at);
    this.#bytes = larger;
  }
}
