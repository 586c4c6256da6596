import type { ProcessState } from '../../model/container-report.ts';
import type { ShownState } from '../../model/topology-state.ts';
import type { InstanceFigures } from '../explore/figures.ts';

/*
  What `heron top` shows at one moment. Undefined and null stand for what is not known, which is
  never shown as nothing: a figure whose source is silent is no zero.
*/

/** `GONE`: it was there when the command began. `UNKNOWN`: its records do not say. */
export type TopState = ShownState | 'GONE';

/** Rates are tuples per second. */
export interface Flow {
  readonly emitted: number | null;
  readonly executed: number | null;
  readonly acked: number | null;
  readonly failed: number | null;
  /** Means of the last one or two minutes. */
  readonly completeMs: number | null;
  readonly executeMs: number | null;
  readonly processMs: number | null;
  /** The share of its time that a task spends in `execute`: 1 is all it has. */
  readonly capacity: number | null;
  /** The share of the time for which spouts were held because of it. */
  readonly backPressure: number | null;
}

export interface TopologyRow extends Flow {
  readonly name: string;
  readonly cluster: string;
  readonly role: string | null;
  readonly environ: string | null;
  readonly state: TopState;
  readonly sinceMs: number | undefined;
  readonly containersUp: number;
  readonly containersWanted: number;
  /** Of processes, since their executors were started. */
  readonly restarts: number;
  /** Why there are no figures; undefined when there are. */
  readonly unknownBecause: string | undefined;
}

export interface ComponentRow extends Flow {
  readonly type: 'spout' | 'bolt';
  readonly component: string;
  readonly tasksUp: number;
  readonly tasks: number;
}

/** `unknown`: nobody has told of it. `unreached`: its container has lost the topology master. */
export type TaskState = ProcessState | 'unknown' | 'unreached';

export interface TaskRow extends Flow {
  readonly instance: string;
  readonly component: string;
  readonly task: number;
  readonly container: number;
  readonly host: string | undefined;
  readonly state: TaskState;
  readonly restarts: number;
}

export interface TopologyDetail {
  readonly row: TopologyRow;
  readonly components: readonly ComponentRow[];
  readonly tasks: readonly TaskRow[];
}

export interface Overview {
  readonly kind: 'overview';
  /** As it was written. */
  readonly place: string;
  readonly atMs: number;
  readonly topologies: readonly TopologyRow[];
}

export interface TopologyPage {
  readonly kind: 'topology';
  readonly place: string;
  readonly atMs: number;
  readonly topology: TopologyDetail;
}

export type TopPage = Overview | TopologyPage;

export const NO_FLOW: Flow = {
  emitted: null,
  executed: null,
  acked: null,
  failed: null,
  completeMs: null,
  executeMs: null,
  processMs: null,
  capacity: null,
  backPressure: null,
};

const MS_PER_SECOND = 1_000;

/** Of one task. `heldMs`: milliseconds per second for which spouts were held because of it. */
export function flowOf(figures: InstanceFigures, heldMs: number | undefined): Flow {
  const { emitted, executed, acked, failed, completeMs, executeMs, processMs } = figures;
  return {
    emitted,
    executed,
    acked,
    failed,
    completeMs,
    executeMs,
    processMs,
    capacity:
      executed === null || executeMs === null
        ? executed === 0
          ? 0
          : null
        : (executed * executeMs) / MS_PER_SECOND,
    backPressure: heldMs === undefined ? null : Math.min(1, heldMs / MS_PER_SECOND),
  };
}

/**
 * Of several tasks: rates add up, means count by what they are means of, and of capacity and back
 * pressure the worst counts, as one slow task is enough.
 */
export function joinedFlow(flows: readonly Flow[]): Flow {
  const sum = (key: 'emitted' | 'executed' | 'acked' | 'failed'): number | null =>
    knownOf(flows, key)?.reduce((total, value) => total + value, 0) ?? null;
  const most = (key: 'capacity' | 'backPressure'): number | null =>
    knownOf(flows, key)?.reduce((a, b) => Math.max(a, b)) ?? null;
  return {
    emitted: sum('emitted'),
    executed: sum('executed'),
    acked: sum('acked'),
    failed: sum('failed'),
    completeMs: meanOf(flows, 'completeMs', 'acked'),
    executeMs: meanOf(flows, 'executeMs', 'executed'),
    processMs: meanOf(flows, 'processMs', 'acked'),
    capacity: most('capacity'),
    backPressure: most('backPressure'),
  };
}

function knownOf(flows: readonly Flow[], key: keyof Flow): readonly number[] | undefined {
  const known = flows.map((flow) => flow[key]).filter((value) => value !== null);
  return known.length === 0 ? undefined : known;
}

function meanOf(
  flows: readonly Flow[],
  key: 'completeMs' | 'executeMs' | 'processMs',
  counted: 'acked' | 'executed',
): number | null {
  let [total, weight] = [0, 0];
  for (const flow of flows) {
    const value = flow[key];
    // What went through it may be older than the rate is: it counts a little, not nothing.
    const share = flow[counted] || 1e-9;
    if (value === null) continue;
    total += value * share;
    weight += share;
  }
  return weight === 0 ? null : total / weight;
}
