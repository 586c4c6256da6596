import { assertDefined } from '../../base/assert.ts';

/** What became of a record in the end. */
export type RecordState = 'unread' | 'waiting' | 'pending' | 'done' | 'given-up';

interface SourceRecord {
  state: RecordState;
  failures: number;
}

/**
 * The input of one spout task as a broker holds it: every record is handed out until it is done.
 * Outlives the processes.
 *
 *     unread ──> pending ──ack──> done
 *                │    ▲ └──failed too often──> given-up
 *              fail   └── emitted again
 *                ▼    │
 *               waiting          also where the process has died that had it pending
 */
export class ReplaySource {
  readonly #records: SourceRecord[];
  /** Records that are to be emitted again, in order. */
  readonly #waiting: number[] = [];
  /** By tuple, its message id: the record. Of the process that runs. */
  readonly #pending = new Map<number, number>();
  #read = 0;
  /** Failed, and kept back for a while. */
  readonly #resting = new Set<number>();

  constructor(count: number) {
    this.#records = Array.from({ length: count }, () => ({ state: 'unread', failures: 0 }));
  }

  /** A process begins: what the one before had pending is handed out again. */
  begin(): void {
    this.#waiting.splice(0);
    this.#pending.clear();
    this.#resting.clear();
    this.#records.forEach((record, index) => {
      if (record.state !== 'pending' && record.state !== 'waiting') return;
      record.state = 'waiting';
      this.#waiting.push(index);
    });
  }

  /** A record to emit, and whether it has not been read before; undefined when there is none. */
  take(): { readonly record: number; readonly isNew: boolean } | undefined {
    const again = this.#waiting.shift();
    if (again !== undefined) return { record: again, isNew: false };
    if (this.#read === this.#records.length) return undefined;
    this.#read += 1;
    return { record: this.#read - 1, isNew: true };
  }

  /** It was emitted as this tuple. */
  sent(record: number, tuple: number): void {
    this.#at(record).state = 'pending';
    this.#pending.set(tuple, record);
  }

  /** What `take` gave could not be emitted. */
  putBack(record: number): void {
    this.#at(record).state = 'waiting';
    this.#waiting.unshift(record);
  }

  acked(tuple: number): void {
    const record = this.#settle(tuple);
    if (record !== undefined) record.state = 'done';
  }

  /** Returns the record, which rests until its release; undefined when there is none to release. */
  failed(tuple: number, failuresMax = Number.POSITIVE_INFINITY): number | undefined {
    const index = this.#pending.get(tuple);
    const record = this.#settle(tuple);
    if (record === undefined || index === undefined) return undefined;
    record.failures += 1;
    record.state = record.failures > failuresMax ? 'given-up' : 'waiting';
    if (record.state === 'given-up') return undefined;
    this.#resting.add(index);
    return index;
  }

  /** It may be emitted again. */
  release(record: number): void {
    if (this.#resting.delete(record)) this.#waiting.push(record);
  }

  releaseAll(): void {
    for (const record of this.#resting) this.release(record);
  }

  get pending(): number {
    return this.#pending.size;
  }

  /** Whether there is something to take. */
  get hasNext(): boolean {
    return this.#waiting.length > 0 || this.#read < this.#records.length;
  }

  /** Whether there is something to emit again. */
  get hasWaiting(): boolean {
    return this.#waiting.length > 0;
  }

  /** There is nothing to emit, and will be only after a failure. */
  get isRead(): boolean {
    return this.#read === this.#records.length && this.#waiting.length + this.#resting.size === 0;
  }

  get isSettled(): boolean {
    return this.isRead && this.#pending.size === 0;
  }

  /** How many records are in a state. */
  count(state: RecordState): number {
    return this.#records.filter((record) => record.state === state).length;
  }

  #settle(tuple: number): SourceRecord | undefined {
    const index = this.#pending.get(tuple);
    this.#pending.delete(tuple);
    return index === undefined ? undefined : this.#at(index);
  }

  #at(index: number): SourceRecord {
    return assertDefined(this.#records[index], 'records are those that were handed out');
  }
}
