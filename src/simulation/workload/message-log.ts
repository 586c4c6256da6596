import type { TaskId } from '../../base/ids.ts';
import type { FailReason } from '../../model/fail-reason.ts';
import type { Life } from './life.ts';
import { ReplaySource } from './replay-source.ts';

interface Entry {
  readonly tuple: number;
  readonly life: Life;
  /** By the clock of the task that made it, which may be ahead of the others within an event. */
  readonly atMs: number;
  /** Its place among all entries: what follows from another one comes later. */
  readonly order: number;
}

/** A tuple that a spout emitted with a message id, which is the tuple's number. */
export type Message = Entry;

/** A call of `ack` or `fail` of a spout. */
export interface Callback extends Entry {
  /** Undefined for an `ack`. */
  readonly reason: FailReason | undefined;
}

/** What a task did with a tuple in the end; `thrown` is what its `execute` did. */
export interface Settlement extends Entry {
  readonly how: 'acked' | 'failed' | 'thrown';
}

/**
 * What user code saw and did of tuple trees: a part of the ledger, kept for workloads that run at
 * least once.
 */
export class MessageLog {
  readonly messages: Message[] = [];
  readonly callbacks: Callback[] = [];
  readonly settlements: Settlement[] = [];
  /** Calls of spouts that should not have been made, in words. */
  readonly excesses: string[] = [];
  readonly #parents = new Map<number, readonly number[]>();
  readonly #sources = new Map<TaskId, ReplaySource>();
  readonly #now: () => number;
  #entries = 0;

  constructor(now: () => number) {
    this.#now = now;
  }

  emit(life: Life, tuple: number): void {
    this.messages.push(this.#entry(tuple, life));
  }

  callback(life: Life, tuple: number, reason: FailReason | undefined): void {
    this.callbacks.push({ ...this.#entry(tuple, life), reason });
  }

  /** Call it right before the engine hears of it. */
  settle(life: Life, tuple: number, how: Settlement['how']): void {
    this.settlements.push({ ...this.#entry(tuple, life), how });
  }

  anchor(tuple: number, parents: readonly number[]): void {
    if (parents.length > 0) this.#parents.set(tuple, parents);
  }

  /** The tuples that one was anchored to. */
  parentsOf(tuple: number): readonly number[] {
    return this.#parents.get(tuple) ?? [];
  }

  /** Children and parents. */
  get anchors(): ReadonlyMap<number, readonly number[]> {
    return this.#parents;
  }

  exceed(what: string): void {
    this.excesses.push(what);
  }

  /** The input of a task of a spout, made when it is first asked for. */
  source(task: TaskId, count: number): ReplaySource {
    let source = this.#sources.get(task);
    if (source === undefined) {
      source = new ReplaySource(count);
      this.#sources.set(task, source);
    }
    return source;
  }

  /** By task. */
  get sources(): ReadonlyMap<TaskId, ReplaySource> {
    return this.#sources;
  }

  #entry(tuple: number, life: Life): Entry {
    this.#entries += 1;
    return { tuple, life, atMs: this.#now(), order: this.#entries };
  }
}
