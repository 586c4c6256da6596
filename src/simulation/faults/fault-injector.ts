import type { Timer } from '../../base/clock.ts';
import {
  type Ends,
  type Fault,
  type FaultCommand,
  type FaultPlan,
  lengthOf,
  type Target,
} from './fault.ts';
import type { InjectedFault, NamedEnds } from './injected-fault.ts';
import { resolveTarget, resolveTargets } from './targets.ts';

/*
  Lets a plan's faults strike a simulated cluster at their times, and notes what each of them hit.

  I1. Whatever lasts is undone exactly once, at its end: faults of one kind may overlap.
  I2. A target that means nothing at that moment is no error: the fault then hits nobody, and a plan
      can be cut down without any fault becoming invalid.
*/

/** How often a storm looks whether its process is back: short against its first back-off. */
const STORM_LOOK_MS = 10;

/** Ends a fault that lasts. */
export type Undo = () => void;

/** What faults do to the simulated world. */
export interface FaultPorts {
  readonly nowMs: number;
  /** Calls by simulated time, in no thread of any process. */
  at(delayMs: number, call: () => void): Timer;
  /** The processes that live, by name. */
  names(): readonly string[];
  kill(name: string): void;
  pause(name: string): void;
  resume(name: string): void;
  startDuplicateMaster(): void;
  /** The node that says where the topology master is vanishes from the state tree. */
  loseMasterNode(): void;
  slowLinks(ends: NamedEnds, extraMs: number): Undo;
  dropConnections(ends: NamedEnds): void;
  /** The connections break when it is undone. */
  halfOpen(ends: NamedEnds): Undo;
  /** The connections stay dead when it is undone, and others can be made. */
  blackHole(ends: NamedEnds): Undo;
  partition(ends: NamedEnds, options: { readonly oneWay: boolean }): Undo;
  slowDisk(extraMs: number): Undo;
  fillDisk(): Undo;
  stopStore(how: 'failing' | 'hanging'): Undo;
  stepWallClock(byMs: number): void;
  command(command: FaultCommand): void;
}

export class FaultInjector {
  readonly #ports: FaultPorts;
  readonly #injected: InjectedFault[] = [];
  /** What has yet to begin. */
  readonly #timers: Timer[] = [];
  /** How many pauses lie on a process. */
  readonly #pauses = new Map<string, number>();

  constructor(ports: FaultPorts) {
    this.#ports = ports;
  }

  /** What has struck so far, in order; the same list all the time. */
  get injected(): readonly InjectedFault[] {
    return this.#injected;
  }

  /** Called once, at the time that the plan counts from. */
  start(plan: FaultPlan): void {
    for (const fault of plan) {
      this.#timers.push(this.#ports.at(fault.atMs, () => this.#strike(fault)));
    }
  }

  /** Nothing strikes any more; what lasts still ends. */
  stop(): void {
    for (const timer of this.#timers) timer.cancel();
  }

  #strike(fault: Fault): void {
    const ports = this.#ports;
    switch (fault.kind) {
      case 'crash': {
        const names = this.#resolve(fault.processes);
        this.#note(fault, names);
        for (const name of names) ports.kill(name);
        return;
      }
      case 'restart-storm':
        return this.#storm(fault);
      case 'pause':
        return this.#pause(fault, this.#resolve([fault.process]), fault.forMs);
      case 'suspend':
        return this.#pause(fault, this.#ports.names(), fault.forMs);
      case 'slow-link':
        return this.#onLinks(fault, (ends) => ports.slowLinks(ends, fault.extraMs));
      case 'drop-connection':
        return this.#onLinks(fault, (ends) => {
          ports.dropConnections(ends);
          return undefined;
        });
      case 'half-open':
        return this.#onLinks(fault, (ends) => ports.halfOpen(ends));
      case 'black-hole':
        return this.#onLinks(fault, (ends) => ports.blackHole(ends));
      case 'partition':
        return this.#onLinks(fault, (ends) => ports.partition(ends, fault));
      case 'slow-disk':
        return this.#onMachine(fault, ports.slowDisk(fault.extraMs));
      case 'full-disk':
        return this.#onMachine(fault, ports.fillDisk());
      case 'store-outage':
        return this.#onMachine(fault, ports.stopStore(fault.how));
      case 'clock-step':
        this.#note(fault, []);
        return ports.stepWallClock(fault.byMs);
      case 'duplicate-master':
        this.#note(fault, this.#resolve(['topology-master#0']));
        ports.startDuplicateMaster();
        if (fault.nodeLostAfterMs !== undefined) {
          this.#timers.push(ports.at(fault.nodeLostAfterMs, () => ports.loseMasterNode()));
        }
        return;
      case 'command':
        this.#note(fault, this.#hitBy(fault));
        return ports.command(fault);
    }
  }

  #storm(fault: Extract<Fault, { readonly kind: 'restart-storm' }>): void {
    const [name] = this.#resolve([fault.process]);
    this.#note(fault, name === undefined ? [] : [name]);
    if (name === undefined) return;
    const { times, afterMs, forMs } = fault;
    const untilMs = this.#ports.nowMs + forMs;
    let left = times;
    let bornAtMs = this.#ports.nowMs - afterMs;
    let isBack = true;
    const look = (): void => {
      const { nowMs } = this.#ports;
      const lives = this.#ports.names().includes(name);
      if (lives && !isBack) bornAtMs = nowMs;
      isBack = lives;
      if (isBack && nowMs - bornAtMs >= afterMs) {
        this.#ports.kill(name);
        isBack = false;
        left -= 1;
      }
      if (left > 0 && nowMs + STORM_LOOK_MS <= untilMs) {
        this.#timers.push(this.#ports.at(STORM_LOOK_MS, look));
      }
    };
    look();
  }

  /** A process that was started anew meanwhile was never paused: its name is not to be trusted. */
  #pause(fault: Fault, names: readonly string[], forMs: number): void {
    this.#note(fault, names);
    for (const name of names) {
      this.#pauses.set(name, (this.#pauses.get(name) ?? 0) + 1);
      this.#ports.pause(name);
    }
    this.#ports.at(forMs, () => {
      for (const name of names) {
        const left = (this.#pauses.get(name) ?? 1) - 1;
        this.#pauses.set(name, left);
        if (left === 0) this.#ports.resume(name);
      }
    });
  }

  #onLinks(
    fault: Extract<Fault, { readonly between: Ends }>,
    begin: (ends: NamedEnds) => Undo | undefined,
  ): void {
    const ends = fault.between.map((targets) => this.#resolve(targets));
    const named: NamedEnds = [ends[0] ?? [], ends[1] ?? []];
    this.#note(fault, [], named);
    if (named.some((names) => names.length === 0)) return;
    const undo = begin(named);
    if (undo !== undefined) this.#undoAtEnd(fault, undo);
  }

  #onMachine(fault: Fault, undo: Undo): void {
    this.#note(fault, []);
    this.#undoAtEnd(fault, undo);
  }

  #undoAtEnd(fault: Fault, undo: Undo): void {
    this.#ports.at(lengthOf(fault), undo);
  }

  #hitBy(fault: FaultCommand): readonly string[] {
    if (fault.command !== 'restart') return [];
    const names = this.#ports.names();
    if (fault.container === undefined) return names.filter((name) => name !== 'scheduler');
    return resolveTarget(`container#${fault.container}`, names);
  }

  #resolve(targets: readonly Target[]): readonly string[] {
    return resolveTargets(targets, this.#ports.names());
  }

  #note(fault: Fault, processes: readonly string[], ends?: NamedEnds): void {
    const atMs = this.#ports.nowMs;
    const endsAtMs = atMs + lengthOf(fault);
    this.#injected.push({ fault, atMs, endsAtMs, processes, ends });
  }
}
