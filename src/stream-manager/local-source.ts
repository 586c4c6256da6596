import { assert } from '../base/assert.ts';
import type { TaskId } from '../base/ids.ts';
import { InstanceWindow } from './credits.ts';
import type { Flushable, FlushSchedule } from './flush-schedule.ts';

/** How a source is slowed down: by credit when it is one of ours, by its socket when it is not. */
export interface SourcePacing {
  /** Gives back bytes that the source may send again. */
  release(bytes: number): void;
  /** A batch of the source has begun to wait, or none waits any more. */
  setBlocked(isBlocked: boolean): void;
}

/**
 * One task of this container as the origin of tuples. It outlives the connections of its instance.
 */
export class LocalSource implements Flushable {
  readonly task: TaskId;
  readonly #window: InstanceWindow;
  readonly #schedule: FlushSchedule;
  readonly #waitsForBatches: boolean;
  #pacing: SourcePacing | undefined;
  #isScheduled = false;

  /**
   * `waitsForBatches` is false where tuples for a task that is behind are dropped: what waits is
   * bounded by that, and a source that stopped for it would have nothing dropped.
   */
  constructor(
    task: TaskId,
    windowBytes: number,
    schedule: FlushSchedule,
    { waitsForBatches = true }: { readonly waitsForBatches?: boolean } = {},
  ) {
    this.task = task;
    this.#window = new InstanceWindow(windowBytes);
    this.#schedule = schedule;
    this.#waitsForBatches = waitsForBatches;
  }

  /** Its instance has registered; a new connection starts with a full window. */
  connect(pacing: SourcePacing): void {
    this.#window.reset();
    this.#pacing = pacing;
    this.#settleLater();
  }

  disconnect(): void {
    this.#pacing = undefined;
  }

  received(bytes: number): void {
    this.#window.received(bytes);
    this.#settleLater();
  }

  batchOpened(): void {
    if (this.#waitsForBatches) this.setHeldBack();
  }

  batchSent(): void {
    if (this.#waitsForBatches) this.setLetGo();
  }

  /** Something of it waits and has no other bound than its window. */
  setHeldBack(): void {
    this.#window.batchOpened();
    this.#settleLater();
  }

  setLetGo(): void {
    this.#window.batchSent();
    if (!this.#window.isBlocked) this.#settleLater();
  }

  /** At the end of a turn, when everything that could leave has left. */
  flush(): void {
    assert(this.#isScheduled, 'a source is flushed when it asked for it');
    this.#isScheduled = false;
    const pacing = this.#pacing;
    if (pacing === undefined) return;
    pacing.setBlocked(this.#window.isBlocked);
    const bytes = this.#window.takeReleasable();
    if (bytes > 0) pacing.release(bytes);
  }

  #settleLater(): void {
    if (this.#isScheduled) return;
    this.#isScheduled = true;
    this.#schedule.addSource(this);
  }
}
