import { z } from '@hono/zod-openapi';
import { isoTime } from '../../base/iso-time.ts';
import { containerOfStreamManager } from '../../base/ids.ts';
import {
  type ContainerReport,
  PROCESS_STATES,
  type ProcessReport,
} from '../../model/container-report.ts';
import { graphProblems } from '../../model/validate-graph.ts';
import {
  masterLocationOf,
  masterLocationSchema,
  schedulerLocationOf,
  schedulerLocationSchema,
} from '../answers/locations.ts';
import { packingPlanText } from '../answers/topology-info.ts';
import type { JsonText } from '../tracker-app.ts';
import { stagesOf } from '../answers/stages.ts';
import { joined, kept, listed } from '../answers/kept.ts';
import { packingPlanSchema } from '../answers/packing-plan.ts';
import type { ClusterView } from '../state/snapshot.ts';
import type { TopologyView } from '../state/topology-view.ts';
import { type ConfigEntry, configEntriesOf, configEntrySchema } from './config-entries.ts';
import { topologyFigures } from '../metrics/figures-schema.ts';
import { storeOf, storeSchema, summaryOf, summarySchema } from './topologies-page.ts';

/* The page of one topology: everything that the console shows of it, in one answer. */

const moment = z.string().nullable().openapi({ description: 'ISO 8601; null: not known' });

const componentSchema = z.object({
  name: z.string(),
  kind: z.enum(['spout', 'bolt']),
  parallelism: z.number(),
  language: z.string(),
  className: z.string(),
  /** From 1; null for what is on a cycle or behind one. */
  stage: z.number().nullable(),
  outputs: z.array(z.object({ stream: z.string(), fields: z.array(z.string()) })),
  inputs: z.array(
    z.object({
      component: z.string(),
      stream: z.string(),
      grouping: z.string(),
      /** What tuples are grouped by; empty for other groupings. */
      fields: z.array(z.string()),
    }),
  ),
});

const exitSchema = z.object({
  code: z.number().nullable(),
  signal: z.string().nullable(),
  at: z.string(),
  reason: z.string(),
  lastLines: z.array(z.string()),
});

const processSchema = z.object({
  name: z.string(),
  pid: z.number().nullable(),
  state: z.enum(PROCESS_STATES),
  restarts: z.number(),
  startedAt: z.string(),
  readyAt: moment,
  lastExit: exitSchema.nullable(),
});

const containerSchema = z.object({
  id: z.number(),
  host: z.string(),
  pid: z.number(),
  startedAt: z.string(),
  hasShell: z.boolean(),
  problem: z.string().nullable(),
  processes: z.array(processSchema),
});

const taskSchema = z.object({
  id: z.string(),
  task: z.number(),
  component: z.string(),
  index: z.number(),
  container: z.number().nullable(),
  isRetiring: z.boolean(),
});

const incidentSchema = z.object({
  at: z.string(),
  container: z.number(),
  process: z.string(),
  reason: z.string(),
});

/** What the state tree says; `store` and `figures` come on top. */
const storedPartSchema = z.object({
  summary: summarySchema,
  scheduler: schedulerLocationSchema,
  master: masterLocationSchema,
  metricsCache: z
    .object({ host: z.string(), serverPort: z.number(), statsPort: z.number() })
    .nullable(),
  logicalPlan: z.object({
    stages: z.number().nullable(),
    components: z.array(componentSchema),
    /** Why tuples may not come through. */
    problems: z.array(z.string()),
  }),
  packingPlan: packingPlanSchema.nullable(),
  physicalPlan: z
    .object({
      epoch: z.number(),
      streamManagers: z.array(
        z.object({
          id: z.string(),
          container: z.number().nullable(),
          host: z.string(),
          pid: z.number(),
        }),
      ),
      tasks: z.array(taskSchema),
    })
    .nullable(),
  containers: z.array(containerSchema),
  update: z
    .object({
      phase: z.enum(['starting', 'retiring', 'settling']),
      since: moment,
      changes: z.array(
        z.object({ component: z.string().nullable(), from: z.number(), to: z.number() }),
      ),
      missing: z.array(z.string()),
      retiring: z.array(z.string()),
    })
    .nullable(),
  drain: z.object({ deadline: z.string() }).nullable(),
  completion: z
    .object({
      at: z.string(),
      result: z.enum(['completed', 'completed-with-losses']),
      incidents: z.array(incidentSchema),
      recovered: z.array(incidentSchema),
    })
    .nullable(),
  config: z.array(configEntrySchema),
});

export const topologyPageSchema = storedPartSchema.extend({
  store: storeSchema,
  figures: topologyFigures,
});

type StoredPart = z.output<typeof storedPartSchema>;

/** The page as text: with thousands of tasks it is megabytes, of which little is new each time. */
export function topologyPageText(
  view: TopologyView,
  cluster: ClusterView,
  figures: z.output<typeof topologyFigures>,
): JsonText {
  const { packingPlan, physicalPlan, topology } = view;
  const plan = kept(physicalPlan ?? view, 'page plan', () => physicalPlanOf(view));
  return joined({
    ...smallPartOf(view),
    logicalPlan: kept(topology ?? view, 'page topology', () => logicalPlanOf(view)),
    packingPlan: packingPlan === undefined ? null : packingPlanText(view),
    physicalPlan: plan,
    containers: listed(
      view.reports.map((report) => kept(report, 'page', () => containerOf(report))),
    ),
    config: kept(topology ?? view, 'page config', () => configOf(view)),
    store: storeOf(cluster),
    figures,
  });
}

type SmallPart = Omit<
  StoredPart,
  'logicalPlan' | 'packingPlan' | 'physicalPlan' | 'containers' | 'config'
>;

function smallPartOf(view: TopologyView): SmallPart {
  const { metricsCache, drain, completion } = view;
  return {
    summary: summaryOf(view),
    scheduler: schedulerLocationOf(view),
    master: masterLocationOf(view),
    metricsCache: metricsCache === undefined ? null : addressOf(metricsCache),
    update: updateOf(view),
    drain: drain === undefined ? null : { deadline: isoTime(drain.deadlineMs) },
    completion:
      completion === undefined
        ? null
        : {
            at: isoTime(completion.completedAtMs),
            result: completion.result,
            incidents: completion.incidents.map(incidentOf),
            recovered: completion.recovered.map(incidentOf),
          },
  };
}

function addressOf({ host, serverPort, statsPort }: NonNullable<TopologyView['metricsCache']>) {
  return { host, serverPort, statsPort };
}

function logicalPlanOf({ topology }: TopologyView): StoredPart['logicalPlan'] {
  const components = topology?.components ?? [];
  const stages = stagesOf(components);
  return {
    stages: stages.size < components.length ? null : Math.max(0, ...stages.values()),
    components: components.map((component) => ({
      name: component.name,
      kind: component.kind,
      parallelism: component.parallelism,
      language: component.language,
      className: component.className,
      stage: stages.get(component.name) ?? null,
      outputs: component.outputs.map(({ stream, fields }) => ({ stream, fields: [...fields] })),
      inputs:
        component.kind === 'spout'
          ? []
          : component.inputs.map(({ component: from, stream, grouping }) => ({
              component: from,
              stream,
              grouping: grouping.kind,
              fields: grouping.kind === 'fields' ? [...grouping.fields] : [],
            })),
    })),
    problems: topology === undefined ? [] : [...graphProblems(components)],
  };
}

function physicalPlanOf({ physicalPlan }: TopologyView): StoredPart['physicalPlan'] {
  if (physicalPlan === undefined) return null;
  const { epoch, streamManagers, instances } = physicalPlan;
  return {
    epoch,
    streamManagers: streamManagers.map(({ id, host, pid }) => ({
      id,
      container: containerOfStreamManager(id) ?? null,
      host,
      pid,
    })),
    tasks: instances.map(({ id, task, component, componentIndex, streamManager, isRetiring }) => ({
      id,
      task,
      component,
      index: componentIndex,
      container: containerOfStreamManager(streamManager) ?? null,
      isRetiring: isRetiring === true,
    })),
  };
}

function containerOf(report: ContainerReport): StoredPart['containers'][number] {
  const { containerId, host, pid, startedAtMs, shellPort, problem, processes } = report;
  return {
    id: containerId,
    host,
    pid,
    startedAt: isoTime(startedAtMs),
    hasShell: shellPort !== undefined,
    problem: problem ?? null,
    processes: processes.map(processOf),
  };
}

function processOf(process: ProcessReport): z.output<typeof processSchema> {
  const { name, pid, state, restarts, startedAtMs, readyAtMs, lastExit } = process;
  return {
    name,
    pid,
    state,
    restarts,
    startedAt: isoTime(startedAtMs),
    readyAt: readyAtMs === undefined ? null : isoTime(readyAtMs),
    lastExit:
      lastExit === undefined
        ? null
        : {
            code: lastExit.code,
            signal: lastExit.signal,
            at: isoTime(lastExit.atMs),
            reason: lastExit.reason,
            lastLines: [...lastExit.lastLines],
          },
  };
}

function updateOf({ update, packingPlan }: TopologyView): StoredPart['update'] {
  if (update === undefined) return null;
  const { phase, changes, missing, retiring } = update;
  const sinceMs = packingPlan?.updatedAtMs;
  return {
    phase,
    since: sinceMs === undefined ? null : isoTime(sinceMs),
    changes: changes.map(({ component, from, to }) => ({ component: component ?? null, from, to })),
    missing: [...missing],
    retiring: [...retiring],
  };
}

function incidentOf({
  atMs,
  container,
  process,
  reason,
}: {
  readonly atMs: number;
  readonly container: number;
  readonly process: string;
  readonly reason: string;
}) {
  return { at: isoTime(atMs), container, process, reason };
}

function configOf({ topology }: TopologyView): ConfigEntry[] {
  if (topology === undefined) return [];
  return [
    ...configEntriesOf(topology.config, null),
    ...topology.components.flatMap(({ name, config }) => configEntriesOf(config, name)),
  ];
}
