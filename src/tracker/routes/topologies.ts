import type { z } from '@hono/zod-openapi';
import {
  executionStateOf,
  executionStateSchema,
  metadataOf,
  metadataSchema,
  runtimeStateOf,
  runtimeStateSchema,
} from '../answers/execution-state.ts';
import { schedulerLocationOf, schedulerLocationSchema } from '../answers/locations.ts';
import { logicalPlanSchema } from '../answers/logical-plan.ts';
import { packingPlanSchema } from '../answers/packing-plan.ts';
import { physicalPlanSchema } from '../answers/physical-plan.ts';
import { configOf, configSchema } from '../answers/stored-config.ts';
import {
  logicalPlanText,
  packingPlanText,
  physicalPlanText,
  topologyInfoOf,
  topologyInfoSchema,
} from '../answers/topology-info.ts';
import { readRegistrations } from '../../topology-client/master-client.ts';
import { findView, oneTopology } from '../find-view.ts';
import type { TopologyView } from '../state/topology-view.ts';
import type { JsonText, TrackerApp } from '../tracker-app.ts';
import { refusal } from '../tracker-error.ts';
import type { TrackerParts } from '../tracker-parts.ts';

/* What the state tree says of one topology. What is large is written once, and kept. */

export function registerTopologies(app: TrackerApp, parts: TrackerParts): void {
  const { snapshots, links } = parts;
  const add = (
    name: string,
    summary: string,
    answer: z.ZodType,
    write: (view: TopologyView) => object | JsonText,
  ): void =>
    app.get({
      path: `/topologies/${name}`,
      summary,
      tag: 'topology',
      query: oneTopology,
      answer,
      respond: (wanted) => write(findView(snapshots.now(), wanted)),
    });
  add('info', 'Everything that is stored of it.', topologyInfoSchema, (view) =>
    topologyInfoOf(view, links),
  );
  add('config', 'Its config as it is in force.', configSchema, ({ messages }) =>
    configOf((messages.physicalPlan?.topology ?? messages.topology)?.topologyConfig),
  );
  add('packingplan', 'What each container is to hold.', packingPlanSchema, packingPlanText);
  add('physicalplan', 'Where every task runs.', physicalPlanSchema, physicalPlanText);
  add('executionstate', 'How it is.', executionStateSchema, (view) =>
    executionStateOf(view, links),
  );
  add('metadata', 'Who submitted it, and when.', metadataSchema, (view) => metadataOf(view, links));
  add('schedulerlocation', 'Its scheduler.', schedulerLocationSchema, schedulerLocationOf);
  add('logicalplan', 'Its components and streams.', logicalPlanSchema, logicalPlanText);
  registerRuntimeState(app, parts);
}

function registerRuntimeState(app: TrackerApp, { snapshots }: TrackerParts): void {
  app.get({
    path: '/topologies/runtimestate',
    summary: 'Which of its stream managers have registered, as its topology master says.',
    tag: 'topology',
    query: oneTopology,
    answer: runtimeStateSchema,
    respond: async (wanted) => {
      const view = findView(snapshots.now(), wanted);
      const { master } = view;
      if (master === undefined) throw refusal(503, `${view.name} has no topology master now`);
      const { registered, absent } = await readRegistrations(master);
      const all = [
        ...registered.map((id) => [id, true] as const),
        ...absent.map((id) => [id, false] as const),
      ];
      return runtimeStateOf(view, Object.fromEntries(all));
    },
  });
}
