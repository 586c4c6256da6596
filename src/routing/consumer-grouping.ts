import type { TaskId } from '../base/ids.ts';
import type { Destinations } from './destinations.ts';

/**
 * What routing may look at: one tuple, where a reader found it in the bytes that arrived. Values
 * stay as they are; nothing here decodes them.
 */
export interface RoutableTuple {
  readonly bytes: Uint8Array;
  readonly valueCount: number;
  valueStart(index: number): number;
  valueEnd(index: number): number;
  /** Tasks that the emitting instance chose itself, for direct and custom groupings. */
  readonly destinationCount: number;
  destination(index: number): number;
}

/** How one consumer of a stream shares the tuples among its tasks. */
export interface ConsumerGrouping {
  /** Where every tuple goes, when that does not depend on the tuple. */
  readonly fixedTasks?: readonly TaskId[];
  /** @throws EngineError PACKET_MALFORMED when the tuple lacks a value that decides. */
  addDestinations(tuple: RoutableTuple, into: Destinations): void;
}
