import { assertDefined } from '../base/assert.ts';
import type { StreamHeader } from '../wire/stream-header.ts';
import type { TupleSetReader } from '../wire/tuple-set-reader.ts';
import { Batch } from './batch.ts';
import { BATCH_BYTES, type BatchPool } from './batch-pool.ts';
import type { LocalSource } from './local-source.ts';
import type { OutgoingSet } from './outgoing-set.ts';
import type { Outbox } from './outbox.ts';
import { RootLog } from './root-log.ts';

/**
 * The tuples of one local source on their way to one destination, gathered in one batch at a time.
 * The batch belongs to one stream: another stream's tuple seals it, so that order is kept (O1).
 */
export class Lane {
  readonly #source: LocalSource;
  readonly #outbox: Outbox;
  readonly #pool: BatchPool;
  #batch: Batch | undefined;
  /** Made by the first tracked tuple. */
  #roots: RootLog | undefined;

  constructor(source: LocalSource, outbox: Outbox, pool: BatchPool) {
    this.#source = source;
    this.#outbox = outbox;
    this.#pool = pool;
    this.#batch = undefined;
    this.#roots = undefined;
  }

  /** Whether the destination is behind: back pressure holds because of it. */
  get isBehind(): boolean {
    return this.#outbox.isBehind;
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

  /** Copies the tuple that a reader stands on, which belongs to trees, under a key of its own. */
  appendTracked(stream: StreamHeader, set: TupleSetReader, keyLow: number, keyHigh: number): void {
    const { tupleStart, tupleEnd } = set;
    let batch = this.#batch;
    if (batch === undefined || !batch.accepts(stream, tupleEnd - tupleStart)) {
      this.finish();
      batch = this.#open(stream, tupleEnd - tupleStart);
    }
    batch.append(set.bytes, tupleStart, tupleEnd, 1);
    batch.setKey(tupleEnd - set.keyStart, keyLow, keyHigh);
    this.#roots ??= new RootLog();
    this.#roots.add(set.roots);
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
    if (this.#roots !== undefined) batch.roots = this.#roots.take();
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
