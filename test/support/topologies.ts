import {
  componentName,
  DEFAULT_STREAM,
  epoch,
  instanceIdOf,
  streamManagerIdOf,
  streamName,
  topologyId,
  topologyName,
} from '../../src/base/ids.ts';
import type {
  BoltComponent,
  Component,
  Grouping,
  InputStream,
  LogicalTopology,
  OutputStream,
  SpoutComponent,
} from '../../src/model/logical-topology.ts';
import type { PackingPlan } from '../../src/model/packing-plan.ts';
import type { PhysicalPlan } from '../../src/model/physical-plan.ts';
import { anAddress } from './placements.ts';

/*
  Topologies for tests, valid unless a test says otherwise: `aTopology()` is a word count of three
  components, one task each.
*/

export function anOutput(fields: readonly string[], stream: string = DEFAULT_STREAM): OutputStream {
  return { stream: streamName(stream), fields };
}

export function anInput(
  component: string,
  grouping: Grouping = { kind: 'shuffle' },
  stream: string = DEFAULT_STREAM,
): InputStream {
  return { component: componentName(component), stream: streamName(stream), grouping };
}

export function aSpout(name: string, fields: Partial<SpoutComponent> = {}): SpoutComponent {
  return {
    kind: 'spout',
    name: componentName(name),
    parallelism: 1,
    language: 'typescript',
    className: 'TestSpout',
    config: new Map(),
    outputs: [anOutput(['word'])],
    ...fields,
  };
}

/** Reads the default stream of each of the named components, shuffled, unless told otherwise. */
export function aBolt(
  name: string,
  reads: readonly (string | InputStream)[],
  fields: Partial<BoltComponent> = {},
): BoltComponent {
  return {
    kind: 'bolt',
    name: componentName(name),
    parallelism: 1,
    language: 'typescript',
    className: 'TestBolt',
    config: new Map(),
    outputs: [anOutput(['word'])],
    inputs: reads.map((input) => (typeof input === 'string' ? anInput(input) : input)),
    ...fields,
  };
}

export function aTopology(
  components: readonly Component[] = [
    aSpout('sentences'),
    aBolt('split', ['sentences']),
    aBolt('count', [anInput('split', { kind: 'fields', fields: ['word'] })]),
  ],
  config: Readonly<Record<string, string>> = {},
): LogicalTopology {
  return {
    id: topologyId('words-1'),
    name: topologyName('words'),
    state: 'RUNNING',
    config: new Map(Object.entries(config)),
    components,
  };
}

/** The plan of a topology that runs as it was packed. */
export function aPhysicalPlan(topology: LogicalTopology, packing: PackingPlan): PhysicalPlan {
  return {
    epoch: epoch(1),
    topology,
    streamManagers: packing.containers.map(({ id }) => anAddress(id)),
    instances: packing.containers.flatMap(({ id, instances }) =>
      instances.map(({ component, componentIndex, task, isRetiring }) => ({
        id: instanceIdOf(id, component, task),
        streamManager: streamManagerIdOf(id),
        component,
        componentIndex,
        task,
        ...(isRetiring === true && { isRetiring }),
      })),
    ),
  };
}
