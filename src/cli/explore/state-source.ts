import { type TopologyName, topologyName } from '../../base/ids.ts';
import { knownClusters } from '../../config/cluster-settings.ts';
import type { Component, LogicalTopology } from '../../model/logical-topology.ts';
import { parallelismOf } from '../../model/packing-plan.ts';
import type { PhysicalPlan } from '../../model/physical-plan.ts';
import { paths } from '../../state-manager/paths.ts';
import type { StateManager } from '../../state-manager/state-manager.ts';
import {
  findMaster,
  type MasterPorts,
  readTaskTotals,
} from '../../topology-client/master-client.ts';
import { AdvisedError } from '../advised-error.ts';
import { type Cluster, openCluster } from '../cluster.ts';
import type { CommandContext } from '../command-context.ts';
import { isAt, type WrittenPlace } from '../place.ts';
import { readPhysicalPlan } from '../read-status.ts';
import {
  isElsewhere,
  notFound,
  parseTopologyName,
  placeOf,
  readTopologyRecord,
} from '../topology-record.ts';
import type {
  ExploredComponent,
  ExploredContainer,
  ExploredTopology,
  ExploreSource,
  InstanceNumbers,
  ListedTopology,
  LogicalPlan,
} from './explored.ts';
import { metricsOf } from './figures.ts';

/** Reads the state store of a cluster, and asks topology masters for numbers. Changes nothing. */
export class StateSource implements ExploreSource {
  readonly #context: CommandContext;
  readonly #opened = new Map<string, Cluster>();

  constructor(context: CommandContext) {
    this.#context = context;
  }

  clusters(): Promise<readonly string[]> {
    return knownClusters(this.#context.configRoot);
  }

  async topologies(place: WrittenPlace): Promise<readonly ListedTopology[]> {
    const { stateManager } = await this.#cluster(place);
    const names = new Set([
      ...(await stateManager.list(paths.topologies)),
      ...(await stateManager.list(paths.executionStates)),
    ]);
    const found = await Promise.all(
      [...names].toSorted().map(async (name) => {
        const record = await readTopologyRecord(stateManager, topologyName(name));
        return { ...placeOf(record, place, this.#context.currentUser), name };
      }),
    );
    return found.filter((topology) => isAt(topology, place));
  }

  async topology(place: WrittenPlace, written: string): Promise<ExploredTopology> {
    const name = parseTopologyName(written);
    const { stateManager } = await this.#cluster(place);
    const record = await readTopologyRecord(stateManager, name);
    const { topology } = record;
    const owner = placeOf(record, place, this.#context.currentUser);
    if (record.hasNodes && !isAt(owner, place)) throw isElsewhere(name, owner);
    if (topology !== undefined) return new StoredTopology(topology, stateManager);
    if (!record.hasNodes) throw await notFound(stateManager, name, place);
    throw new AdvisedError('TOPOLOGY_NOT_READY', `the definition of ${name} cannot be read`, {
      domain: 'environment',
      next: `'heron status' shows what there is of it`,
    });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const cluster of this.#opened.values()) await cluster[Symbol.asyncDispose]();
  }

  async #cluster({ cluster: name }: WrittenPlace): Promise<Cluster> {
    const cluster = this.#opened.get(name) ?? (await openCluster(name, this.#context));
    this.#opened.set(name, cluster);
    return cluster;
  }
}

/** `tasks`: how many there are by the plan in force; else those of the definition. */
export function exploredComponent(component: Component, tasks?: number): ExploredComponent {
  return {
    type: component.kind,
    name: component.name,
    parallelism: tasks ?? component.parallelism,
    inputs: component.kind === 'spout' ? [] : component.inputs,
    streams: component.outputs.map(({ stream }) => stream),
  };
}

class StoredTopology implements ExploredTopology {
  readonly #topology: LogicalTopology;
  readonly #stateManager: StateManager;

  constructor(topology: LogicalTopology, stateManager: StateManager) {
    this.#topology = topology;
    this.#stateManager = stateManager;
  }

  /** An update changes how many tasks there are, which the definition does not say. */
  async logicalPlan(): Promise<LogicalPlan> {
    const plan = await this.#physicalPlan();
    const tasks = parallelismOf(plan?.instances ?? []);
    const components = this.#topology.components.map((component) =>
      exploredComponent(component, tasks.get(component.name)),
    );
    return { components };
  }

  async containers(): Promise<readonly ExploredContainer[]> {
    const plan = await this.#physicalPlan();
    if (plan === undefined) throw this.#notReady('has no physical plan yet');
    const spouts = new Set(
      this.#topology.components.filter(({ kind }) => kind === 'spout').map(({ name }) => name),
    );
    return plan.streamManagers.map(({ id, host, dataPort, pid }) => {
      const instances = plan.instances.filter(({ streamManager }) => streamManager === id);
      const ofSpouts = instances.filter(({ component }) => spouts.has(component));
      return {
        id: Number(id.slice(id.lastIndexOf('-') + 1)),
        host,
        port: dataPort,
        pid,
        instances: instances.map((instance) => instance.id),
        spouts: ofSpouts.length,
        bolts: instances.length - ofSpouts.length,
      };
    });
  }

  async metrics(component: ExploredComponent): Promise<readonly InstanceNumbers[]> {
    const master = await this.#master();
    const tasks = await readTaskTotals(master, component.name, metricsOf(component));
    return [...tasks].map(([instance, numbers]) => ({ instance, numbers }));
  }

  async #master(): Promise<MasterPorts> {
    const { name, id } = this.#topology;
    const master = await findMaster(this.#stateManager, name, id);
    if (master !== undefined) return master;
    throw this.#notReady('has no topology master that could be asked');
  }

  async #physicalPlan(): Promise<PhysicalPlan | undefined> {
    const plan = await readPhysicalPlan(this.#stateManager, this.#topology);
    return plan?.topology.id === this.#topology.id ? plan : undefined;
  }

  #notReady(why: string): AdvisedError {
    const name: TopologyName = this.#topology.name;
    return new AdvisedError('TOPOLOGY_NOT_READY', `${name} ${why}`, {
      domain: 'environment',
      retryable: true,
      next: `'heron status' shows what is missing; try again in a moment`,
    });
  }
}
