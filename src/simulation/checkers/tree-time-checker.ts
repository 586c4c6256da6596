import type { TaskId } from '../../base/ids.ts';
import { Settings } from '../../model/settings.ts';
import { AckSetReader } from '../../wire/ack-set-reader.ts';
import { decodeFailDetail } from '../../wire/fail-detail.ts';
import type { Packet } from '../../wire/frame.ts';
import { StreamHeaders } from '../../wire/stream-header.ts';
import { TUPLE_SET_2_TYPE, TUPLE_SET_TYPE } from '../../wire/tuple-set-format.ts';
import { TupleSetReader } from '../../wire/tuple-set-reader.ts';
import type { WorkloadDescription } from '../workload/workload-description.ts';
import type { Checker, FinishedRun, PressureEvent, SimulationEvent } from './checker.ts';
import { HoldWatch } from './hold-watch.ts';
import { type Direction, PacketTap } from './packet-tap.ts';
import { taskOfInstance } from './places.ts';
import { Problems } from './problems.ts';

/** From the expiry of a tree to the arrival of its fail, and from a hold to that of its notice. */
const DELIVERED_WITHIN_MS = 500;

/** A tree that has come to a stream manager. */
interface Tree {
  readonly task: TaskId;
  readonly key: string;
  readonly connection: number;
  readonly sinceMs: number;
}

interface Late {
  readonly tree: Tree;
  readonly atMs: number;
  readonly direction: Direction;
}

/**
 * Trees have their time: measured on the connection between a spout and its stream manager, from
 * the arrival of a tuple with a root to that of its ack or fail.
 *
 * T1. A `time-out` is never sooner than the setting says, whatever happens.
 * T2. However a tree ends, it ends after at most 1.1 times the setting and a second, by a clock
 *     that stands still while its spout is held (stream-manager/tree-ledger.ts). Faults that delay
 *     one of the two excuse more.
 * T3. A stream manager keeps no tree that is over: never more than have come and not ended. Not
 *     checked once a connection of one of its spouts has ended, of which each side hears by itself.
 */
export class TreeTimeChecker implements Checker {
  readonly name = 'time-outs keep their time';
  readonly #timeoutMs: number | undefined;
  readonly #holds = new HoldWatch();
  readonly #tap = new PacketTap({
    onPacket: (packet, direction, atMs) => this.#handle(packet, direction, atMs),
    onConnectionEnd: (connection, atMs) => this.#end(connection, atMs),
  });
  readonly #set = new TupleSetReader(new StreamHeaders());
  readonly #acks = new AckSetReader();
  /** By connection and key. */
  readonly #trees = new Map<string, Tree>();
  readonly #directions = new Map<number, Direction>();
  readonly #late: Late[] = [];
  readonly #wrong: string[] = [];
  /** Stream managers that have lost the connection of a spout. */
  readonly #broken = new Set<string>();

  constructor({ config }: WorkloadDescription) {
    const settings = new Settings(new Map(Object.entries(config)));
    this.#timeoutMs = settings.get('topology.enable.message.timeouts')
      ? settings.get('topology.message.timeout.secs') * 1000
      : undefined;
  }

  observe(event: SimulationEvent): void {
    this.#tap.observe(event);
    if (event.kind === 'pressure') this.#count(event);
  }

  finish(run: FinishedRun): readonly string[] {
    const problems = new Problems();
    for (const problem of this.#wrong) problems.add(problem);
    const endMs = Math.min(run.endedAtMs, run.takenDownFromMs ?? run.endedAtMs);
    for (const tree of this.#trees.values()) this.#judge(tree, endMs);
    for (const { tree, atMs, direction } of this.#late) {
      const { from, to } = direction;
      const processes = [from, to];
      if (run.explanation.explainsDelay({ processes, fromMs: tree.sinceMs, toMs: atMs })) continue;
      const age = `from ${tree.sinceMs} ms to ${atMs} ms`;
      problems.add(`a tree of task ${tree.task} was kept ${age}`);
    }
    return problems.list();
  }

  #count({ process, liveTrees, atMs }: PressureEvent): void {
    if (this.#broken.has(process)) return;
    let open = 0;
    for (const { connection } of this.#trees.values()) {
      if (this.#directions.get(connection)?.to === process) open += 1;
    }
    if (liveTrees <= open) return;
    this.#broken.add(process); // Once is enough.
    this.#wrong.push(`${process} kept ${liveTrees} trees at ${atMs} ms, ${open} were not over`);
  }

  #handle(packet: Packet, direction: Direction, atMs: number): void {
    this.#holds.onPacket(packet, direction, atMs);
    const { typeName, bytes, payloadStart, payloadEnd } = packet;
    if (typeName === TUPLE_SET_TYPE) {
      this.#set.open(bytes, payloadStart, payloadEnd);
      if (this.#set.stream !== undefined) this.#noteTrees(direction, atMs);
    } else if (typeName === TUPLE_SET_2_TYPE) {
      this.#set.open(bytes, payloadStart, payloadEnd);
      if (this.#set.controlEnd > 0) this.#noteEnds(bytes, direction, atMs);
    }
  }

  #noteTrees(direction: Direction, atMs: number): void {
    const task = taskOfInstance(direction.from);
    if (task === undefined) return;
    const { connection } = direction;
    this.#directions.set(connection, direction);
    const { roots } = this.#set;
    while (this.#set.next()) {
      // A bolt's tuples have the roots of others.
      if (roots.count === 0 || roots.task(0) !== task) continue;
      const key = `${connection} ${roots.keyHigh(0)} ${roots.keyLow(0)}`;
      this.#trees.set(key, { task, key, connection, sinceMs: atMs });
    }
  }

  #noteEnds(bytes: Uint8Array, { connection }: Direction, atMs: number): void {
    const acks = this.#acks;
    acks.open(bytes, this.#set.controlStart, this.#set.controlEnd);
    while (acks.next()) {
      for (let index = 0; index < acks.roots.count; index += 1) {
        const key = `${connection} ${acks.roots.keyHigh(index)} ${acks.roots.keyLow(index)}`;
        const tree = this.#trees.get(key);
        if (tree === undefined) continue;
        if (acks.kind === 'fail') this.#checkEarly(tree, bytes, atMs);
        this.#judge(tree, atMs);
        this.#trees.delete(key);
      }
    }
  }

  #checkEarly({ task, sinceMs }: Tree, bytes: Uint8Array, atMs: number): void {
    const { detailStart, detailEnd } = this.#acks;
    if (decodeFailDetail(bytes, detailStart, detailEnd).kind !== 'time-out') return;
    if (this.#timeoutMs === undefined || atMs - sinceMs >= this.#timeoutMs) return;
    const after = `after ${atMs - sinceMs} ms, at ${atMs} ms`;
    this.#wrong.push(`a tree of task ${task} timed out ${after}`);
  }

  #judge(tree: Tree, atMs: number): void {
    if (this.#timeoutMs === undefined) return;
    const limitMs = this.#timeoutMs * 1.1 + 1000 + DELIVERED_WITHIN_MS;
    const ageMs = atMs - tree.sinceMs - this.#holds.heldMs(tree.task, tree.sinceMs, atMs);
    const direction = this.#directions.get(tree.connection);
    if (ageMs > limitMs && direction !== undefined) this.#late.push({ tree, atMs, direction });
  }

  /** Whatever was under way is failed by the spout itself. */
  #end(connection: number, atMs: number): void {
    this.#holds.onConnectionEnd(connection, atMs);
    for (const [key, tree] of this.#trees) {
      if (tree.connection === connection) this.#trees.delete(key);
    }
    const direction = this.#directions.get(connection);
    if (direction !== undefined) this.#broken.add(direction.to);
    this.#directions.delete(connection);
  }
}
