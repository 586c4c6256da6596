import { environmentError } from '../base/errors.ts';
import {
  componentName,
  type ComponentName,
  type StreamManagerId,
  taskId,
  type TaskId,
} from '../base/ids.ts';
import { StartBackPressure, StopBackPressure, type ValueOf } from '../wire/messages.ts';
import type { Membership } from './membership.ts';

type StartMessage = ValueOf<typeof StartBackPressure>;
type StopMessage = ValueOf<typeof StopBackPressure>;

/** The slow task; Heron's own stream managers do not name it. */
export interface SlowTask {
  readonly task: TaskId | undefined;
  readonly component: ComponentName | undefined;
}

/** Why a spout holds, in the words that it gets. */
export interface PressureCause {
  readonly component: ComponentName | undefined;
  readonly streamManager: StreamManagerId;
}

/** What stream managers tell each other about back pressure. */
export type PressureSignal =
  | (SlowTask & {
      readonly kind: 'start';
      /** Undefined, from a foreign one: until stop or disconnect. */
      readonly leaseMs: number | undefined;
    })
  | (SlowTask & { readonly kind: 'stop' });

/** Longer than a timer can wait: what a peer says is cut to it. */
const LEASE_MS_MAX = 2 ** 31 - 1;

/** Who speaks, and a number that tells its messages apart in logs. */
export interface PressureSender {
  readonly own: Membership;
  readonly ownId: StreamManagerId;
  readonly messageNumber: number;
}

export function startMessage(
  signal: Extract<PressureSignal, { kind: 'start' }>,
  sender: PressureSender,
): StartMessage {
  const { leaseMs } = signal;
  return StartBackPressure.create({
    ...fieldsOf(signal, sender),
    ...(leaseMs !== undefined && { leaseMs: BigInt(leaseMs) }),
  });
}

export function stopMessage(signal: SlowTask, sender: PressureSender): StopMessage {
  return StopBackPressure.create(fieldsOf(signal, sender));
}

export function startSignal(message: StartMessage): PressureSignal {
  const leaseMs = Object.hasOwn(message, 'leaseMs') ? Number(message.leaseMs) : undefined;
  if (leaseMs !== undefined && leaseMs <= 0) {
    throw environmentError('UNEXPECTED_MESSAGE', `back pressure for ${leaseMs} ms makes no sense`);
  }
  return {
    kind: 'start',
    ...slowTaskOf(message),
    leaseMs: leaseMs && Math.min(leaseMs, LEASE_MS_MAX),
  };
}

export function stopSignal(message: StopMessage): PressureSignal {
  return { kind: 'stop', ...slowTaskOf(message) };
}

function fieldsOf({ task, component }: SlowTask, { own, ownId, messageNumber }: PressureSender) {
  return {
    topologyName: own.topologyName,
    topologyId: own.topologyId,
    stmgr: ownId,
    messageId: String(messageNumber),
    ...(component !== undefined && { component }),
    ...(task !== undefined && { taskId: task }),
  };
}

function slowTaskOf(message: StartMessage | StopMessage): SlowTask {
  return {
    task: Object.hasOwn(message, 'taskId') ? taskId(message.taskId) : undefined,
    component: Object.hasOwn(message, 'component') ? componentName(message.component) : undefined,
  };
}
