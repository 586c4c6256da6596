/*
  What a simulated network does wrong while somebody wants it to.

  F1. A partition holds back what is sent across it, in order, as TCP does by sending again; nothing
      is lost when it heals.
  F2. A delay adds to the way of everything that is sent while it lasts. Order is kept.
*/

import type { Random } from '../../base/random.ts';
import { microseconds } from './simulated-time.ts';

/** One end of a connection, as faults and checkers name it. */
export interface Party {
  readonly host: string;
  readonly process: string;
}

/** Names of hosts and of processes; `*` is everybody. */
export type PartyNames = readonly string[];

/** Between which parties a fault lies. */
export interface FaultPlace {
  readonly from: PartyNames;
  readonly to: PartyNames;
  /** True: only what `from` sends to `to`. */
  readonly isOneWay?: boolean;
}

export interface DelayFault extends FaultPlace {
  readonly delayMs: number;
  /** Up to so much more, drawn for each piece. */
  readonly jitterMs?: number;
}

/** A fault that lasts until it is healed. */
export interface LastingFault {
  /** Idempotent. */
  heal(): void;
}

export class NetworkFaults {
  readonly #partitions = new Set<FaultPlace>();
  readonly #delays = new Set<DelayFault>();
  readonly #random: Random;
  readonly #onHealed: () => void;

  /** `onHealed`: something that was held back may go on. */
  constructor(random: Random, onHealed: () => void) {
    this.#random = random;
    this.#onHealed = onHealed;
  }

  partition(fault: FaultPlace): LastingFault {
    return this.#begin(this.#partitions, fault);
  }

  delay(fault: DelayFault): LastingFault {
    return this.#begin(this.#delays, fault);
  }

  /** Ends all of them. */
  clear(): void {
    this.#partitions.clear();
    this.#delays.clear();
    this.#onHealed();
  }

  /** True when nothing gets from one to the other now. */
  blocks(from: Party, to: Party): boolean {
    if (this.#partitions.size === 0) return false;
    for (const fault of this.#partitions) {
      if (concerns(fault, from, to)) return true;
    }
    return false;
  }

  /** What faults add to the way, in microseconds. */
  extraUs(from: Party, to: Party): number {
    if (this.#delays.size === 0) return 0;
    let sumUs = 0;
    for (const fault of this.#delays) {
      if (!concerns(fault, from, to)) continue;
      const jitterUs = microseconds(fault.jitterMs ?? 0);
      sumUs += microseconds(fault.delayMs) + this.#random.below(jitterUs + 1);
    }
    return sumUs;
  }

  #begin<F extends FaultPlace>(faults: Set<F>, fault: F): LastingFault {
    const own = { ...fault }; // The same description may be given twice.
    faults.add(own);
    return {
      heal: () => {
        if (faults.delete(own)) this.#onHealed();
      },
    };
  }
}

/** True for one of these hosts or processes. */
export function isAmong(party: Party, names: PartyNames): boolean {
  return names.some((name) => name === '*' || name === party.process || name === party.host);
}

/** True for something between these two; a process always reaches itself. */
export function concerns(
  { from, to, isOneWay }: FaultPlace,
  sender: Party,
  receiver: Party,
): boolean {
  if (sender.process === receiver.process && sender.host === receiver.host) return false;
  return (
    (isAmong(sender, from) && isAmong(receiver, to)) ||
    (isOneWay !== true && isAmong(sender, to) && isAmong(receiver, from))
  );
}
