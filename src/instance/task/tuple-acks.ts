import type { AnyTuple, TupleOrigin } from '../../api/tuple.ts';

/** What the loop of a bolt tells the collector under at least once. */
export interface TupleAcks {
  /** Number of the connection with the stream manager, for the tuples that come by it. */
  readonly generation: number;
  /** `execute` is called with this tuple, one at a time: a BasicBolt emits its descendants. */
  begin(tuple: AnyTuple): void;
  /** Makes the call in the context of the tuple, where several are executed at once. */
  run(tuple: AnyTuple, call: () => unknown): unknown;
  /** `execute` is over: acks the tuple of a BasicBolt. */
  succeeded(tuple: AnyTuple): void;
  /** So many executes of tuples of a stream have taken so long; a BasicBolt acks at their end. */
  executed(origin: TupleOrigin, count: number, latencyNs: number): void;
  /** One `execute` was timed, for so many others; a BasicBolt acks at its end. */
  timed(origin: TupleOrigin, latencyNs: number, weight: number): void;
  /** `execute` has thrown: fails the tuple, unless the bolt has settled it itself. */
  thrown(tuple: AnyTuple, thrown: unknown): void;
  /** The marker has been met (ring-markers.ts). */
  connectionChanged(): void;
}
