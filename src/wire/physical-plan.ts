import { clone, create, isFieldSet, type MessageInitShape } from '@bufbuild/protobuf';
import { assertDefined } from '../base/assert.ts';
import {
  componentName,
  type Epoch,
  epoch,
  instanceId,
  streamManagerId,
  taskId,
} from '../base/ids.ts';
import type {
  FirstPlan,
  InstanceAddress,
  MasterNotes,
  PhysicalPlan,
  StreamManagerAddress,
} from '../model/physical-plan.ts';
import * as proto from './generated/physical_plan_pb.js';
import { readNode, wholeNumber } from './malformed.ts';
import { StoredPhysicalPlan } from './messages.ts';
import { type TopologyMessage, topologyFromMessage, topologyToMessage } from './topology.ts';

/*
  PhysicalPlan ⇄ heron.proto.system.PhysicalPlan, the node pplans/<topology> and part of many
  messages. Whoever makes a plan from a stored topology hands that topology's message in, so that
  foreign components keep what the model does not hold (T2 in topology.ts).
*/

/** A physical plan as it is stored and sent. */
export type PhysicalPlanMessage = proto.PhysicalPlan;

export function encodePhysicalPlan(plan: PhysicalPlan): Uint8Array {
  return StoredPhysicalPlan.encode(physicalPlanToMessage(plan, topologyToMessage(plan.topology)));
}

/** @throws EngineError with code STATE_CORRUPTED. */
export function decodePhysicalPlan(bytes: Uint8Array): PhysicalPlan {
  return readNode('physical plan', () => physicalPlanFromMessage(StoredPhysicalPlan.decode(bytes)));
}

/** `topology` goes into the plan as it is; `notes` are the topology master's alone to read. */
export function physicalPlanToMessage(
  plan: Omit<PhysicalPlan, 'topology'>,
  topology: TopologyMessage,
  notes?: MasterNotes,
): PhysicalPlanMessage {
  return create(proto.PhysicalPlanSchema, {
    topology,
    stmgrs: plan.streamManagers.map(streamManagerToMessage),
    instances: plan.instances.map(instanceToMessage),
    epoch: BigInt(plan.epoch),
    ...(notes && notesToMessage(notes)),
  });
}

function notesToMessage(notes: MasterNotes): MessageInitShape<typeof proto.PhysicalPlanSchema> {
  const { masterEpoch, earlyEnds, firstPlan, retiringSinceMs, pastIncidents } = notes;
  return {
    masterEpoch: BigInt(masterEpoch),
    earlyEnds: earlyEnds.map(({ process, atMs }) => ({ process, atMs: wholeMs(atMs) })),
    pastIncidents: pastIncidents.map(({ atMs, ...rest }) => ({ ...rest, atMs: wholeMs(atMs) })),
    ...(firstPlan !== undefined && { firstPlan: firstPlanToMessage(firstPlan) }),
    ...(retiringSinceMs !== undefined && { retiringSinceMs: wholeMs(retiringSinceMs) }),
  };
}

function firstPlanToMessage({ wallMs, machine }: FirstPlan) {
  return {
    wallMs: wholeMs(wallMs),
    bootId: machine.bootId,
    sinceBootMs: wholeMs(machine.ms),
  };
}

function wholeMs(ms: number): bigint {
  return BigInt(Math.floor(ms));
}

/** What masters that did not know of a note have not noted is absent, empty or 0. */
export function notesFromMessage(message: PhysicalPlanMessage): MasterNotes {
  const { firstPlan } = message;
  const hasRetiring = isFieldSet(message, proto.PhysicalPlanSchema.field.retiringSinceMs);
  return {
    masterEpoch: epoch(Number(message.masterEpoch)),
    earlyEnds: message.earlyEnds.map(({ process, atMs }) => ({ process, atMs: Number(atMs) })),
    pastIncidents: message.pastIncidents.map(({ process, atMs, container, reason }) => ({
      process,
      atMs: Number(atMs),
      container,
      reason,
    })),
    ...(firstPlan !== undefined && { firstPlan: firstPlanFromMessage(firstPlan) }),
    ...(hasRetiring && { retiringSinceMs: Number(message.retiringSinceMs) }),
  };
}

function firstPlanFromMessage({ wallMs, bootId, sinceBootMs }: proto.MachineMoment): FirstPlan {
  return { wallMs: Number(wallMs), machine: { bootId, ms: Number(sinceBootMs) } };
}

/** The same plan, written by another incarnation of the topology master. */
export function withMasterEpoch(
  message: PhysicalPlanMessage,
  masterEpoch: Epoch,
): PhysicalPlanMessage {
  const copy = clone(proto.PhysicalPlanSchema, message);
  copy.masterEpoch = BigInt(masterEpoch);
  return copy;
}

/** @throws EngineError with code PACKET_MALFORMED. */
export function physicalPlanFromMessage(message: PhysicalPlanMessage): PhysicalPlan {
  const topology = assertDefined(message.topology, 'decode has checked required fields');
  return {
    epoch: epoch(wholeNumber(message.epoch, 'PhysicalPlan.epoch')),
    topology: topologyFromMessage(topology),
    streamManagers: message.stmgrs.map(streamManagerFromMessage),
    instances: message.instances.map(instanceFromMessage),
  };
}

export function streamManagerToMessage(address: StreamManagerAddress): proto.StMgr {
  return create(proto.StMgrSchema, {
    id: address.id,
    hostName: address.host,
    dataPort: address.dataPort,
    localEndpoint: '/unused',
    cwd: address.workingDirectory,
    pid: address.pid,
    shellPort: address.shellPort,
    localDataPort: address.localDataPort,
  });
}

/** What a foreign stream manager left out reads as 0 or the empty text. */
export function streamManagerFromMessage(message: proto.StMgr): StreamManagerAddress {
  return {
    id: streamManagerId(message.id),
    host: message.hostName,
    dataPort: message.dataPort,
    localDataPort: message.localDataPort,
    workingDirectory: message.cwd,
    pid: message.pid,
    shellPort: message.shellPort,
  };
}

export function instanceToMessage(address: InstanceAddress): proto.Instance {
  return create(proto.InstanceSchema, {
    instanceId: address.id,
    stmgrId: address.streamManager,
    info: {
      taskId: address.task,
      componentIndex: address.componentIndex,
      componentName: address.component,
      ...(address.isRetiring === true && { retiring: true }),
      ...(address.joiningEpoch !== undefined && { joiningEpoch: BigInt(address.joiningEpoch) }),
      ...(address.isWithoutInput === true && { withoutInput: true }),
    },
  });
}

export function instanceFromMessage(message: proto.Instance): InstanceAddress {
  const info = assertDefined(message.info, 'decode has checked required fields');
  const isJoining = isFieldSet(info, proto.InstanceInfoSchema.field.joiningEpoch);
  return {
    id: instanceId(message.instanceId),
    streamManager: streamManagerId(message.stmgrId),
    task: taskId(info.taskId),
    componentIndex: info.componentIndex,
    component: componentName(info.componentName),
    ...(info.retiring && { isRetiring: true }),
    ...(isJoining && { joiningEpoch: epoch(Number(info.joiningEpoch)) }),
    ...(info.withoutInput && { isWithoutInput: true }),
  };
}
