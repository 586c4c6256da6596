import { z } from '@hono/zod-openapi';
import type { LinkTemplate } from '../extra-links.ts';
import { filledLink } from '../extra-links.ts';
import type { TopologyView } from '../state/topology-view.ts';

/* Who submitted a topology and when, and which of its nodes there are. */

export const linkSchema = z.object({ name: z.string(), formatter: z.string(), url: z.string() });

const metadataMembers = {
  cluster: z.string(),
  environ: z.string(),
  role: z.string(),
  jobname: z.string(),
  submission_time: z.number().openapi({ description: 'seconds since the epoch; 0: not known' }),
  submission_user: z.string(),
  release_username: z.string(),
  release_tag: z.string(),
  release_version: z.string(),
  instances: z.number().openapi({ description: 'in the physical plan' }),
  extra_links: z.array(linkSchema),
};

export const metadataSchema = z.object(metadataMembers);

const nodeMembers = {
  has_physical_plan: z.boolean(),
  has_packing_plan: z.boolean(),
  has_tmanager_location: z.boolean(),
  has_scheduler_location: z.boolean(),
};

export const executionStateSchema = z.object({
  ...metadataMembers,
  ...nodeMembers,
  status: z.enum(['Running', 'Paused', 'Killed', 'Unknown']),
});

export const runtimeStateSchema = z.object({
  ...nodeMembers,
  stmgrs: z.record(z.string(), z.object({ is_registered: z.boolean() })),
});

export type Metadata = z.output<typeof metadataSchema>;
export type ExecutionState = z.output<typeof executionStateSchema>;
export type RuntimeState = z.output<typeof runtimeStateSchema>;

const STATUS = { RUNNING: 'Running', PAUSED: 'Paused', KILLED: 'Killed' } as const;

export function metadataOf(view: TopologyView, links: readonly LinkTemplate[]): Metadata {
  const { cluster, environ, role, name, messages, physicalPlan } = view;
  const { execution } = messages;
  const user = execution?.submissionUser ?? '';
  return {
    cluster,
    environ,
    role,
    jobname: name,
    submission_time: Number(execution?.submissionTime ?? 0),
    submission_user: user,
    release_username: execution?.releaseState?.releaseUsername ?? '',
    release_tag: execution?.releaseState?.releaseTag ?? '',
    release_version: execution?.releaseState?.releaseVersion ?? '',
    instances: physicalPlan?.instances.length ?? 0,
    extra_links: links.map((link) =>
      filledLink(link, { cluster, environ, topology: name, role, user }),
    ),
  };
}

export function executionStateOf(
  view: TopologyView,
  links: readonly LinkTemplate[],
): ExecutionState {
  const state = view.physicalPlan?.topology.state;
  return {
    ...metadataOf(view, links),
    ...nodesOf(view),
    status: state === undefined ? 'Unknown' : STATUS[state],
  };
}

/** @param registered undefined while nobody was asked for it. */
export function runtimeStateOf(
  view: TopologyView,
  registered: Readonly<Record<string, boolean>> = {},
): RuntimeState {
  const stmgrs = Object.fromEntries(
    Object.entries(registered).map(([id, isRegistered]) => [id, { is_registered: isRegistered }]),
  );
  return { ...nodesOf(view), stmgrs };
}

function nodesOf({ physicalPlan, packingPlan, master, scheduler }: TopologyView) {
  return {
    has_physical_plan: physicalPlan !== undefined,
    has_packing_plan: packingPlan !== undefined,
    has_tmanager_location: master !== undefined,
    has_scheduler_location: scheduler !== undefined,
  };
}
