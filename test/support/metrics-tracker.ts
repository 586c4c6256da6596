import type { Clock } from '../../src/base/clock.ts';
import { silentLogger } from '../../src/base/logger.ts';
import type { LogicalTopology } from '../../src/model/logical-topology.ts';
import type { StatisticsPortAddress } from './statistics-port.ts';
import { MetricFigures } from '../../src/tracker/metrics/metric-figures.ts';
import { MetricsSource } from '../../src/tracker/metrics/metrics-source.ts';
import { registerExceptions } from '../../src/tracker/routes/exceptions.ts';
import { registerMetrics } from '../../src/tracker/routes/metrics.ts';
import type { Snapshot } from '../../src/tracker/state/snapshot.ts';
import type { TopologyView } from '../../src/tracker/state/topology-view.ts';
import { TrackerApp } from '../../src/tracker/tracker-app.ts';
import { failureOf } from '../../src/tracker/tracker-error.ts';
import { packingPlanOf } from './packing-plans.ts';
import { aPhysicalPlan, aTopology } from './topologies.ts';

/** The topology of the tests: `sentences` → `split` → `count`, with two tasks of `count`. */
const CONTAINERS = { 1: ['sentences:1', 'split:2', 'count:3'], 2: ['count:4'] };

export function aView(
  fields: Partial<TopologyView> = {},
  topology: LogicalTopology = aTopology(),
): TopologyView {
  return {
    key: 'local/words',
    trackedCluster: 'local',
    name: topology.name,
    cluster: 'local',
    role: 'ada',
    environ: 'default',
    id: topology.id,
    hasNodes: true,
    state: 'RUNNING',
    sinceMs: 0,
    topology,
    packingPlan: undefined,
    physicalPlan: aPhysicalPlan(topology, packingPlanOf(CONTAINERS)),
    planIndex: undefined,
    master: undefined,
    metricsCache: undefined,
    scheduler: undefined,
    reports: [],
    completion: undefined,
    drain: undefined,
    update: undefined,
    damage: [],
    messages: { topology: undefined, execution: undefined, physicalPlan: undefined },
    ...fields,
  };
}

export function masterAt(address: StatisticsPortAddress): TopologyView['master'] {
  return { ...address, topologyName: 'words', topologyId: 'words-1' };
}

export type Parameters = Readonly<Record<string, string | readonly string[]>>;

export interface Answered {
  readonly status: number;
  readonly json: unknown;
}

/** The Tracker's paths for metrics and exceptions, over one topology. */
export class MetricsTracker {
  readonly source: MetricsSource;
  readonly figures: MetricFigures;
  readonly #app = new TrackerApp();

  constructor(clock: Clock, view: TopologyView) {
    this.source = new MetricsSource(clock);
    this.figures = new MetricFigures(this.source, clock);
    const snapshot: Snapshot = {
      version: 1,
      clusters: [
        { name: 'local', address: 'file:///', store: { at: 'reachable' }, topologies: [view] },
      ],
    };
    const snapshots = {
      now: () => snapshot,
      onChange: () => ({ close: () => {} }),
      tokenOf: () => undefined,
    };
    const parts = {
      snapshots,
      clock,
      logger: silentLogger,
      metrics: this.source,
      figures: this.figures,
      links: [],
      admit: () => {},
    };
    registerMetrics(this.#app, parts);
    registerExceptions(this.#app, parts);
    this.#app.hono.onError((error, context) => {
      const { status, message } = failureOf(error);
      return context.json(message, status);
    });
  }

  async get(path: string, query: Parameters = {}): Promise<Answered> {
    const response = await this.#ask(path, query);
    return { status: response.status, json: await response.json() };
  }

  /** The answer as it was written. */
  async text(path: string, query: Parameters = {}): Promise<string> {
    return await (await this.#ask(path, query)).text();
  }

  #ask(path: string, query: Parameters): Response | Promise<Response> {
    const parameters = new URLSearchParams({
      cluster: 'local',
      environ: 'default',
      topology: 'words',
    });
    for (const [name, values] of Object.entries(query)) {
      for (const value of [values].flat()) parameters.append(name, value);
    }
    const url = `http://127.0.0.1/topologies/${path}?${parameters.toString()}`;
    return this.#app.hono.fetch(new Request(url));
  }
}
