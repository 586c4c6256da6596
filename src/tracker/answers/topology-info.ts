import { z } from '@hono/zod-openapi';
import type { LinkTemplate } from '../extra-links.ts';
import type { JsonText } from '../tracker-app.ts';
import type { TopologyView } from '../state/topology-view.ts';
import {
  executionStateOf,
  executionStateSchema,
  metadataOf,
  metadataSchema,
  runtimeStateOf,
  runtimeStateSchema,
} from './execution-state.ts';
import {
  masterLocationOf,
  masterLocationSchema,
  schedulerLocationOf,
  schedulerLocationSchema,
} from './locations.ts';
import { joined, kept } from './kept.ts';
import { logicalPlanOf, logicalPlanSchema } from './logical-plan.ts';
import { packingPlanOf, packingPlanSchema } from './packing-plan.ts';
import { physicalPlanOf, physicalPlanSchema } from './physical-plan.ts';

/* Everything that the state tree says of one topology, in Heron's words. */

export const topologyInfoSchema = z.object({
  execution_state: executionStateSchema,
  id: z.string().nullable(),
  logical_plan: logicalPlanSchema,
  metadata: metadataSchema,
  name: z.string(),
  packing_plan: packingPlanSchema,
  physical_plan: physicalPlanSchema,
  runtime_state: runtimeStateSchema,
  scheduler_location: schedulerLocationSchema,
  tmanager_location: masterLocationSchema,
});

export function topologyInfoOf(view: TopologyView, links: readonly LinkTemplate[]): JsonText {
  return joined({
    execution_state: executionStateOf(view, links),
    id: view.id ?? null,
    logical_plan: logicalPlanText(view),
    metadata: metadataOf(view, links),
    name: view.name,
    packing_plan: packingPlanText(view),
    physical_plan: physicalPlanText(view),
    runtime_state: runtimeStateOf(view),
    scheduler_location: schedulerLocationOf(view),
    tmanager_location: masterLocationOf(view),
  });
}

export function logicalPlanText(view: TopologyView): JsonText {
  return kept(view, 'logicalplan', () => logicalPlanOf(view));
}

export function packingPlanText(view: TopologyView): JsonText {
  return kept(view.packingPlan ?? view, 'packingplan', () => packingPlanOf(view));
}

export function physicalPlanText(view: TopologyView): JsonText {
  const { cluster, environ, reports, messages } = view;
  // Of reports, the links that lead to their shells.
  const shells = reports.map(({ containerId, shellPort }) => `${containerId}:${shellPort ?? ''}`);
  const of = JSON.stringify([cluster, environ, ...shells]);
  return kept(messages.physicalPlan ?? view, 'physicalplan', () => physicalPlanOf(view), of);
}
