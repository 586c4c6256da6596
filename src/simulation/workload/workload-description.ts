/*
  A workload as plain JSON: it can be printed, stored, and made smaller by hand or by the shrinker.
  Whatever is left out of it while it stays a valid topology is still a workload.

  D1. Components stand in an order in which each reads only earlier ones: there is no cycle.
  D2. Every bolt reads at least one stream, so it can be reached from a spout.
  D3. A bolt reads a stream at most once: which grouping a tuple came by is then never in doubt.
  D4. A stream that is read by a direct grouping has no other reader.
*/

export interface WorkloadDescription {
  readonly seed: number;
  readonly name: string;
  /** Worker containers. */
  readonly containers: number;
  /** Settings of the topology, as text. */
  readonly config: Readonly<Record<string, string>>;
  readonly spouts: readonly SpoutDescription[];
  readonly bolts: readonly BoltDescription[];
}

export function isAtLeastOnce({ config }: Pick<WorkloadDescription, 'config'>): boolean {
  return config['topology.reliability.mode'] === 'ATLEAST_ONCE';
}

/**
 * Every stream of every workload has these fields, in this order: the tuple's number in the ledger,
 * two keys and as many bytes of payload as the stream says.
 */
export const WORKLOAD_FIELDS = ['id', 'first', 'second', 'payload'] as const;
export type KeyField = 'first' | 'second';

export interface StreamDescription {
  readonly name: string;
  /** Sizes of the payloads, in turn. */
  readonly payloadBytes: readonly number[];
  /** How many different keys its tuples have, of the key pool (keys.ts). */
  readonly keys: number;
}

/** How fast a spout is. */
export type Pace =
  /** As fast as the engine takes it, so many tuples in each call of `nextTuple`. */
  | { readonly kind: 'flood'; readonly perCall: number }
  /** So many at once, then a pause; it finds out by being asked again and again. */
  | { readonly kind: 'burst'; readonly size: number; readonly pauseMs: number }
  /** One after the other, each announced by `context.wake()` out of a timer. */
  | { readonly kind: 'trickle'; readonly everyMs: number }
  /** One after the other, each call returns a promise that a timer settles. */
  | { readonly kind: 'awaited'; readonly everyMs: number }
  /** Emits from timers of its own, outside of `nextTuple`. */
  | { readonly kind: 'timer'; readonly everyMs: number };

/** Something that user code does wrong, once: calls are counted over all lives of the task. */
export type UserFault =
  | { readonly kind: 'throw'; readonly taskIndex: number; readonly atCall: number }
  | {
      readonly kind: 'hang';
      readonly taskIndex: number;
      readonly atCall: number;
      readonly forMs: number;
    }
  | { readonly kind: 'throw-at-start' | 'throw-in-finish'; readonly taskIndex: number };

interface ComponentDescription {
  readonly name: string;
  readonly parallelism: number;
  readonly streams: readonly StreamDescription[];
  readonly faults: readonly UserFault[];
}

export interface SpoutDescription extends ComponentDescription {
  /** Input of each task; tuples go to its streams in turn. */
  readonly tuples: number;
  readonly pace: Pace;
  /** Whether tuples have message ids, so that `ack` is called. */
  readonly withMessageIds: boolean;
  /** How its input is emitted again after a failure; with message ids at least once only. */
  readonly replay?: ReplayDescription;
}

export interface ReplayDescription {
  /** Failures of a message after which it is given up; never unless given. */
  readonly failuresMax?: number;
  /** From a failure until the message is emitted again; 0: in the next call of `nextTuple`. */
  readonly afterMs: number;
  /** Says that its input has ended as soon as it is read, while messages are pending. */
  readonly endsEarly: boolean;
}

export type GroupingDescription =
  | { readonly kind: 'shuffle' | 'all' | 'global' | 'none' | 'local-or-shuffle' }
  /** The source chooses one task (task-choice.ts), and nobody else reads the stream (D4). */
  | { readonly kind: 'direct' }
  /** Code of the workload chooses so many tasks, or all where there are fewer (task-choice.ts). */
  | { readonly kind: 'custom'; readonly copies: number }
  | { readonly kind: 'fields'; readonly fields: readonly KeyField[] };

export interface InputDescription {
  readonly component: string;
  readonly stream: string;
  readonly grouping: GroupingDescription;
}

/** When a bolt emits what descends from a tuple. */
export type BoltStyle =
  | { readonly kind: 'sync' }
  /** `execute` returns a promise that settles in the same turn, or after a timer. */
  | { readonly kind: 'async'; readonly afterMs: number }
  /** A timer emits, nobody waits for it but `finish`. */
  | { readonly kind: 'detached'; readonly afterMs: number };

/** How much of a bolt may be under way at once in each task. */
export interface BoltConcurrency {
  /** Promises of `execute` that may be pending. */
  readonly count: number;
  readonly order: 'key' | 'none';
}

export interface BoltDescription extends ComponentDescription {
  /** A BasicBolt loses the tuple that it throws at, a Bolt ends its instance. */
  readonly base: 'basic' | 'plain';
  readonly inputs: readonly InputDescription[];
  readonly style: BoltStyle;
  /** Tuples that it emits to each of its streams for each that it executes. */
  readonly fanOut: number;
  /** Simulated time that each `execute` takes. */
  readonly workMs: number;
  /** Tuples that `finish` emits to each of its streams. */
  readonly emitsInFinish: number;
  /** One call after the other unless given; for bolts of the style `async`. */
  readonly concurrency?: BoltConcurrency;
  /** How often it gets a tick; never unless given. */
  readonly tickMs?: number;
  /** How it treats its input at least once; unless given it acks what it has done. */
  readonly acking?: AckingDescription;
}

export interface AckingDescription {
  /** Whether emits of a Bolt are anchored; those of a BasicBolt always are. */
  readonly isAnchored: boolean;
  /** For a Bolt of the style `sync`: emits for several tuples at once, anchored to all of them. */
  readonly batch?: BatchDescription;
  /** A Bolt acks each tuple once more. */
  readonly acksTwice: boolean;
  readonly mishaps: readonly Mishap[];
}

/** Tuples that are held until there are so many of them, and no longer than so long. */
export interface BatchDescription {
  readonly size: number;
  readonly forMs: number;
  /** They are acked as long again after that, and not at once. */
  readonly isAckedLater?: boolean;
}

/**
 * What every so-manyth call of a task does in place of its work, so many times at most, counted
 * over all its lives: a Bolt fails the tuple or forgets to ack it, either kind throws, which ends
 * the instance of a Bolt.
 */
export interface Mishap {
  readonly kind: 'fail' | 'forget' | 'throw';
  readonly every: number;
  readonly times: number;
}
