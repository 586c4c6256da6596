import type { TaskId } from '../base/ids.ts';
import type { AckKind } from '../wire/ack-set-reader.ts';

/** About 8 MiB of them. */
const NEWS_MAX = 65_536;

/** What is told of a tree whose spout is in no plan that we know. */
export interface News {
  readonly kind: AckKind;
  readonly source: TaskId;
  /** The spout's. */
  readonly task: TaskId;
  readonly rootLow: number;
  readonly rootHigh: number;
  /** XOR of keys; 0 in a fail. */
  readonly xorLow: number;
  readonly xorHigh: number;
  /** Of a fail. */
  readonly detail: Uint8Array | undefined;
}

/**
 * News of trees of spouts that a newer plan has added, while that plan is on its way to us: a tuple
 * of a new spout may overtake it. Without it those trees would wait for their time-out.
 *
 * N1. Task ids are given once, in ascending order: a task that is in no plan and above all of those
 *     that ever were in one is new; any other one is gone.
 * N2. News keeps its order. Room is bounded; for which spouts there was none is remembered.
 */
export class EarlyNews {
  readonly #newsMax: number;
  #news: News[] = [];
  readonly #overflown = new Set<TaskId>();
  #lastTask = 0;

  constructor(newsMax = NEWS_MAX) {
    this.#newsMax = newsMax;
  }

  /** A plan with these tasks is in force: N1 counts from them. */
  known(tasks: readonly TaskId[]): void {
    for (const task of tasks) this.#lastTask = Math.max(this.#lastTask, task);
  }

  /** False when the spout is gone: its trees are over. */
  keep(news: News): boolean {
    if (news.task <= this.#lastTask) return false;
    if (this.#news.length < this.#newsMax) this.#news.push(news);
    // So many different tasks are nobody's: what names them means nothing.
    else if (this.#overflown.size < this.#newsMax) this.#overflown.add(news.task);
    return true;
  }

  /** What was kept, in order, and the spouts of which something was not; it is kept no more. */
  take(): { readonly news: readonly News[]; readonly overflown: readonly TaskId[] } {
    const taken = { news: this.#news, overflown: [...this.#overflown] };
    this.#news = [];
    this.#overflown.clear();
    return taken;
  }
}
