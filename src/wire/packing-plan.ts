import { create, isFieldSet } from '@bufbuild/protobuf';
import { assertDefined } from '../base/assert.ts';
import { componentName, containerId, epoch, taskId } from '../base/ids.ts';
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
    ...(plan.epoch !== undefined && { epoch: BigInt(plan.epoch) }),
    ...(plan.lastTask !== undefined && { lastTaskId: plan.lastTask }),
    ...(plan.updatedAtMs !== undefined && { updatedAtMs: BigInt(plan.updatedAtMs) }),
    ...(plan.adoptedEpoch !== undefined && { adoptedEpoch: BigInt(plan.adoptedEpoch) }),
  });
}

/** @throws EngineError with code PACKET_MALFORMED. */
export function packingPlanFromMessage(message: PackingPlanMessage): PackingPlan {
  const has = (name: 'epoch' | 'lastTaskId' | 'updatedAtMs' | 'adoptedEpoch'): boolean =>
    isFieldSet(message, proto.PackingPlanSchema.field[name]);
  return {
    id: message.id,
    containers: message.containerPlans.map(containerFromMessage),
    ...(has('epoch') && { epoch: epoch(wholeNumber(message.epoch, 'PackingPlan.epoch')) }),
    ...(has('lastTaskId') && { lastTask: taskId(message.lastTaskId) }),
    ...(has('updatedAtMs') && {
      updatedAtMs: wholeNumber(message.updatedAtMs, 'PackingPlan.updated_at_ms'),
    }),
    ...(has('adoptedEpoch') && {
      adoptedEpoch: epoch(wholeNumber(message.adoptedEpoch, 'PackingPlan.adopted_epoch')),
    }),
  };
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
    ...(instance.isRetiring === true && { retiring: true }),
  });
}

function instanceFromMessage(message: proto.InstancePlan): InstancePlan {
  return {
    component: componentName(message.componentName),
    task: taskId(message.taskId),
    componentIndex: message.componentIndex,
    resource: resourceFromMessage(message.resource),
    ...(message.retiring && { isRetiring: true }),
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
