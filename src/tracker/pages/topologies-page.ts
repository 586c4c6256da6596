import { z } from '@hono/zod-openapi';
import { isoTime } from '../../base/iso-time.ts';
import { expectedProcesses } from '../../model/expected-processes.ts';
import { packingThatRuns } from '../../model/settled-packing.ts';
import { TOPOLOGY_STATES } from '../../model/topology-state.ts';
import type { ClusterView, Snapshot } from '../state/snapshot.ts';
import type { TopologyView } from '../state/topology-view.ts';
import { noFigures, type SummaryFigures, summaryFigures } from './page-figures.ts';

/* The page with all topologies of all clusters: one question, one answer. */

const moment = z.string().nullable().openapi({ description: 'ISO 8601; null: not known' });

export const storeSchema = z.object({
  state: z.enum(['connecting', 'reachable', 'away']),
  /** Why it is away. */
  reason: z.string().nullable(),
  since: moment,
});

export const damageSchema = z.array(z.object({ node: z.string(), reason: z.string() }));

export const summarySchema = z.object({
  name: z.string(),
  cluster: z.string(),
  trackedCluster: z.string(),
  role: z.string(),
  environ: z.string(),
  id: z.string().nullable(),
  state: z.enum(TOPOLOGY_STATES),
  since: moment,
  submittedBy: z.string().nullable(),
  engineVersion: z.string().nullable(),
  containers: z.object({ up: z.number().nullable(), wanted: z.number().nullable() }),
  processes: z.object({ up: z.number().nullable(), wanted: z.number().nullable() }),
  instances: z.number().nullable(),
  /** Of all processes that run; null where executors do not report. */
  restarts: z.number().nullable(),
  /** The process that ended last. */
  lastExit: z
    .object({ process: z.string(), container: z.number(), at: z.string(), reason: z.string() })
    .nullable(),
  update: z.enum(['starting', 'retiring', 'settling']).nullable(),
  /** Stream managers that its topology master misses; null: not known. */
  missing: z.array(z.string()).nullable(),
  /** Why the topology master says nothing. */
  masterProblem: z.string().nullable(),
  damage: damageSchema,
});

export const topologiesPageSchema = z.object({
  clusters: z.array(
    z.object({
      name: z.string(),
      address: z.string(),
      store: storeSchema,
      topologies: z.array(summarySchema.extend({ figures: summaryFigures })),
    }),
  ),
});

export type TopologySummary = z.output<typeof summarySchema>;
export type TopologiesPage = z.output<typeof topologiesPageSchema>;

/** @param figures by `TopologyView.key` */
export function topologiesPageOf(
  { clusters }: Snapshot,
  figures: ReadonlyMap<string, SummaryFigures>,
): TopologiesPage {
  return {
    clusters: clusters.map((cluster) => ({
      name: cluster.name,
      address: cluster.address,
      store: storeOf(cluster),
      topologies: cluster.topologies.map((view) => ({
        ...summaryOf(view),
        figures: figures.get(view.key) ?? noFigures('nobody was asked for them'),
      })),
    })),
  };
}

export function storeOf({ store }: ClusterView): z.output<typeof storeSchema> {
  const isAway = store.at === 'away';
  return {
    state: store.at,
    reason: isAway ? store.reason : null,
    since: isAway ? isoTime(store.sinceMs) : null,
  };
}

const summaries = new WeakMap<TopologyView, TopologySummary>();

/** Worked out once for each view: there are hundreds of topologies, and few of them change. */
export function summaryOf(view: TopologyView): TopologySummary {
  let summary = summaries.get(view);
  if (summary === undefined) {
    summary = summarize(view);
    summaries.set(view, summary);
  }
  return summary;
}

function summarize(view: TopologyView): TopologySummary {
  const { physicalPlan, messages, reports } = view;
  const processes = reports.flatMap((report) => report.processes);
  const isReported = reports.length > 0;
  return {
    name: view.name,
    cluster: view.cluster,
    trackedCluster: view.trackedCluster,
    role: view.role,
    environ: view.environ,
    id: view.id ?? null,
    state: view.state,
    since: view.sinceMs === undefined ? null : isoTime(view.sinceMs),
    submittedBy: messages.execution?.submissionUser || null,
    engineVersion: messages.execution?.releaseState?.releaseVersion || null,
    ...sizesOf(view),
    instances: physicalPlan?.instances.length ?? null,
    restarts: isReported ? processes.reduce((sum, { restarts }) => sum + restarts, 0) : null,
    lastExit: lastExitOf(view),
    update: view.update?.phase ?? null,
    ...registrationOf(view),
    damage: [...view.damage],
  };
}

/** Of what is in force: an update's new processes are not missed before they are wanted. */
function sizesOf({
  packingPlan,
  physicalPlan,
  reports,
}: TopologyView): Pick<TopologySummary, 'containers' | 'processes'> {
  const isReported = reports.length > 0;
  const running = reports.flatMap(({ processes }) =>
    processes.filter(({ state }) => state === 'running').map(({ name }) => name),
  );
  const plan =
    packingPlan && physicalPlan ? packingThatRuns(packingPlan, physicalPlan) : packingPlan;
  const expected = plan && expectedProcesses(plan);
  const up = new Set(running);
  return {
    containers: {
      up: isReported ? reports.length : null,
      wanted: plan === undefined ? null : plan.containers.length + 1,
    },
    processes: {
      up: isReported && expected ? expected.filter((name) => up.has(name)).length : null,
      wanted: expected?.length ?? null,
    },
  };
}

function registrationOf({
  registration,
}: TopologyView): Pick<TopologySummary, 'missing' | 'masterProblem'> {
  if (registration === undefined) return { missing: null, masterProblem: null };
  return 'problem' in registration
    ? { missing: null, masterProblem: registration.problem }
    : { missing: [...registration.missing], masterProblem: null };
}

function lastExitOf({ reports }: TopologyView): TopologySummary['lastExit'] {
  let last: (TopologySummary['lastExit'] & { readonly atMs: number }) | undefined;
  for (const { containerId, processes } of reports) {
    for (const { name, lastExit } of processes) {
      if (lastExit === undefined || (last !== undefined && lastExit.atMs <= last.atMs)) continue;
      const { atMs, reason } = lastExit;
      last = { process: name, container: containerId, at: isoTime(atMs), reason, atMs };
    }
  }
  if (last === undefined) return null;
  const { atMs: _, ...shown } = last;
  return shown;
}
