import { assertDefined } from '../base/assert.ts';
import type { StreamHeader } from '../wire/stream-header.ts';
import { Batch } from './batch.ts';
import { BATCH_BYTES, type BatchPool } from './batch-pool.ts';
import type { LocalSource } from './local-source.ts';
import type { OutgoingSet } from './outgoing-set.ts';
import type { Outbox } from './outbox.ts';

/**
 * The tuples of one local source on their way to one destination, gathered in one batch at a time.
 * The batch belongs to one stream: another stream's tuple seals it, so that order is kept (O1).
 */
export class Lane {
  readonly #source: LocalSource;
  readonly #outbox: Outbox;
  readonly #pool: BatchPool;
  #batch: Batch | undefined;

  constructor(source: LocalSource, outbox: Outbox, pool: BatchPool) {
    this.#source = source;
    this.#outbox = outbox;
    this.#pool = pool;
    this.#batch = undefined;
  }

  /** Copies tuples, given as their whole fields of a tuple set: tag, length and body. */
  append(
    stream: StreamHeader,
    bytes: Uint8Array,
    start: number,
    end: number,
    tupleCount: number,
  ): void {
    let batch = this.#batch;
    if (batch === undefined || !batch.accepts(stream, end - start)) {
      this.finish();
      batch = this.#open(stream, end - start);
    }
    batch.append(bytes, start, end, tupleCount);
    if (batch.tupleBytes >= BATCH_BYTES) this.finish();
  }

  /** Seals what is open, so that something else may follow in order. */
  finish(): void {
    if (this.#batch === undefined) return;
    const set = this.seal();
    this.#outbox.laneSealed(this, set);
  }

  /** The outbox's request for the open batch. */
  seal(): OutgoingSet {
    const batch = assertDefined(this.#batch, 'an open lane has a batch');
    this.#batch = undefined;
    batch.seal();
    return batch;
  }

  #open(stream: StreamHeader, tupleBytes: number): Batch {
    const batch = new Batch(this.#pool, this.#source, stream, tupleBytes);
    this.#batch = batch;
    this.#source.batchOpened();
    this.#outbox.laneOpened(this);
    return batch;
  }
}
