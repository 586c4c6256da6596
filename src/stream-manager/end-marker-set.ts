import { endOfInputByPlanSet, endOfInputSet } from '../wire/tuple-set-writer.ts';
import { STREAM_MESSAGE_HEAD_MAX, STREAM_MESSAGE_TAIL_MAX } from '../wire/tuple-stream-message.ts';
import type { OutgoingSet } from './outgoing-set.ts';

/** "Nothing more comes from this task", on its way to one destination behind the task's data. */
export class EndMarkerSet implements OutgoingSet {
  readonly bytes: Uint8Array;
  readonly start = STREAM_MESSAGE_HEAD_MAX;
  readonly end: number;
  readonly byteLength: number;
  readonly sourceTask: number;
  readonly tupleCount = 0;
  readonly roots = undefined;

  /** `planEpoch` for a task of ours (E5 of end-markers.ts). */
  constructor(sourceTask: number, planEpoch?: number) {
    const set =
      planEpoch === undefined
        ? endOfInputSet(sourceTask)
        : endOfInputByPlanSet(sourceTask, planEpoch);
    this.bytes = new Uint8Array(this.start + set.length + STREAM_MESSAGE_TAIL_MAX);
    this.bytes.set(set, this.start);
    this.end = this.start + set.length;
    this.byteLength = set.length;
    this.sourceTask = sourceTask;
  }

  compact(): void {
    // It is as small as it gets.
  }

  onSent(): void {
    // No source waits for it.
  }

  release(): void {
    // Its few bytes belong to no pool.
  }
}
