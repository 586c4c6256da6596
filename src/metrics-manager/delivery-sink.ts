import { Backoff } from '../base/backoff.ts';
import { BoundedQueue } from '../base/bounded-queue.ts';
import type { Clock, Timer } from '../base/clock.ts';
import { EngineError, messageOf } from '../base/errors.ts';
import type { Logger } from '../base/logger.ts';
import type { Random } from '../base/random.ts';
import { itemsOf, type MetricsRecord, type MetricsSink, type SinkCounters } from './sink.ts';

/*
  A sink whose work takes time: it hands records to somebody over the network. What differs from one
  to the next is the delivery; this is the queue before it.

      accept ──> queue ──> batch ──deliver──> done, or back-off and the same batch again

  D1. At most one delivery is under way. One that takes longer than `deliveryMsMax` is aborted;
      until it has really ended no other begins, so that one that hangs for ever costs nothing more.
  D2. The queue is bounded in bytes; when it is full the oldest records go and are counted. The
      batch under way is bounded by BATCH_BYTES_MAX, or one record, besides.
  D3. A delivery that failed retryably is repeated after a back-off, ATTEMPTS_MAX times in all. Any
      other failure, or the last attempt, loses that batch, which is counted, and not the next one.
*/

/** Hands over some records; the oldest comes first. */
export interface MetricsDelivery {
  /**
   * Rejects when it fails; EngineErrors say whether to try again. Ends soon after `signal` aborts.
   */
  deliver(records: readonly MetricsRecord[], signal: AbortSignal): Promise<void>;
  /** Gives back what it holds. Idempotent. */
  close?(): void;
}

export interface DeliverySinkOptions {
  readonly name: string;
  readonly delivery: MetricsDelivery;
  readonly clock: Clock;
  readonly random: Random;
  readonly logger: Logger;
  readonly counters: SinkCounters;
  readonly queueBytesMax?: number;
  readonly deliveryMsMax?: number;
}

/** An hour of a container with thirty instances, at some kilobytes a minute each. */
const QUEUE_BYTES_MAX = 4 * 1024 * 1024;
const BATCH_BYTES_MAX = 256 * 1024;
/** Longer than any collector nearby needs, short against an export interval. */
const DELIVERY_MS_MAX = 10_000;
const ATTEMPTS_MAX = 8;
const BACKOFF_MIN_MS = 500;
const BACKOFF_MAX_MS = 30_000;
/** What the end of the process leaves for last deliveries; its whole grace is five seconds. */
const CLOSE_MS_MAX = 1_000;
/** Fields of a record and of each metric besides their text. */
const RECORD_OVERHEAD = 200;
const METRIC_OVERHEAD = 64;
/** All buckets of a histogram, which lie in one array of doubles. */
const HISTOGRAM_OVERHEAD = 13_000;

export class DeliverySink implements MetricsSink {
  readonly name: string;
  readonly #options: DeliverySinkOptions;
  readonly #queue: BoundedQueue<MetricsRecord>;
  readonly #backoff: Backoff;
  readonly #closed = Promise.withResolvers<void>();
  /** Taken from the queue, not yet delivered. */
  #batch: readonly MetricsRecord[] = [];
  #attempts = 0;
  #underWay: AbortController | undefined;
  #limit: Timer | undefined;
  #pause: Timer | undefined;
  #closeLimit: Timer | undefined;
  #phase: 'open' | 'closing' | 'closed' = 'open';
  #isFailing = false;

  constructor(options: DeliverySinkOptions) {
    this.name = options.name;
    this.#options = options;
    this.#queue = new BoundedQueue(options.queueBytesMax ?? QUEUE_BYTES_MAX);
    this.#backoff = new Backoff(options.random, BACKOFF_MIN_MS, BACKOFF_MAX_MS);
  }

  get queuedRecords(): number {
    return this.#queue.length + this.#batch.length;
  }

  get queuedBytes(): number {
    return this.#queue.bytes;
  }

  accept(record: MetricsRecord): void {
    const items = itemsOf(record);
    if (items === 0) return;
    if (this.#phase !== 'open') {
      this.#options.counters.dropped.add(items);
      return;
    }
    const bytes = bytesOf(record);
    while (!this.#queue.push(record, bytes)) {
      const oldest = this.#queue.shift();
      this.#options.counters.dropped.add(oldest === undefined ? items : itemsOf(oldest));
      if (oldest === undefined) return; // Larger than the whole queue.
    }
    this.#next();
  }

  close(): Promise<void> {
    if (this.#phase !== 'open') return this.#closed.promise;
    this.#phase = 'closing';
    this.#closeLimit = this.#options.clock.after(CLOSE_MS_MAX, () => this.#end());
    // A delivery that failed just now is not tried again: whoever closes does not wait for that.
    if (this.#pause === undefined) this.#next();
    else this.#end();
    return this.#closed.promise;
  }

  /** Begins with the next delivery when there is one and nothing is in its way (D1). */
  #next(): void {
    if (this.#underWay !== undefined || this.#pause !== undefined) return;
    if (this.#phase === 'closed') return;
    if (this.#batch.length === 0) this.#batch = this.#takeBatch();
    if (this.#batch.length === 0) {
      if (this.#phase === 'closing') this.#end();
      return;
    }
    void this.#deliver();
  }

  #takeBatch(): readonly MetricsRecord[] {
    const batch: MetricsRecord[] = [];
    const left = Math.max(0, this.#queue.bytes - BATCH_BYTES_MAX);
    do {
      const record = this.#queue.shift();
      if (record === undefined) break;
      batch.push(record);
    } while (this.#queue.bytes > left);
    return batch;
  }

  async #deliver(): Promise<void> {
    const { clock, delivery, counters, deliveryMsMax = DELIVERY_MS_MAX } = this.#options;
    const abort = new AbortController();
    this.#underWay = abort;
    this.#limit = clock.after(deliveryMsMax, () => abort.abort());
    this.#attempts += 1;
    let failure: unknown;
    try {
      await delivery.deliver(this.#batch, abort.signal);
      counters.flushed.add(1);
    } catch (error) {
      failure = error ?? 'without a reason';
    }
    this.#limit.cancel();
    this.#underWay = undefined;
    if (failure === undefined) this.#onDelivered();
    else this.#onFailed(failure, abort.signal.aborted);
  }

  #onDelivered(): void {
    const { logger } = this.#options;
    if (this.#isFailing) logger.info(`${this.name} works again`);
    this.#isFailing = false;
    this.#backoff.reset();
    this.#forgetBatch();
    this.#next();
  }

  /** D3 */
  #onFailed(error: unknown, tookTooLong: boolean): void {
    const { clock, counters } = this.#options;
    const isRetryable = tookTooLong || (error instanceof EngineError && error.retryable);
    this.#report(error);
    if (!isRetryable || this.#attempts >= ATTEMPTS_MAX) {
      counters.dropped.add(sumOf(this.#batch));
      this.#forgetBatch();
    }
    if (this.#phase !== 'open') {
      this.#end();
      return;
    }
    this.#pause = clock.after(this.#backoff.next(), () => {
      this.#pause = undefined;
      this.#next();
    });
  }

  #forgetBatch(): void {
    this.#batch = [];
    this.#attempts = 0;
  }

  /** The first failure of a row: the counter tells of the others. */
  #report(error: unknown): void {
    if (this.#isFailing) return;
    this.#isFailing = true;
    this.#options.logger.warn(`${this.name} cannot deliver: ${messageOf(error)}`, { error });
  }

  #end(): void {
    if (this.#phase === 'closed') return;
    this.#phase = 'closed';
    for (const timer of [this.#pause, this.#closeLimit, this.#limit]) timer?.cancel();
    this.#underWay?.abort();
    let lost = sumOf(this.#batch);
    for (;;) {
      const record = this.#queue.shift();
      if (record === undefined) break;
      lost += itemsOf(record);
    }
    this.#batch = [];
    this.#options.counters.dropped.add(lost);
    this.#options.delivery.close?.();
    this.#closed.resolve();
  }
}

function sumOf(records: readonly MetricsRecord[]): number {
  return records.reduce((sum, record) => sum + itemsOf(record), 0);
}

/** About what a record takes in memory; text is one byte a character here. */
function bytesOf({ metrics, exceptions, histograms = [], spans = [] }: MetricsRecord): number {
  let bytes = RECORD_OVERHEAD;
  for (const { name, value } of metrics) bytes += name.length + value.length + METRIC_OVERHEAD;
  for (const { name } of histograms) bytes += name.length + HISTOGRAM_OVERHEAD;
  for (const span of spans) bytes += span.length + METRIC_OVERHEAD;
  for (const { stackTrace, logging } of exceptions) {
    bytes += stackTrace.length + logging.length + METRIC_OVERHEAD;
  }
  return bytes;
}
