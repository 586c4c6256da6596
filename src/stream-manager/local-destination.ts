import type { TaskId } from '../base/ids.ts';
import type { PacketConnection } from '../net/packet-connection.ts';
import { copyOf } from '../wire/frame.ts';
import { TUPLE_SET_2_TYPE } from '../wire/tuple-set-format.ts';
import { ArrivalLedger, type CreditOwner } from './credits.ts';
import { sendDataPacket } from './data-packet.ts';
import type { BatchPool } from './batch-pool.ts';
import type { OutgoingSet } from './outgoing-set.ts';
import type { SetSink } from './outbox.ts';
import type { InstanceTraffic } from './traffic-metrics.ts';

/** A set that came from another stream manager while the instance was away. */
interface Arrival {
  readonly sender: CreditOwner;
  readonly set: Uint8Array;
  readonly tupleCount: number;
}

/**
 * One task of this container as the destination of sets, from here and from other stream managers.
 * It outlives the connections of its instance.
 *
 * D1. Sets leave for the instance in the order in which they came from each sender.
 * D2. While the instance is away, sets from other stream managers wait here; they are bounded by
 *     the windows of their senders. Sets from here wait in the task's outbox.
 * D3. A set counts as consumed when the task says so. A foreign instance says nothing: there it is
 *     when the operating system has taken the set.
 */
export class LocalDestination implements SetSink {
  readonly task: TaskId;
  readonly #ledger: ArrivalLedger;
  readonly #ownSender: CreditOwner;
  readonly #pool: BatchPool;
  readonly #traffic: InstanceTraffic;
  /** That of an instance that has registered, and that of one that has the plan. */
  #registered: PacketConnection | undefined;
  #connection: PacketConnection | undefined;
  #reportsConsumption = false;
  #arrivals: Arrival[] = [];

  /** `ownSender` gets the credit for sets that come from this stream manager. */
  constructor(task: TaskId, ownSender: CreditOwner, pool: BatchPool, traffic: InstanceTraffic) {
    this.task = task;
    this.#pool = pool;
    this.#ledger = new ArrivalLedger(task);
    this.#ownSender = ownSender;
    this.#traffic = traffic;
  }

  /** Given to the instance and not consumed. */
  get unconsumedBytes(): number {
    return this.#ledger.unconsumedBytes;
  }

  /** Came while the instance was away. */
  get waitingBytes(): number {
    return this.#arrivals.reduce((bytes, { set }) => bytes + set.length, 0);
  }

  /**
   * Its instance has registered: it hears of its trees. One that has connected again waits for acks
   * and fails, whether this stream manager has been opened by now or not.
   */
  register(connection: PacketConnection): void {
    this.#registered = connection;
  }

  connect(
    connection: PacketConnection,
    { reportsConsumption }: { reportsConsumption: boolean },
  ): void {
    this.#connection = connection;
    this.#reportsConsumption = reportsConsumption;
    const arrivals = this.#arrivals;
    this.#arrivals = [];
    for (const { sender, set, tupleCount } of arrivals) {
      this.deliver(sender, set, 0, set.length, tupleCount);
    }
  }

  /**
   * What the instance had not consumed is lost, counted, and no longer held against its senders.
   */
  disconnect(): void {
    this.#registered = undefined;
    this.#connection = undefined;
    this.#traffic.tuplesToInstancesLost.add(this.#ledger.reset());
  }

  /** The task has left the plan: all that is left for it is lost, as with its instance. */
  close(): void {
    this.disconnect();
    const arrivals = this.#arrivals;
    this.#arrivals = [];
    for (const { sender, set, tupleCount } of arrivals) {
      this.#traffic.tuplesToInstancesLost.add(tupleCount);
      if (tupleCount > 0) sender.grant(this.task, set.length, set.length);
    }
  }

  /** From the task's outbox, which sends only while the instance is connected. */
  send(set: OutgoingSet): void {
    const payload = set.bytes.subarray(set.start, set.end);
    this.#give(this.#ownSender, payload, set.tupleCount, set);
  }

  /** From another stream manager. Copies the set: the bytes are those of a received packet. */
  deliver(
    sender: CreditOwner,
    bytes: Uint8Array,
    start: number,
    end: number,
    tupleCount: number,
  ): void {
    if (this.#connection === undefined) {
      this.#arrivals.push({ sender, set: copyOf(bytes, start, end), tupleCount });
      return;
    }
    const buffer = this.#pool.take(end - start);
    buffer.set(bytes.subarray(start, end));
    const release = (): void => this.#pool.give(buffer);
    this.#give(sender, buffer.subarray(0, end - start), tupleCount, { release });
  }

  consumed(bytes: number): void {
    this.#ledger.consumed(bytes);
  }

  /** Bytes that have left for the instance and that its connection has not taken. */
  get queuedBytes(): number {
    return this.#registered?.queuedBytes ?? 0;
  }

  /**
   * Sends a set without data, behind what has left before. It costs no credit. `release` is called
   * when its bytes have left or are lost; not when it returns false: while the instance is away.
   */
  sendControl(set: Uint8Array, release: () => void): boolean {
    const connection = this.#registered;
    if (connection === undefined) return false;
    return sendDataPacket(connection, TUPLE_SET_2_TYPE, set, release);
  }

  #give(
    sender: CreditOwner,
    payload: Uint8Array,
    tupleCount: number,
    owner: { release(): void },
  ): void {
    const connection = this.#connection;
    const creditBytes = tupleCount > 0 ? payload.length : 0;
    if (creditBytes > 0) this.#ledger.delivered(sender, creditBytes, tupleCount);
    this.#traffic.tuplesToInstances.value += tupleCount;
    const onDone = (written: boolean): void => {
      owner.release();
      // The last packets of an ended connection may still leave when the next one is there already.
      if (!written || this.#reportsConsumption || this.#connection !== connection) return;
      this.consumed(creditBytes);
    };
    if (connection !== undefined && sendDataPacket(connection, TUPLE_SET_2_TYPE, payload, onDone))
      return;
    owner.release(); // The connection ends just now: `disconnect` follows and counts the tuples.
  }
}
