/*
  What a simulated disk does wrong while somebody wants it to.

  F1. A full disk refuses what adds to it. Files that exist are emptied before they are written, as
      on a real one, so a refused write leaves a part of the bytes.
  F2. An outage concerns all that is below one path: operations fail, or hang until it is over and
      then go on. Operations that a thread waits for on the spot (`…Now`) fail in both cases.
*/

import type { LastingFault } from './network-faults.ts';

export interface SlowDisk {
  /** What each operation takes in addition. */
  readonly delayMs: number;
  /** Only below this path; everywhere unless set. */
  readonly below?: string;
}

export interface DiskOutage {
  readonly kind: 'failing' | 'hanging';
  readonly below: string;
}

export class DiskFaults {
  readonly #slow = new Set<SlowDisk>();
  readonly #outages = new Set<DiskOutage>();
  readonly #full = new Set<object>();
  #waiting: (() => void)[] = [];

  get isFull(): boolean {
    return this.#full.size > 0;
  }

  slow(fault: SlowDisk): LastingFault {
    return this.#begin(this.#slow, { ...fault });
  }

  outage(fault: DiskOutage): LastingFault {
    return this.#begin(this.#outages, { ...fault });
  }

  full(): LastingFault {
    return this.#begin(this.#full, {});
  }

  /** Ends all of them. */
  clear(): void {
    this.#slow.clear();
    this.#outages.clear();
    this.#full.clear();
    this.#goOn();
  }

  delayMsOf(paths: readonly string[]): number {
    let sumMs = 0;
    for (const { delayMs, below = '/' } of this.#slow) {
      if (isBelow(paths, below)) sumMs += delayMs;
    }
    return sumMs;
  }

  outageOf(paths: readonly string[]): DiskOutage['kind'] | undefined {
    for (const { kind, below } of this.#outages) {
      if (isBelow(paths, below)) return kind;
    }
    return undefined;
  }

  /** Calls when an outage is over, or another fault: look again. */
  wait(call: () => void): void {
    this.#waiting.push(call);
  }

  #begin<F>(faults: Set<F>, fault: F): LastingFault {
    faults.add(fault);
    return {
      heal: () => {
        if (faults.delete(fault)) this.#goOn();
      },
    };
  }

  #goOn(): void {
    const waiting = this.#waiting;
    this.#waiting = [];
    for (const call of waiting) call();
  }
}

/** True when one of the paths is this one or below it. */
function isBelow(paths: readonly string[], above: string): boolean {
  const prefix = above.endsWith('/') ? above : `${above}/`;
  return paths.some((path) => path === above || path.startsWith(prefix));
}
