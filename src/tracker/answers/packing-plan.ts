import { z } from '@hono/zod-openapi';
import type { ContainerPlan, InstancePlan, Resource } from '../../model/packing-plan.ts';
import type { TopologyView } from '../state/topology-view.ts';

/* What each container is to hold, and what it asks for. */

const resourceSchema = z.object({
  cpu: z.number().openapi({ description: 'cores' }),
  ram: z.number().openapi({ description: 'bytes' }),
  disk: z.number().openapi({ description: 'bytes' }),
});

const instanceSchema = z.object({
  component_name: z.string(),
  task_id: z.number(),
  component_index: z.number(),
  instance_resources: resourceSchema,
});

export const packingPlanSchema = z.object({
  id: z.string(),
  container_plans: z.array(
    z.object({
      id: z.number(),
      instances: z.array(instanceSchema),
      required_resources: resourceSchema,
      scheduled_resources: resourceSchema.openapi({ description: 'all 0: not known' }),
    }),
  ),
});

export type PackingPlanAnswer = z.output<typeof packingPlanSchema>;

const UNKNOWN: Resource = { cpuCores: 0, ramBytes: 0, diskBytes: 0 };

export function packingPlanOf({ packingPlan }: TopologyView): PackingPlanAnswer {
  return {
    id: packingPlan?.id ?? '',
    container_plans: packingPlan?.containers.map(containerOf) ?? [],
  };
}

function containerOf({ id, instances, required, scheduled }: ContainerPlan) {
  return {
    id,
    instances: instances.map(instanceOf),
    required_resources: resourceOf(required),
    scheduled_resources: resourceOf(scheduled ?? UNKNOWN),
  };
}

function instanceOf({ component, task, componentIndex, resource }: InstancePlan) {
  return {
    component_name: component,
    task_id: task,
    component_index: componentIndex,
    instance_resources: resourceOf(resource),
  };
}

function resourceOf({ cpuCores, ramBytes, diskBytes }: Resource) {
  return { cpu: cpuCores, ram: ramBytes, disk: diskBytes };
}
