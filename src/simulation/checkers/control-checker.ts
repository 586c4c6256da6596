import type { Packet } from '../../wire/frame.ts';
import {
  NewInstanceAssignment,
  NewPhysicalPlan,
  RegisterStreamManager,
  StreamManagerHeartbeat,
} from '../../wire/messages.ts';
import { TUPLE_SET_2_TYPE, TUPLE_SET_TYPE } from '../../wire/tuple-set-format.ts';
import { TUPLE_STREAM_TYPE } from '../../wire/tuple-stream-message.ts';
import type { Checker, FinishedRun, SimulationEvent } from './checker.ts';
import { type Direction, PacketTap } from './packet-tap.ts';
import { Problems } from './problems.ts';

const DATA_TYPES: ReadonlySet<string> = new Set([
  TUPLE_SET_TYPE,
  TUPLE_SET_2_TYPE,
  TUPLE_STREAM_TYPE,
]);

export interface ControlLimits {
  /** Whoever gets a request, or a plan to hand on, acts at once: latency and a busy turn. */
  readonly answersWithinMs: number;
  /** The setting `heron.streammgr.tmanager.heartbeat.interval.ms`. */
  readonly heartbeatPeriodMs: number;
  /**
   * Data that may arrive between the cause and the control packet: what the network holds of one
   * connection (256 KiB), and one batch of the sender (256 KiB, or one larger packet).
   */
  readonly dataBytesMax: number;
}

const KIB = 1024;

const LIMITS: ControlLimits = {
  answersWithinMs: 1000,
  heartbeatPeriodMs: 2000,
  dataBytesMax: 640 * KIB,
};

/** Something that has to follow on a connection. */
interface Awaited {
  readonly what: string;
  /** Where it has to come. */
  readonly direction: Direction;
  readonly sinceMs: number;
  /** Data bytes that had come that way by then. */
  readonly dataBytes: number;
}

interface Late {
  readonly awaited: Awaited;
  readonly atMs: number;
}

interface OwedPlan extends Awaited {
  readonly epoch: number;
}

/**
 * No control message is stuck behind data. Measured where bytes arrive, from the cause of a message
 * to the message itself, in time and in the bytes of data that come in between on its connection:
 *
 * S1. A request, by its response.
 * S2. A plan that reached a stream manager, by the assignments for its instances. They share their
 *     connections with the tuples.
 * S3. A heartbeat, by the next one.
 *
 * Time is excused by faults that explain a delay, data is not: however slow the two sides are,
 * control overtakes data.
 */
export class ControlChecker implements Checker {
  readonly name = 'control is not stuck behind data';
  readonly #limits: ControlLimits;
  readonly #tap = new PacketTap({
    onPacket: (packet, direction, atMs) => this.#handle(packet, direction, atMs),
    onConnectionEnd: (connection) => this.#forget(connection),
  });
  /** By direction. */
  readonly #dataBytes = new Map<string, number>();
  /** By connection and request id. */
  readonly #requests = new Map<string, Awaited>();
  /** By connection: who has the plan of which epoch, and what it is owed. */
  readonly #assigned = new Map<number, { readonly direction: Direction; readonly epoch: number }>();
  readonly #owedPlans = new Map<number, OwedPlan>();
  readonly #heartbeats = new Map<number, Awaited>();
  readonly #late: Late[] = [];
  readonly #behindData: string[] = [];

  constructor(limits: Partial<ControlLimits> = {}) {
    this.#limits = { ...LIMITS, ...limits };
  }

  observe(event: SimulationEvent): void {
    this.#tap.observe(event);
  }

  finish(run: FinishedRun): readonly string[] {
    const problems = new Problems();
    for (const problem of this.#behindData) problems.add(problem);
    for (const { awaited, atMs } of [...this.#late, ...this.#missing(run)]) {
      const { direction, what, sinceMs } = awaited;
      const { from, to } = direction;
      const wait = { processes: [from, to], fromMs: sinceMs, toMs: atMs };
      if (run.explanation.explainsDelay(wait)) continue;
      problems.add(`${what} from ${from} to ${to}, due at ${sinceMs} ms, took until ${atMs} ms`);
    }
    return problems.list();
  }

  /** What should have come by the end of the run. */
  #missing({ endedAtMs, takenDownFromMs = endedAtMs }: FinishedRun): readonly Late[] {
    const atMs = Math.min(endedAtMs, takenDownFromMs);
    return [...this.#requests.values(), ...this.#owedPlans.values()]
      .filter(({ sinceMs }) => atMs - sinceMs > this.#limits.answersWithinMs)
      .map((awaited) => ({ awaited, atMs }));
  }

  #handle(packet: Packet, direction: Direction, atMs: number): void {
    if (DATA_TYPES.has(packet.typeName)) {
      const key = keyOf(direction);
      const bytes = packet.payloadEnd - packet.payloadStart;
      this.#dataBytes.set(key, (this.#dataBytes.get(key) ?? 0) + bytes);
    } else if (packet.hasRequestId) this.#handleRequest(packet, direction, atMs);
    if (packet.typeName === NewPhysicalPlan.typeName) {
      this.#handlePlan(epochOf(NewPhysicalPlan.decode(packet.payload).newPplan), direction, atMs);
    } else if (packet.typeName === RegisterStreamManager.response.typeName) {
      const { pplan } = RegisterStreamManager.response.decode(packet.payload);
      this.#handlePlan(epochOf(pplan), direction, atMs);
    } else if (packet.typeName === NewInstanceAssignment.typeName) {
      const { pplan } = NewInstanceAssignment.decode(packet.payload);
      this.#handleAssignment(epochOf(pplan), direction, atMs);
    } else if (packet.typeName === StreamManagerHeartbeat.request.typeName) {
      this.#handleHeartbeat(direction, atMs);
    }
  }

  #handleRequest(packet: Packet, direction: Direction, atMs: number): void {
    const id = packet.bytes.toString('latin1', packet.requestIdStart, packet.requestIdStart + 32);
    const key = `${direction.connection} ${id}`;
    const request = this.#requests.get(key);
    if (request === undefined) {
      const what = `the answer to ${packet.typeName}`;
      this.#requests.set(key, this.#await(what, opposite(direction), atMs));
    } else if (request.direction.from === direction.from) {
      this.#requests.delete(key);
      this.#settle(request, atMs, this.#limits.answersWithinMs);
    }
  }

  /** The stream manager now owes it to all instances that have an older one. */
  #handlePlan(epoch: number, { to: streamManager }: Direction, atMs: number): void {
    for (const [connection, assigned] of this.#assigned) {
      if (assigned.direction.from !== streamManager || assigned.epoch >= epoch) continue;
      if (this.#owedPlans.has(connection)) continue; // The older debt is the stricter one.
      const awaited = this.#await(`plan ${epoch}`, assigned.direction, atMs);
      this.#owedPlans.set(connection, { ...awaited, epoch });
    }
  }

  #handleAssignment(epoch: number, direction: Direction, atMs: number): void {
    const { connection } = direction;
    this.#assigned.set(connection, { direction, epoch });
    const owed = this.#owedPlans.get(connection);
    if (owed === undefined || epoch < owed.epoch) return;
    this.#owedPlans.delete(connection);
    this.#settle(owed, atMs, this.#limits.answersWithinMs);
  }

  #handleHeartbeat(direction: Direction, atMs: number): void {
    const { connection } = direction;
    const before = this.#heartbeats.get(connection);
    this.#heartbeats.set(connection, this.#await('the next heartbeat', direction, atMs));
    if (before === undefined) return;
    this.#settle(before, atMs, this.#limits.heartbeatPeriodMs + this.#limits.answersWithinMs);
  }

  #await(what: string, direction: Direction, sinceMs: number): Awaited {
    return { what, direction, sinceMs, dataBytes: this.#dataBytes.get(keyOf(direction)) ?? 0 };
  }

  #settle(awaited: Awaited, atMs: number, limitMs: number): void {
    const { direction, sinceMs, what } = awaited;
    if (atMs - sinceMs > limitMs) this.#late.push({ awaited, atMs });
    const dataBytes = (this.#dataBytes.get(keyOf(direction)) ?? 0) - awaited.dataBytes;
    if (dataBytes <= this.#limits.dataBytesMax) return;
    const { from, to } = direction;
    this.#behindData.push(
      `${what} from ${from} to ${to} came at ${atMs} ms behind ${dataBytes} bytes of data`,
    );
  }

  /** What was awaited on it cannot come any more, and is not missed. */
  #forget(connection: number): void {
    for (const [key, { direction }] of this.#requests) {
      if (direction.connection === connection) this.#requests.delete(key);
    }
    this.#assigned.delete(connection);
    this.#owedPlans.delete(connection);
    this.#heartbeats.delete(connection);
  }
}

function keyOf({ connection, from }: Direction): string {
  return `${connection} ${from}`;
}

function opposite({ connection, from, to }: Direction): Direction {
  return { connection, from: to, to: from };
}

/** 0 for no plan. */
function epochOf(plan: { readonly epoch: bigint } | undefined): number {
  return plan === undefined ? 0 : Number(plan.epoch);
}
