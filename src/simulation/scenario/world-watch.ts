import type { Timer } from '../../base/clock.ts';
import type { SimulationEvent } from '../checkers/checker.ts';
import type { SimulatedCluster } from '../cluster/simulated-cluster.ts';
import type { BrokenLink } from '../faults/explanation.ts';
import type { TrafficEvent } from '../kernel/simulated-network.ts';

/*
  Tells checkers what happens in a simulated cluster: bytes as they are read, connections that are
  no more, and whatever is only seen by looking, every now and then.

  W1. It changes nothing: no thread's time, no random number, no state of the world.
*/

export interface WorldWatchOptions {
  readonly cluster: SimulatedCluster;
  readonly tell: (event: SimulationEvent) => void;
  /** Called in each period, for what others look at. */
  readonly look: () => void;
  readonly periodMs: number;
}

export class WorldWatch {
  /** Filled while the run goes on. */
  readonly brokenLinks: BrokenLink[] = [];
  readonly #options: WorldWatchOptions;
  readonly #untap: () => void;
  /** The names at both ends of each connection that was open at the last look or has been used. */
  readonly #known = new Map<number, readonly [string, string]>();
  #timer: Timer;

  constructor(options: WorldWatchOptions) {
    const { cluster, tell, periodMs } = options;
    this.#options = options;
    this.#untap = cluster.machine.network.tap({ onRead: (event) => this.#tellBytes(event) });
    this.#timer = cluster.kernel.at(periodMs, () => this.#look());
    cluster.machine.onEnd(({ name, lastLines }, { pid, code, signal, reason: why, atMs }) => {
      const reason = [why, ...lastLines].join('\n');
      tell({ kind: 'process-end', atMs, process: name, pid, code, signal, reason });
    });
  }

  /** A last look, and none after it. */
  close(): void {
    this.#timer.cancel();
    this.#lookNow();
    this.#untap();
  }

  #look(): void {
    this.#lookNow();
    const { cluster, periodMs } = this.#options;
    this.#timer = cluster.kernel.at(periodMs, () => this.#look());
  }

  #lookNow(): void {
    const { cluster, tell, look } = this.#options;
    const open = new Set<number>();
    for (const { number, from, to } of cluster.machine.network.connections()) {
      open.add(number);
      this.#known.set(number, [from.process, to.process]);
    }
    const atMs = cluster.kernel.nowMs;
    for (const [number, between] of this.#known) {
      if (open.has(number)) continue;
      this.#known.delete(number);
      this.brokenLinks.push({ between, atMs });
      tell({ kind: 'connection-end', atMs, connection: number });
    }
    look();
  }

  #tellBytes({ connection, from, to, bytes, atMs }: TrafficEvent): void {
    // It may be gone again before the next look.
    if (!this.#known.has(connection)) this.#known.set(connection, [from.process, to.process]);
    this.#options.tell({
      kind: 'bytes',
      atMs,
      connection,
      from: from.process,
      to: to.process,
      bytes,
    });
  }
}
