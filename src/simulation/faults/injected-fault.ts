import type { Fault } from './fault.ts';

/** The names of the processes at the two ends of links. */
export type NamedEnds = readonly [readonly string[], readonly string[]];

/** A fault as it really struck: what its targets meant at that moment. */
export interface InjectedFault {
  readonly fault: Fault;
  /** Simulated time. */
  readonly atMs: number;
  readonly endsAtMs: number;
  /** Whom it hit by itself, by name. */
  readonly processes: readonly string[];
  /** Of faults of links. */
  readonly ends: NamedEnds | undefined;
}
