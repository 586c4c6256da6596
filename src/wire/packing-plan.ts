import { create } from '@bufbuild/protobuf';
import { assertDefined } from '../base/assert.ts';
import { componentName, containerId, taskId } from '../base/ids.ts';
import type { ContainerPlan, InstancePlan, PackingPlan, Resource } from '../model/packing-plan.ts';
import * as proto from './generated/packing_plan_pb.js';
import { malformed, readNode, wholeNumber } from './malformed.ts';
import { StoredPackingPlan } from './messages.ts';

/* PackingPlan ⇄ heron.proto.system.PackingPlan, the node packingplans/<topology>. */

/** A packing plan as it is stored and sent. */
export type PackingPlanMessage = proto.PackingPlan;

export function encodePackingPlan(plan: PackingPlan): Uint8Array {
  return StoredPackingPlan.encode(packingPlanToMessage(plan));
}

/** @throws EngineError with code STATE_CORRUPTED. */
export function decodePackingPlan(bytes: Uint8Array): PackingPlan {
  return readNode('packing plan', () => packingPlanFromMessage(StoredPackingPlan.decode(bytes)));
}

export function packingPlanToMessage(plan: PackingPlan): PackingPlanMessage {
  return create(proto.PackingPlanSchema, {
    id: plan.id,
    containerPlans: plan.containers.map(containerToMessage),
  });
}

/** @throws EngineError with code PACKET_MALFORMED. */
export function packingPlanFromMessage(message: PackingPlanMessage): PackingPlan {
  return { id: message.id, containers: message.containerPlans.map(containerFromMessage) };
}

function containerToMessage(container: ContainerPlan): proto.ContainerPlan {
  const { scheduled } = container;
  return create(proto.ContainerPlanSchema, {
    id: container.id,
    instancePlans: container.instances.map(instanceToMessage),
    requiredResource: resourceToMessage(container.required),
    ...(scheduled && { scheduledResource: resourceToMessage(scheduled) }),
  });
}

function containerFromMessage(message: proto.ContainerPlan): ContainerPlan {
  const { id, scheduledResource } = message;
  if (id < 1) throw malformed(`a packing plan holds the container ${id}; workers start at 1`);
  return {
    id: containerId(id),
    instances: message.instancePlans.map(instanceFromMessage),
    required: resourceFromMessage(message.requiredResource),
    ...(scheduledResource && { scheduled: resourceFromMessage(scheduledResource) }),
  };
}

function instanceToMessage(instance: InstancePlan): proto.InstancePlan {
  return create(proto.InstancePlanSchema, {
    componentName: instance.component,
    taskId: instance.task,
    componentIndex: instance.componentIndex,
    resource: resourceToMessage(instance.resource),
  });
}

function instanceFromMessage(message: proto.InstancePlan): InstancePlan {
  return {
    component: componentName(message.componentName),
    task: taskId(message.taskId),
    componentIndex: message.componentIndex,
    resource: resourceFromMessage(message.resource),
  };
}

function resourceToMessage(resource: Resource): proto.Resource {
  return create(proto.ResourceSchema, {
    cpu: resource.cpuCores,
    ram: BigInt(resource.ramBytes),
    disk: BigInt(resource.diskBytes),
  });
}

function resourceFromMessage(message: proto.Resource | undefined): Resource {
  const { cpu, ram, disk } = assertDefined(message, 'decode has checked required fields');
  return {
    cpuCores: cpu,
    ramBytes: wholeNumber(ram, 'Resource.ram'),
    diskBytes: wholeNumber(disk, 'Resource.disk'),
  };
}
