/** From this size on a batch is sent even while more tuples are at hand (D8 of the design). */
export const BATCH_BYTES = 32 * 1024;

/**
 * A full batch, the tuple that filled it, and what stands around the tuples: stream name, lengths.
 */
const BUFFER_BYTES = BATCH_BYTES + 8 * 1024;

/** Bounds what the pool keeps: 256 of 40 KiB are 10 MiB, a busy link's worth. */
const KEPT_BUFFERS_MAX = 256;

/**
 * Buffers for batches, used again once their bytes have left. Every buffer has the same size; a
 * tuple that is larger than a batch gets a buffer of its own, which is not kept.
 */
export class BatchPool {
  readonly #free: Uint8Array[] = [];

  take(bytesMin: number): Uint8Array {
    if (bytesMin > BUFFER_BYTES) return Buffer.allocUnsafeSlow(bytesMin);
    return this.#free.pop() ?? Buffer.allocUnsafeSlow(BUFFER_BYTES);
  }

  give(buffer: Uint8Array): void {
    if (buffer.length !== BUFFER_BYTES || this.#free.length === KEPT_BUFFERS_MAX) return;
    this.#free.push(buffer);
  }
}
