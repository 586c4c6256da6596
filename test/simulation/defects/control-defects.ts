import type { Files } from '../../../src/base/files.ts';
import { PlanIntake, type PlanInForce } from '../../../src/stream-manager/plan-intake.ts';
import { TopologyState } from '../../../src/wire/generated/topology_pb.js';
import {
  NewInstanceAssignment,
  NewPhysicalPlan,
  RegisterStreamManager,
  StoredPhysicalPlan,
  StreamManagerHeartbeat,
} from '../../../src/wire/messages.ts';
import {
  type PhysicalPlanMessage,
  physicalPlanFromMessage,
} from '../../../src/wire/physical-plan.ts';
import { type Defect, lying, replaced } from './defect.ts';
import {
  type LoosePacket,
  tampered,
  type TamperedConnection,
  type Tampering,
} from './tampered-network.ts';

/* What can go wrong with plans, heartbeats and commands. */

const FIRST_STREAM_MANAGER = /^stmgr-1$/;
const STREAM_MANAGERS = /^stmgr-/;
const MASTER = /^heron-tmanager$/;

/** More than any answer may take. */
const HELD_MS = 4_000;
/** Soon, and after whatever the plan has caused. */
const REPLAY_MS = 150;

export const CONTROL_DEFECTS: readonly Defect[] = [
  {
    name: 'a plan change is ignored by one peer',
    foundBy: 'control is not stuck behind data',
    seeds: [13, 24],
    interposer: () =>
      tampered(FIRST_STREAM_MANAGER, () => ({
        onReceive: fromSecondOn(NewPhysicalPlan.typeName, () => []),
      })),
  },
  {
    name: 'a stale plan is accepted',
    foundBy: 'plans only become newer',
    seeds: [13, 17],
    interposer: () => tampered(STREAM_MANAGERS, replayedPlans),
    replace: withoutEpochCheck,
  },
  {
    name: 'a master that was started again moves healthy instances',
    foundBy: 'plans only become newer',
    seeds: [1, 4],
    interposer: () => ({
      portsOf: (ports, { name }) =>
        MASTER.test(name) ? { ...ports, files: withMovedInstances(ports.files) } : ports,
    }),
  },
  {
    name: 'a paused topology goes on emitting',
    foundBy: 'commands reach their outcome',
    seeds: [42],
    interposer: () =>
      tampered(STREAM_MANAGERS, () => ({
        onSend: (packet) =>
          packet.typeName === NewInstanceAssignment.typeName ? [asRunning(packet)] : 'as it is',
      })),
  },
  {
    name: 'a heartbeat waits',
    foundBy: 'control is not stuck behind data',
    seeds: [8, 9],
    interposer: () =>
      tampered(STREAM_MANAGERS, () => ({
        onSend: (packet, connection) => {
          if (packet.typeName !== StreamManagerHeartbeat.request.typeName) return 'as it is';
          connection.after(HELD_MS, () => connection.send(packet));
          return [];
        },
      })),
  },
  {
    name: 'a plan waits for its instances',
    foundBy: 'control is not stuck behind data',
    seeds: [13, 20],
    interposer: () =>
      tampered(STREAM_MANAGERS, () => ({
        onSend: fromSecondOn(NewInstanceAssignment.typeName, (packet, connection) => {
          connection.after(HELD_MS, () => connection.send(packet));
          return [];
        }),
      })),
  },
  {
    name: 'tasks are said to have ended that have not',
    foundBy: 'end of input',
    seeds: [1, 2],
    interposer: () => tampered(STREAM_MANAGERS, earlyEnds),
  },
];

type Judge = NonNullable<Tampering['onSend']>;

/** The first packet of this type on a connection passes as it is. */
function fromSecondOn(typeName: string, judge: Judge): Judge {
  const seen = new WeakSet<TamperedConnection>();
  return (packet, connection) => {
    if (packet.typeName !== typeName) return 'as it is';
    if (seen.has(connection)) return judge(packet, connection);
    seen.add(connection);
    return 'as it is';
  };
}

/** Each plan comes again behind the one that has replaced it. */
function replayedPlans(): Tampering {
  let before: PhysicalPlanMessage | undefined;
  return {
    onReceive(packet, connection) {
      const plan = planIn(packet);
      if (plan === undefined) return 'as it is';
      const replacedPlan = before;
      before = plan;
      if (replacedPlan === undefined || packet.typeName !== NewPhysicalPlan.typeName) {
        return 'as it is';
      }
      const message = { ...NewPhysicalPlan.decode(packet.payload), newPplan: replacedPlan };
      const again = { ...packet, payload: NewPhysicalPlan.encode(message) };
      connection.after(REPLAY_MS, () => connection.receive(again));
      return 'as it is';
    },
  };
}

function planIn({ typeName, payload }: LoosePacket): PhysicalPlanMessage | undefined {
  if (typeName === NewPhysicalPlan.typeName) return NewPhysicalPlan.decode(payload).newPplan;
  if (typeName !== RegisterStreamManager.response.typeName) return undefined;
  return RegisterStreamManager.response.decode(payload).pplan;
}

/** Whatever plan comes last is in force. */
function withoutEpochCheck(): () => void {
  const forced = new WeakMap<PlanIntake, PlanInForce>();
  const restore = [
    replaced(PlanIntake.prototype, 'current', (original) => ({
      get(this: PlanIntake) {
        return forced.get(this) ?? original.get?.call(this);
      },
    })),
    replaced(PlanIntake.prototype, 'take', ({ value: take }) => ({
      value(this: PlanIntake, message: PhysicalPlanMessage): PlanInForce | undefined {
        const { current } = this;
        const taken: PlanInForce | undefined = take.call(this, message);
        const inForce = taken ?? stale(message, current);
        if (inForce !== undefined) forced.set(this, inForce);
        return inForce;
      },
    })),
  ];
  return () => {
    for (const undo of restore) undo();
  };
}

function stale(message: PhysicalPlanMessage, current: PlanInForce | undefined) {
  if (current?.message.topology === undefined || message.topology === undefined) return undefined;
  const plan = physicalPlanFromMessage(message);
  if (plan.epoch >= current.plan.epoch) return undefined;
  const topology = { ...current.message.topology, state: message.topology.state };
  return { plan, message: { ...current.message, epoch: message.epoch, topology } };
}

/** Two instances of different containers take each other's place. */
function swapStreamManagers(plan: PhysicalPlanMessage | undefined): void {
  const [first] = plan?.instances ?? [];
  const other = plan?.instances.find(({ stmgrId }) => stmgrId !== first?.stmgrId);
  if (first === undefined || other === undefined) return;
  [first.stmgrId, other.stmgrId] = [other.stmgrId, first.stmgrId];
}

function withMovedInstances(files: Files): Files {
  return lying(files, {
    async read(file) {
      const bytes = await files.read(file);
      if (!/\/pplans\/[^/]+$/.test(file)) return bytes;
      const plan = StoredPhysicalPlan.decode(bytes);
      swapStreamManagers(plan);
      return StoredPhysicalPlan.encode(plan);
    },
  });
}

function asRunning(packet: LoosePacket): LoosePacket {
  const message = NewInstanceAssignment.decode(packet.payload);
  if (message.pplan?.topology !== undefined) message.pplan.topology.state = TopologyState.RUNNING;
  return { ...packet, payload: NewInstanceAssignment.encode(message) };
}

/** From the first plan on every heartbeat says that all tasks have ended. */
function earlyEnds(): Tampering {
  let tasks: readonly number[] = [];
  return {
    onReceive(packet) {
      const plan = planIn(packet);
      if (plan !== undefined) tasks = plan.instances.map(({ info }) => info?.taskId ?? 0);
      return 'as it is';
    },
    onSend(packet) {
      if (packet.typeName !== StreamManagerHeartbeat.request.typeName) return 'as it is';
      const heartbeat = StreamManagerHeartbeat.request.decode(packet.payload);
      heartbeat.endedTaskIds = [...tasks];
      return [{ ...packet, payload: StreamManagerHeartbeat.request.encode(heartbeat) }];
    },
  };
}
