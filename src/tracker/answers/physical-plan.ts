import { z } from '@hono/zod-openapi';
import { isFieldSet } from '@bufbuild/protobuf';
import { assertDefined } from '../../base/assert.ts';
import { containerOfStreamManager, streamManagerId } from '../../base/ids.ts';
import { StMgrSchema } from '../../wire/generated/physical_plan_pb.js';
import type { PhysicalPlanMessage } from '../../wire/physical-plan.ts';
import type { TopologyView } from '../state/topology-view.ts';
import { containerLinksOf } from './container-links.ts';
import { configOf, configSchema } from './stored-config.ts';

/* Where every task runs, in Heron's words. What a plan does not say is null, never an error. */

const linkText = z.string().nullable().openapi({ description: 'null: nobody serves it' });

export const physicalPlanSchema = z.object({
  instances: z.record(
    z.string(),
    z.object({ id: z.string(), name: z.string(), stmgr_id: z.string(), logfile: linkText }),
  ),
  instance_groups: z.record(z.string(), z.array(z.string())),
  stmgrs: z.record(
    z.string(),
    z.object({
      id: z.string(),
      host: z.string(),
      port: z.number(),
      shell_port: z.number().nullable(),
      cwd: z.string().nullable(),
      pid: z.number().nullable(),
      joburl: linkText,
      logfiles: linkText,
      instance_ids: z.array(z.string()),
    }),
  ),
  spouts: z.record(z.string(), z.array(z.string())),
  bolts: z.record(z.string(), z.array(z.string())),
  config: configSchema,
  components: z.record(z.string(), z.object({ config: configSchema })),
});

export type PhysicalPlanAnswer = z.output<typeof physicalPlanSchema>;

const NO_PLAN: PhysicalPlanAnswer = {
  instances: {},
  instance_groups: {},
  stmgrs: {},
  spouts: {},
  bolts: {},
  config: {},
  components: {},
};

export function physicalPlanOf(view: TopologyView): PhysicalPlanAnswer {
  const { physicalPlan: message } = view.messages;
  if (message === undefined) return NO_PLAN;
  const { topology } = message;
  const components = [...(topology?.spouts ?? []), ...(topology?.bolts ?? [])].map(
    ({ comp }) => comp,
  );
  const byManager = Map.groupBy(message.instances, ({ stmgrId }) => stmgrId);
  const byComponent = Map.groupBy(message.instances, ({ info }) => info?.componentName ?? '');
  const idsOf = (members: readonly InstanceMessage[] | undefined): string[] =>
    (members ?? []).map(({ instanceId }) => instanceId);
  const tasks = (kind: 'spouts' | 'bolts') =>
    (topology?.[kind] ?? []).map(
      ({ comp }) => [comp?.name ?? '', idsOf(byComponent.get(comp?.name ?? ''))] as const,
    );
  const groups = Array.from(
    byManager,
    ([manager, members]) => [groupOf(manager), idsOf(members)] as const,
  );
  return {
    instances: instancesOf(view, message),
    instance_groups: Object.fromEntries(groups),
    stmgrs: Object.fromEntries(
      message.stmgrs.map((manager) => [
        manager.id,
        { ...managerOf(view, manager), instance_ids: idsOf(byManager.get(manager.id)) },
      ]),
    ),
    spouts: Object.fromEntries(tasks('spouts')),
    bolts: Object.fromEntries(tasks('bolts')),
    config: configOf(topology?.topologyConfig),
    components: Object.fromEntries(
      components.map((comp) => [comp?.name ?? '', { config: configOf(comp?.config) }]),
    ),
  };
}

type InstanceMessage = PhysicalPlanMessage['instances'][number];
type ManagerMessage = PhysicalPlanMessage['stmgrs'][number];

function instancesOf(
  view: TopologyView,
  { instances, stmgrs }: PhysicalPlanMessage,
): PhysicalPlanAnswer['instances'] {
  const links = new Map(stmgrs.map((manager) => [manager.id, linksOf(view, manager)]));
  return Object.fromEntries(
    instances.map(({ instanceId, stmgrId, info }) => [
      instanceId,
      {
        id: instanceId,
        name: assertDefined(info, 'decode has checked required fields').componentName,
        stmgr_id: stmgrId,
        logfile: links.get(stmgrId)?.logOf(instanceId) ?? null,
      },
    ]),
  );
}

function managerOf(view: TopologyView, manager: ManagerMessage) {
  const has = (name: 'shellPort' | 'cwd' | 'pid'): boolean =>
    isFieldSet(manager, StMgrSchema.field[name]);
  const links = linksOf(view, manager);
  return {
    id: manager.id,
    host: manager.hostName,
    port: manager.dataPort,
    // A stream manager without a shell says 0.
    shell_port: has('shellPort') && manager.shellPort > 0 ? manager.shellPort : null,
    cwd: has('cwd') ? manager.cwd : null,
    pid: has('pid') ? manager.pid : null,
    joburl: links?.folder ?? null,
    logfiles: links?.logFiles ?? null,
  };
}

function linksOf(view: TopologyView, { id, hostName, shellPort }: ManagerMessage) {
  const container = containerOfStreamManager(streamManagerId(id));
  return containerLinksOf(view, { container, host: hostName, shellPort });
}

/** Heron's `container_<n>`. */
function groupOf(manager: string): string {
  const container = containerOfStreamManager(streamManagerId(manager));
  return container === undefined ? manager : `container_${container}`;
}
