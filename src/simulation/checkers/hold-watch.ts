import type { TaskId } from '../../base/ids.ts';
import { readBackPressureNotice } from '../../wire/back-pressure-notice.ts';
import type { Packet } from '../../wire/frame.ts';
import { StreamHeaders } from '../../wire/stream-header.ts';
import { TUPLE_SET_2_TYPE } from '../../wire/tuple-set-format.ts';
import { TupleSetReader } from '../../wire/tuple-set-reader.ts';
import type { Direction } from './packet-tap.ts';
import { taskOfInstance } from './places.ts';

/** A time in which a spout was told to hold. */
export interface HeldTime {
  readonly task: TaskId;
  readonly fromMs: number;
  /** Infinite while it lasts. */
  toMs: number;
}

/** When spouts were held, by the notices that reached them. */
export class HoldWatch {
  readonly times: HeldTime[] = [];
  /** By connection: what has begun and not ended. */
  readonly #open = new Map<number, HeldTime>();
  readonly #set = new TupleSetReader(new StreamHeaders());

  onPacket(packet: Packet, { connection, to }: Direction, atMs: number): void {
    if (packet.typeName !== TUPLE_SET_2_TYPE) return;
    const task = taskOfInstance(to);
    if (task === undefined) return;
    const set = this.#set;
    set.open(packet.bytes, packet.payloadStart, packet.payloadEnd);
    if (set.backPressureEnd === 0) return;
    const { backPressureStart, backPressureEnd } = set;
    const { isHeld } = readBackPressureNotice(packet.bytes, backPressureStart, backPressureEnd);
    if (!isHeld) this.onConnectionEnd(connection, atMs);
    else if (!this.#open.has(connection)) {
      const time = { task, fromMs: atMs, toMs: Number.POSITIVE_INFINITY };
      this.times.push(time);
      this.#open.set(connection, time);
    }
  }

  /** An instance that is not connected is told nothing, and does not hold. */
  onConnectionEnd(connection: number, atMs: number): void {
    const time = this.#open.get(connection);
    if (time !== undefined) time.toMs = atMs;
    this.#open.delete(connection);
  }

  /** For how long a spout was held between two times. */
  heldMs(task: TaskId, fromMs: number, toMs: number): number {
    let sumMs = 0;
    for (const time of this.times) {
      if (time.task !== task) continue;
      sumMs += Math.max(0, Math.min(toMs, time.toMs) - Math.max(fromMs, time.fromMs));
    }
    return sumMs;
  }
}
