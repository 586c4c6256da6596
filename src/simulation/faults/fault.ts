/*
  What may go wrong in a simulated run, as plain data: a plan is a JSON array, so that it can be
  printed, made smaller and replayed.

  F1. Times are milliseconds of simulated time since the submit began.
  F2. Every fault ends by itself: what lasts says how long, and a crashed process is started again
      by whoever supervises it.
  F3. Processes are named by role and number, not by their names, so that a plan still means
      something for another workload: `stream-manager#4` is the fifth of those that live, counted
      round and round (targets.ts). `container#1` is everything in container 1, its executor too.
*/

export const PROCESS_ROLES = [
  'scheduler',
  'executor',
  'topology-master',
  'metrics-manager',
  'metrics-cache',
  'stream-manager',
  'instance',
] as const;

export type ProcessRole = (typeof PROCESS_ROLES)[number];

/** One process, or all of one container. */
export type Target = `${ProcessRole | 'container'}#${number}`;

/** The two ends of links; all links from one of the first to one of the second are meant. */
export type Ends = readonly [readonly Target[], readonly Target[]];

export type Fault =
  /** SIGKILL to all of these at the same moment. */
  | { readonly atMs: number; readonly kind: 'crash'; readonly processes: readonly Target[] }
  /** SIGKILL to the same process each time it has lived for `afterMs`, at most `times` times. */
  | {
      readonly atMs: number;
      readonly kind: 'restart-storm';
      readonly process: Target;
      readonly times: number;
      readonly afterMs: number;
      readonly forMs: number;
    }
  | {
      readonly atMs: number;
      readonly kind: 'pause';
      readonly process: Target;
      readonly forMs: number;
    }
  /** All processes stand still at once, as when a machine sleeps. */
  | { readonly atMs: number; readonly kind: 'suspend'; readonly forMs: number }
  | {
      readonly atMs: number;
      readonly kind: 'slow-link';
      readonly between: Ends;
      readonly extraMs: number;
      readonly forMs: number;
    }
  /** The connections break at once; new ones can be made. */
  | { readonly atMs: number; readonly kind: 'drop-connection'; readonly between: Ends }
  /** Bytes vanish and nobody is told until the end of the fault, when the connections break. */
  | {
      readonly atMs: number;
      readonly kind: 'half-open';
      readonly between: Ends;
      readonly forMs: number;
    }
  /**
   * Bytes vanish and no connection can be made; afterwards it can, but those that were there stay
   * dead, and nobody is ever told: whoever has one has to find out. Between stream managers and
   * instances only, whose links have beats.
   */
  | {
      readonly atMs: number;
      readonly kind: 'black-hole';
      readonly between: Ends;
      readonly forMs: number;
    }
  /** Nothing passes, and no connection can be made; one way: only from the first to the second. */
  | {
      readonly atMs: number;
      readonly kind: 'partition';
      readonly between: Ends;
      readonly oneWay: boolean;
      readonly forMs: number;
    }
  | {
      readonly atMs: number;
      readonly kind: 'slow-disk';
      readonly extraMs: number;
      readonly forMs: number;
    }
  | { readonly atMs: number; readonly kind: 'full-disk'; readonly forMs: number }
  /** The state tree's files fail, or answer only when it is over. */
  | {
      readonly atMs: number;
      readonly kind: 'store-outage';
      readonly how: 'failing' | 'hanging';
      readonly forMs: number;
    }
  | { readonly atMs: number; readonly kind: 'clock-step'; readonly byMs: number }
  /**
   * A second topology master is started while the first one lives; where it is set, the location
   * node of the first is lost so much later, which gives the second its chance.
   */
  | {
      readonly atMs: number;
      readonly kind: 'duplicate-master';
      readonly nodeLostAfterMs?: number;
    }
  /** What a person asks for; after a `deactivate` the runner activates at the end of the plan. */
  | {
      readonly atMs: number;
      readonly kind: 'command';
      readonly command: 'activate' | 'deactivate' | 'kill';
    }
  /** All containers when none is named. */
  | {
      readonly atMs: number;
      readonly kind: 'command';
      readonly command: 'restart';
      readonly container?: number;
    }
  /** Another number of tasks for a component, counted round and round: spouts, then bolts. */
  | {
      readonly atMs: number;
      readonly kind: 'command';
      readonly command: 'update';
      readonly component: number;
      readonly parallelism: number;
    }
  /** Another number of containers. */
  | {
      readonly atMs: number;
      readonly kind: 'command';
      readonly command: 'resize';
      readonly containers: number;
    }
  /** Another value of a setting that user code reads (workload-task.ts). */
  | {
      readonly atMs: number;
      readonly kind: 'command';
      readonly command: 'configure';
      readonly value: number;
    };

export type FaultKind = Fault['kind'];

export type FaultCommand = Extract<Fault, { readonly kind: 'command' }>;

/** Those that change the topology while it runs, and that nobody waits for. */
export type LiveCommand = Extract<
  FaultCommand,
  { readonly command: 'update' | 'resize' | 'configure' }
>;

export function isLiveCommand(fault: Fault): fault is LiveCommand {
  if (fault.kind !== 'command') return false;
  return ['update', 'resize', 'configure'].includes(fault.command);
}

export type FaultPlan = readonly Fault[];

/** How long it lasts; 0 for what happens in one moment. */
export function lengthOf(fault: Fault): number {
  if ('forMs' in fault) return fault.forMs;
  return fault.kind === 'duplicate-master' ? (fault.nodeLostAfterMs ?? 0) : 0;
}

/** The moment from which on nothing of the fault is still going on. */
export function endOf(fault: Fault): number {
  return fault.atMs + lengthOf(fault);
}

/** The end of the last fault; 0 for a plan without any. */
export function endOfPlan(plan: FaultPlan): number {
  return plan.reduce((endMs, fault) => Math.max(endMs, endOf(fault)), 0);
}
