import type { Clock } from '../../base/clock.ts';
import type { Component } from '../../model/logical-topology.ts';
import type { Settings } from '../../model/settings.ts';
import type { AckFold } from '../../wire/ack-fold.ts';
import { StreamHeaders } from '../../wire/stream-header.ts';
import type { InstanceIdentity } from '../instance-identity.ts';
import type { ToGateway } from '../thread-channel.ts';
import type { RoomWait } from './room-wait.ts';
import type { TaskCounters } from './task-counters.ts';
import type { TaskPorts } from './task-ports.ts';
import type { TaskTracer } from './trace/task-tracer.ts';
import { TupleOutput } from './tuple-output.ts';

/** Of the task, as it was started. */
export interface OutputSurroundings {
  readonly identity: InstanceIdentity;
  readonly ports: TaskPorts;
  readonly roomWait: RoomWait;
  readonly clock: Clock;
  readonly send: (message: ToGateway) => void;
}

export interface OutputParts {
  readonly settings: Settings;
  readonly counters: TaskCounters;
  /** Undefined where no traces are sampled. */
  readonly tracer: TaskTracer | undefined;
  /** Those of a bolt under at least once. */
  readonly acks: AckFold | undefined;
}

/** What a component emits into. */
export function componentOutput(
  { name, outputs }: Component,
  { identity, ports, roomWait, clock, send }: OutputSurroundings,
  { settings, counters, tracer, acks }: OutputParts,
): TupleOutput {
  const headers = new StreamHeaders();
  return new TupleOutput({
    ring: ports.dataOut,
    task: identity.task,
    headers: outputs.map(({ stream }) => headers.of(name, stream)),
    tupleBytesMax: settings.get('heron.instance.set.data.tuple.size.bytes'),
    roomWait,
    clock,
    sendLargeSet: (bytes) => send({ kind: 'large-set', bytes }),
    acks,
    newWriter: tracer?.newWriter,
    queueFull: counters.outQueueFull,
  });
}
