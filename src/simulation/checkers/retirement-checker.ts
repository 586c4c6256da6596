import type { TaskId } from '../../base/ids.ts';
import { taskId } from '../../base/ids.ts';
import type { PhysicalPlan } from '../../model/physical-plan.ts';
import type { Packet } from '../../wire/frame.ts';
import { StreamHeaders } from '../../wire/stream-header.ts';
import { NewInstanceAssignment, RegisterInstance } from '../../wire/messages.ts';
import type { PhysicalPlanMessage } from '../../wire/physical-plan.ts';
import { TUPLE_SET_2_TYPE, TUPLE_SET_TYPE } from '../../wire/tuple-set-format.ts';
import { TupleSetReader } from '../../wire/tuple-set-reader.ts';
import { TUPLE_STREAM_TYPE, TupleStreamMessageReader } from '../../wire/tuple-stream-message.ts';
import type { Checker, FinishedRun, PlanEvent, SimulationEvent } from './checker.ts';
import { isCutShort } from './loss-causes.ts';
import { type Direction, PacketTap } from './packet-tap.ts';
import { Places, taskOfInstance } from './places.ts';
import { Problems } from './problems.ts';

/** A tuple that should not have come. */
interface Sight {
  readonly task: TaskId;
  readonly what: string;
  readonly direction: Direction;
  readonly atMs: number;
}

/**
 * Tuples go to the tasks of the plan.
 *
 * R1. Once somebody works by a plan without it, no tuple of it or for it arrives anywhere: all that
 *     it was given and all that it has sent was consumed before. Not checked where the task or its
 *     stream manager was lost, or its time was over.
 * R2. An instance gets no tuple before a plan that has its task, on the same connection.
 */
export class RetirementChecker implements Checker {
  readonly name = 'tuples go to tasks of the plan';
  readonly #tap = new PacketTap({
    onPacket: (packet, direction, atMs) => this.#handle(packet, direction, atMs),
    onConnectionEnd: (connection) => void this.#assigned.delete(connection),
  });
  readonly #set = new TupleSetReader(new StreamHeaders());
  readonly #message = new TupleStreamMessageReader();
  readonly #seen = new WeakSet<PhysicalPlan>();
  #known: ReadonlySet<TaskId> = new Set();
  #newestEpoch = 0;
  /** In a plan before the newest one, and not in that. */
  readonly #gone = new Set<TaskId>();
  readonly #sights: Sight[] = [];
  /** Connections of instances that have got a plan with their task. */
  readonly #assigned = new Set<number>();
  readonly #early: string[] = [];

  observe(event: SimulationEvent): void {
    if (event.kind === 'plan') this.#notePlan(event);
    this.#tap.observe(event);
  }

  finish(run: FinishedRun): readonly string[] {
    const problems = new Problems();
    for (const problem of this.#early) problems.add(problem);
    const places = new Places(run.packing);
    for (const { task, what, direction, atMs } of this.#sights) {
      const { instance, streamManager } = places.of(task);
      const isLost = run.ends.some(
        (end) => [instance, streamManager].includes(end.process) && end.atMs < atMs,
      );
      if (isLost || isCutShort(task, run)) continue;
      const { from, to } = direction;
      problems.add(`a tuple ${what} task ${task} came from ${from} to ${to} at ${atMs} ms`);
    }
    return problems.list();
  }

  #notePlan({ plan }: PlanEvent): void {
    if (this.#seen.has(plan) || plan.epoch < this.#newestEpoch) return;
    this.#seen.add(plan);
    this.#newestEpoch = plan.epoch;
    const tasks = new Set(plan.instances.map(({ task }) => task));
    for (const task of this.#known) if (!tasks.has(task)) this.#gone.add(task);
    this.#known = tasks;
  }

  #handle(packet: Packet, direction: Direction, atMs: number): void {
    const { typeName, bytes, payloadStart, payloadEnd } = packet;
    if (typeName === NewInstanceAssignment.typeName) {
      this.#noteAssignment(NewInstanceAssignment.decode(packet.payload).pplan, direction);
    } else if (typeName === RegisterInstance.response.typeName) {
      this.#noteAssignment(RegisterInstance.response.decode(packet.payload).pplan, direction);
    }
    if (typeName === TUPLE_SET_2_TYPE) this.#checkAssigned(packet, direction, atMs);
    if (this.#gone.size === 0) return;
    if (typeName === TUPLE_STREAM_TYPE) {
      this.#message.open(bytes, payloadStart, payloadEnd);
      const { tupleCount, destinationTask, setStart, setEnd } = this.#message;
      if (tupleCount === 0) return;
      this.#set.open(bytes, setStart, setEnd);
      this.#judge(taskId(destinationTask), 'for', direction, atMs);
      this.#judge(taskId(this.#set.sourceTask), 'of', direction, atMs);
    } else if (typeName === TUPLE_SET_2_TYPE || typeName === TUPLE_SET_TYPE) {
      this.#set.open(bytes, payloadStart, payloadEnd);
      if (this.#set.stream === undefined) return;
      const task = taskOfInstance(direction.to);
      if (task !== undefined) this.#judge(task, 'for', direction, atMs);
      this.#judge(taskId(this.#set.sourceTask), 'of', direction, atMs);
    }
  }

  /** With a registration, or later. */
  #noteAssignment(pplan: PhysicalPlanMessage | undefined, { connection, to }: Direction): void {
    const task = taskOfInstance(to);
    if (pplan?.instances.some(({ info }) => info?.taskId === task) === true) {
      this.#assigned.add(connection);
    }
  }

  /** R2 */
  #checkAssigned(packet: Packet, { connection, from, to }: Direction, atMs: number): void {
    if (this.#assigned.has(connection)) return;
    this.#set.open(packet.bytes, packet.payloadStart, packet.payloadEnd);
    if (this.#set.stream === undefined) return;
    this.#early.push(`${to} got a tuple from ${from} at ${atMs} ms, and had no plan`);
  }

  #judge(task: TaskId, what: string, direction: Direction, atMs: number): void {
    if (this.#gone.has(task)) this.#sights.push({ task, what, direction, atMs });
  }
}
