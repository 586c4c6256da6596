import { containerId, streamManagerIdOf, type TaskId, taskId } from '../../base/ids.ts';
import type { PackingPlan } from '../../model/packing-plan.ts';
import type { Packet } from '../../wire/frame.ts';
import { StreamHeaders } from '../../wire/stream-header.ts';
import { TUPLE_SET_2_TYPE, TUPLE_SET_TYPE } from '../../wire/tuple-set-format.ts';
import { TupleSetReader } from '../../wire/tuple-set-reader.ts';
import { TUPLE_STREAM_TYPE, TupleStreamMessageReader } from '../../wire/tuple-stream-message.ts';
import type { Checker, FinishedRun, SimulationEvent } from './checker.ts';
import { CreditAccount, type CreditWay } from './credit-account.ts';
import { type Direction, PacketTap } from './packet-tap.ts';
import { taskOfInstance } from './places.ts';
import { Problems } from './problems.ts';

/** From the consumption that a stream manager hears of to the grant that its peer gets. */
const GRANTED_WITHIN_MS = 1000;

/** The end of a connection is seen by looking, a little after the two sides have acted on it. */
const BREAK_SEEN_WITHIN_MS = 1000;

/** A set that an instance has got and not consumed, and the stream manager that is owed for it. */
interface Unconsumed {
  bytes: number;
  readonly sender: string;
}

interface Excess {
  readonly way: CreditWay;
  readonly excessBytes: number;
  readonly atMs: number;
}

interface OverdueDebt {
  readonly way: CreditWay;
  readonly sinceMs: number;
  readonly atMs: number;
}

/**
 * Credit comes back, and is not stuck behind data. Follows every byte that came from another stream
 * manager: from the instance that gets it, over the consumption that the instance reports, to the
 * grant that the sender gets. Knows the packets only, nothing of the engine's own books.
 *
 * C1. What was consumed is granted within a bound, unless the link broke or a fault explains it.
 * C2. No more is granted than was consumed. Not checked once a connection broke: what was under
 *     way on it is granted without having been consumed.
 */
export class CreditChecker implements Checker {
  readonly name = 'credit comes back';
  readonly #tap = new PacketTap({
    onPacket: (packet, direction, atMs) => this.#handle(packet, direction, atMs),
    onConnectionEnd: (connection, atMs) => this.#end(connection, atMs),
  });
  readonly #homes = new Map<TaskId, string>();
  readonly #unconsumed = new Map<TaskId, Unconsumed[]>();
  /** By `from to task`. */
  readonly #accounts = new Map<string, CreditAccount>();
  /** By connection: its two ends. */
  readonly #ends = new Map<number, Direction>();
  readonly #overdue: OverdueDebt[] = [];
  readonly #set = new TupleSetReader(new StreamHeaders());
  readonly #message = new TupleStreamMessageReader();
  readonly #withinMs: number;
  readonly #excesses: Excess[] = [];
  /** When the first connection ended that may have carried data. */
  #firstBreakMs = Number.POSITIVE_INFINITY;

  constructor(packing: PackingPlan, { withinMs = GRANTED_WITHIN_MS } = {}) {
    this.#withinMs = withinMs;
    this.#notePlaces(packing);
  }

  observe(event: SimulationEvent): void {
    this.#tap.observe(event);
    if (event.kind === 'packing') this.#notePlaces(event.plan);
  }

  finish(run: FinishedRun): readonly string[] {
    const endMs = Math.min(run.endedAtMs, run.takenDownFromMs ?? run.endedAtMs);
    const problems = new Problems();
    for (const { way, excessBytes, atMs } of this.#excesses) {
      if (atMs >= this.#firstBreakMs - BREAK_SEEN_WITHIN_MS) continue;
      const { from, to, task } = way;
      problems.add(`${from} granted ${to} ${excessBytes} bytes too many for task ${task}`);
    }
    const unpaid = [...this.#accounts.values()].flatMap((account) =>
      this.#overdueOf(account, endMs),
    );
    for (const { way, sinceMs, atMs } of [...this.#overdue, ...unpaid]) {
      const { from, to, task } = way;
      const wait = { processes: [from, to], fromMs: sinceMs, toMs: atMs };
      if (run.explanation.explainsDelay(wait)) continue;
      problems.add(
        `${from} owed ${to} credit for task ${task} from ${sinceMs} ms, still at ${atMs} ms`,
      );
    }
    return problems.list();
  }

  /** A task never moves. */
  #notePlaces({ containers }: PackingPlan): void {
    for (const { id, instances } of containers) {
      for (const { task } of instances) this.#homes.set(task, streamManagerIdOf(containerId(id)));
    }
  }

  #handle(packet: Packet, direction: Direction, atMs: number): void {
    const { typeName, bytes, payloadStart, payloadEnd } = packet;
    this.#ends.set(direction.connection, direction);
    if (typeName === TUPLE_SET_2_TYPE) {
      this.#set.open(bytes, payloadStart, payloadEnd);
      this.#handleArrival(direction.to, payloadEnd - payloadStart);
    } else if (typeName === TUPLE_SET_TYPE) {
      this.#set.open(bytes, payloadStart, payloadEnd);
      const { sourceTask, consumedBytes } = this.#set;
      if (consumedBytes > 0) this.#handleConsumed(taskId(sourceTask), consumedBytes, atMs);
    } else if (typeName === TUPLE_STREAM_TYPE) {
      this.#message.open(bytes, payloadStart, payloadEnd);
      this.#handleStreamMessage(direction, atMs);
    }
  }

  /** A set has come to an instance; markers and credit cost nothing. */
  #handleArrival(instance: string, setBytes: number): void {
    if (this.#set.stream === undefined) return;
    const task = taskOfInstance(instance);
    const sender = this.#homes.get(taskId(this.#set.sourceTask));
    if (task === undefined || sender === undefined) return;
    const queue = this.#unconsumed.get(task) ?? [];
    queue.push({ bytes: setBytes, sender });
    this.#unconsumed.set(task, queue);
  }

  #handleConsumed(task: TaskId, bytes: number, atMs: number): void {
    const home = this.#homes.get(task);
    const queue = this.#unconsumed.get(task) ?? [];
    let left = bytes;
    for (let head = queue[0]; head !== undefined && left > 0; head = queue[0]) {
      const taken = Math.min(head.bytes, left);
      left -= taken;
      head.bytes -= taken;
      if (head.bytes === 0) queue.shift();
      if (home === undefined || head.sender === home) continue;
      this.#account({ from: home, to: head.sender, task }).consumed(taken, atMs);
    }
  }

  #handleStreamMessage({ from, to }: Direction, atMs: number): void {
    const { destinationTask, grantedBytes, setStart, setEnd, tupleCount } = this.#message;
    const task = taskId(destinationTask);
    if (tupleCount > 0) this.#account({ from: to, to: from, task }).arrived(setEnd - setStart);
    if (grantedBytes === 0) return;
    const way = { from, to, task };
    const account = this.#account(way);
    this.#overdue.push(...this.#overdueOf(account, atMs));
    const excessBytes = account.granted(grantedBytes, atMs);
    if (excessBytes > 0) this.#excesses.push({ way, excessBytes, atMs });
  }

  #account(way: CreditWay): CreditAccount {
    const key = `${way.from} ${way.to} ${way.task}`;
    let account = this.#accounts.get(key);
    if (account === undefined) {
      account = new CreditAccount(way);
      this.#accounts.set(key, account);
    }
    return account;
  }

  /** At most one. */
  #overdueOf(account: CreditAccount, atMs: number): readonly OverdueDebt[] {
    const { way, sinceMs } = account;
    return account.isOverdue(atMs, this.#withinMs) ? [{ way, sinceMs, atMs }] : [];
  }

  /** Both sides of a broken way start anew: what was under way on it is owed to nobody. */
  #end(connection: number, atMs: number): void {
    const direction = this.#ends.get(connection);
    this.#ends.delete(connection);
    if (direction === undefined) return;
    const ends = [direction.from, direction.to];
    this.#firstBreakMs = Math.min(this.#firstBreakMs, atMs);
    for (const account of this.#accounts.values()) {
      if (!ends.includes(account.way.from) || !ends.includes(account.way.to)) continue;
      this.#overdue.push(...this.#overdueOf(account, atMs));
      account.linkBroke();
    }
    for (const end of ends) {
      const task = taskOfInstance(end);
      if (task !== undefined) this.#unconsumed.delete(task);
    }
  }
}
