import { malformed } from '../../wire/malformed.ts';

const LENGTH_BYTES = 4;

/**
 * Cuts the bytes of one connection into frames. Each connection has its own: half an answer that
 * was left by a broken connection must never meet the bytes of the next one.
 */
export class FrameReader {
  readonly #frameBytesMax: number;
  readonly #length = Buffer.alloc(LENGTH_BYTES);
  /** What is being filled: `#length`, or a frame. */
  #target = this.#length;
  #filled = 0;

  constructor(frameBytesMax: number) {
    this.#frameBytesMax = frameBytesMax;
  }

  /**
   * Calls `onFrame` with each frame that is whole now, without its length; false means that nothing
   * more is wanted.
   *
   * @throws EngineError PACKET_MALFORMED; the connection is of no use from then on.
   */
  feed(chunk: Buffer, onFrame: (frame: Buffer) => boolean): void {
    let at = 0;
    while (at < chunk.length) {
      const taken = chunk.copy(this.#target, this.#filled, at);
      at += taken;
      this.#filled += taken;
      if (this.#filled < this.#target.length) return;
      const whole = this.#target;
      this.#filled = 0;
      if (whole === this.#length) {
        this.#target = Buffer.allocUnsafe(this.#judgedLength());
      } else {
        this.#target = this.#length;
        if (!onFrame(whole)) return;
      }
    }
  }

  /** No memory is set aside on the word of a length that is not sane. */
  #judgedLength(): number {
    const bytes = this.#length.readInt32BE(0);
    if (bytes <= 0 || bytes > this.#frameBytesMax) {
      throw malformed(`a frame of ${bytes} bytes, where 1 to ${this.#frameBytesMax} may come`);
    }
    return bytes;
  }
}
