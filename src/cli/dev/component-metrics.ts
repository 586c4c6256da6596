import type { Component, LogicalTopology } from '../../model/logical-topology.ts';
import { type MasterPorts, readMetrics } from '../../topology-client/master-client.ts';

/** What a component has done since the topology was started. */
export interface ComponentMetrics {
  readonly component: string;
  readonly tasks: number;
  readonly emitted: number;
  readonly executed: number;
  readonly failed: number;
  /** Of one call of `execute`, or of `nextTuple`; undefined before the first. */
  readonly latencyMs: number | undefined;
}

const NS_PER_MS = 1e6;

/** Asks the topology master; what it does not know yet counts as nothing. */
export function readComponentMetrics(
  master: MasterPorts,
  { components }: LogicalTopology,
): Promise<readonly ComponentMetrics[]> {
  return Promise.all(
    components.map(async (component) => {
      const names = metricNamesOf(component);
      const values = await readMetrics(master, component.name, Object.values(names).flat());
      return summaryOf(component, values);
    }),
  );
}

interface MetricNames {
  readonly emitted: readonly string[];
  readonly executed: readonly string[];
  readonly failed: readonly string[];
  readonly latency: readonly string[];
}

function metricNamesOf(component: Component): MetricNames {
  const emitted = component.outputs.map(({ stream }) => `__emit-count/${stream}`);
  if (component.kind === 'spout') {
    const failed = ['__fail-count/default'];
    return { emitted, executed: [], failed, latency: ['__next-tuple-latency'] };
  }
  const inputs = component.inputs.map((input) => `${input.component}/${input.stream}`);
  return {
    emitted,
    executed: inputs.map((input) => `__execute-count/${input}`),
    failed: inputs.map((input) => `__fail-count/${input}`),
    latency: inputs.map((input) => `__execute-latency/${input}`),
  };
}

/** Pure: `values` are the numbers of all tasks by the metric's name. */
export function summaryOf(
  component: Component,
  values: ReadonlyMap<string, readonly number[]>,
): ComponentMetrics {
  const names = metricNamesOf(component);
  const all = (wanted: readonly string[]): readonly number[] =>
    wanted.flatMap((name) => values.get(name) ?? []).filter((value) => !Number.isNaN(value));
  const sum = (numbers: readonly number[]): number =>
    numbers.reduce((total, value) => total + value, 0);
  const latencies = all(names.latency);
  return {
    component: component.name,
    tasks: component.parallelism,
    emitted: sum(all(names.emitted)),
    executed: sum(all(names.executed)),
    failed: sum(all(names.failed)),
    latencyMs: latencies.length === 0 ? undefined : sum(latencies) / latencies.length / NS_PER_MS,
  };
}
