import { instanceIdOf, streamManagerIdOf } from '../base/ids.ts';
import { BYTES_PER_MB } from '../base/units.ts';
import type { InstancePlan, PackingPlan } from '../model/packing-plan.ts';
import { type CommonArguments, commonFlags } from './executor-arguments.ts';

/*
  Which processes a container consists of. Pure: packing plan, container and ports in, processes
  out. Names are Heron's, so that its tools and its users find what they know:

    container 0   heron-tmanager   metricsmgr-0   heron-metricscache
    container n   stmgr-n          metricsmgr-n   container_n_<component>_<task> ...
*/

export type ProcessRole =
  | 'instance'
  | 'stream-manager'
  | 'topology-master'
  | 'metrics-manager'
  | 'metrics-cache';

export interface WantedProcess {
  readonly name: string;
  readonly role: ProcessRole;
  /** For `entryFile`. */
  readonly entry: string;
  readonly flags: readonly string[];
  /** Undefined leaves it to Node. */
  readonly heapLimitMb: number | undefined;
}

/**
 * The ports of a container, used as Heron does:
 *
 * | port | container 0 | container n |
 * |---|---|---|
 * | server | topology master, for stream managers | stream manager, for its peers |
 * | controller | topology master, HTTP control | stream manager, for its instances |
 * | stats | topology master, HTTP statistics | unused |
 * | metricsManager | metrics manager | metrics manager |
 * | metricsPages | metrics manager, HTTP for Prometheus | metrics manager, HTTP for Prometheus |
 * | metricsCacheServer | metrics cache, for metrics managers | unused |
 * | metricsCacheStats | metrics cache, HTTP statistics | unused |
 * | shell | executor, HTTP (shell.ts); 0 when there is none | executor, HTTP |
 */
export interface ContainerPorts {
  readonly server: number;
  readonly controller: number;
  readonly stats: number;
  readonly metricsManager: number;
  readonly metricsPages: number;
  readonly metricsCacheServer: number;
  readonly metricsCacheStats: number;
  readonly shell: number;
}

export interface WantedOptions {
  /** The setting `heron.topology.metricscachemgr.mode`. */
  readonly hasMetricsCache: boolean;
}

/** No processes when the container is not in the plan. */
export function wantedProcesses(
  plan: PackingPlan,
  common: CommonArguments,
  ports: ContainerPorts,
  { hasMetricsCache }: WantedOptions,
): readonly WantedProcess[] {
  const id = common.containerId;
  if (id === 0) {
    const cache = hasMetricsCache ? [metricsCache(common, ports)] : [];
    return [metricsManager(common, ports), topologyMaster(common, ports), ...cache];
  }
  const container = plan.containers.find((candidate) => candidate.id === id);
  if (container === undefined) return [];
  const { instances } = container;
  return [
    metricsManager(common, ports),
    streamManager(common, ports, instances),
    ...instances.map((instance) => instanceProcess(common, ports, instance)),
  ];
}

function topologyMaster(common: CommonArguments, ports: ContainerPorts): WantedProcess {
  return {
    name: 'heron-tmanager',
    role: 'topology-master',
    entry: 'topology-master/main',
    flags: [
      ...commonFlags(common),
      `--server-port=${ports.server}`,
      `--controller-port=${ports.controller}`,
      `--stats-port=${ports.stats}`,
      `--metrics-manager-port=${ports.metricsManager}`,
    ],
    heapLimitMb: undefined,
  };
}

function metricsManager(common: CommonArguments, ports: ContainerPorts): WantedProcess {
  const name = `metricsmgr-${common.containerId}`;
  return {
    name,
    role: 'metrics-manager',
    entry: 'metrics-manager/main',
    flags: [
      ...commonFlags(common),
      `--id=${name}`,
      `--port=${ports.metricsManager}`,
      `--http-port=${ports.metricsPages}`,
    ],
    heapLimitMb: undefined,
  };
}

function metricsCache(common: CommonArguments, ports: ContainerPorts): WantedProcess {
  const name = 'heron-metricscache';
  return {
    name,
    role: 'metrics-cache',
    entry: 'metrics-cache/main',
    flags: [
      ...commonFlags(common),
      `--id=${name}`,
      `--server-port=${ports.metricsCacheServer}`,
      `--stats-port=${ports.metricsCacheStats}`,
      `--metrics-manager-port=${ports.metricsManager}`,
    ],
    heapLimitMb: undefined,
  };
}

function streamManager(
  common: CommonArguments,
  ports: ContainerPorts,
  instances: readonly InstancePlan[],
): WantedProcess {
  const id = streamManagerIdOf(common.containerId);
  const instanceIds = instances.map(({ component, task }) =>
    instanceIdOf(common.containerId, component, task),
  );
  return {
    name: id,
    role: 'stream-manager',
    entry: 'stream-manager/main',
    flags: [
      ...commonFlags(common),
      `--id=${id}`,
      `--instance-ids=${instanceIds.join(',')}`,
      `--data-port=${ports.server}`,
      `--local-data-port=${ports.controller}`,
      `--metrics-manager-port=${ports.metricsManager}`,
      `--shell-port=${ports.shell}`,
    ],
    heapLimitMb: undefined,
  };
}

function instanceProcess(
  common: CommonArguments,
  ports: ContainerPorts,
  { component, task, componentIndex, resource }: InstancePlan,
): WantedProcess {
  const id = instanceIdOf(common.containerId, component, task);
  return {
    name: id,
    role: 'instance',
    entry: 'instance/main',
    flags: [
      ...commonFlags(common),
      `--instance-id=${id}`,
      `--component-name=${component}`,
      `--task-id=${task}`,
      `--component-index=${componentIndex}`,
      `--stream-manager-id=${streamManagerIdOf(common.containerId)}`,
      `--stream-manager-port=${ports.controller}`,
      `--metrics-manager-port=${ports.metricsManager}`,
    ],
    heapLimitMb: heapLimitMb(resource.ramBytes),
  };
}

/**
 * What an instance needs besides its JavaScript heap: Node itself with two threads (about 70 MB),
 * the rings in shared memory (twice 2 MB) and socket buffers, rounded up.
 */
const OUTSIDE_HEAP_MB = 128;

/** Below this a heap limit does more harm than good: the instance would die in its start. */
const HEAP_LIMIT_MIN_MB = 64;

/** For an instance with so much RAM; undefined, Node's own choice, when that is too little. */
export function heapLimitMb(ramBytes: number): number | undefined {
  const limitMb = Math.floor(ramBytes / BYTES_PER_MB) - OUTSIDE_HEAP_MB;
  return limitMb < HEAP_LIMIT_MIN_MB ? undefined : limitMb;
}
