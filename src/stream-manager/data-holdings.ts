import type { TaskId } from '../base/ids.ts';

/** What waits for one destination task, and what is under way to it. */
export interface OutboxHoldings {
  readonly task: TaskId;
  readonly queuedBytes: number;
  readonly underWayBytes: number;
}

/** What one local task has been given, and what waits for its instance to come back. */
export interface DestinationHoldings {
  readonly task: TaskId;
  readonly unconsumedBytes: number;
  readonly waitingBytes: number;
}

/**
 * The tuples that one stream manager holds at a moment, by the terms of the sum in data-path.ts:
 * for whoever watches that it keeps to it.
 */
export interface DataHoldings {
  readonly outboxes: readonly OutboxHoldings[];
  readonly destinations: readonly DestinationHoldings[];
  /** Sets that came before there was a plan. */
  readonly heldBytes: number;
}
