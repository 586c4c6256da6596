import { assertDefined } from '../base/assert.ts';
import type { Timer } from '../base/clock.ts';
import type { ProcessExit, ProcessReport } from '../model/container-report.ts';
import type { ProcessHandle } from '../supervision/process-handle.ts';
import { SilenceWatch } from '../supervision/silence-watch.ts';
import {
  SupervisedProcess,
  type SupervisedProcessOptions,
} from '../supervision/supervised-process.ts';
import { processChanges } from './process-changes.ts';
import type { ProcessRole, WantedProcess } from './wanted-processes.ts';

/*
  The processes of one container: converges on what is wanted and takes everything down in order.

  C1. Instances stop first, while their stream manager can still take their last tuples and their
      metrics manager the last metrics; each stage begins when the one before it is gone. That holds
      for what leaves the plan at once as well.
  C2. A name that leaves and comes back is started only when its former process is gone.
  C3. A process that hangs is killed and started again like one that has died (silence-watch.ts).
*/

/** How a process of the container comes to life. */
export type LaunchProcess = (wanted: WantedProcess) => ProcessHandle;

export interface ContainerProcessesOptions
  extends Omit<SupervisedProcessOptions, 'name' | 'history' | 'onDeath'> {
  readonly launch: LaunchProcess;
  readonly onDeath: (process: WantedProcess, exit: ProcessExit) => void;
  /** How long a process may be silent before it is taken for hung. */
  readonly silenceMs: number;
  /** What an earlier executor of this container reported, by process name. */
  readonly history: ReadonlyMap<string, Pick<ProcessReport, 'restarts' | 'lastExit'>>;
}

interface Entry {
  wanted: WantedProcess;
  readonly process: SupervisedProcess;
}

const STOP_STAGES: readonly (readonly ProcessRole[])[] = [
  ['instance'],
  ['stream-manager', 'topology-master'],
  ['metrics-manager', 'metrics-cache'],
];

export class ContainerProcesses {
  readonly #options: ContainerProcessesOptions;
  readonly #entries = new Map<string, Entry>();
  readonly #leaving = new Map<string, Promise<void>>();
  readonly #silence: SilenceWatch;
  readonly #looks: Timer;
  /** Processes that stand still because somebody looks into them. */
  readonly #excused = new Set<string>();
  #stopped = false;

  constructor(options: ContainerProcessesOptions) {
    this.#options = options;
    this.#silence = new SilenceWatch(options.silenceMs);
    this.#looks = options.clock.every(this.#silence.periodMs, () => this.#killSilent());
  }

  get reports(): readonly ProcessReport[] {
    return [...this.#entries.values()].map(({ process }) => process.report);
  }

  converge(wanted: readonly WantedProcess[]): void {
    const present = [...this.#entries.values()].map((entry) => entry.wanted);
    const { start, stop, replace, keep } = processChanges(present, wanted);
    this.#removeAll(stop);
    for (const process of keep) this.#keep(process);
    for (const process of replace) this.#replace(process);
    for (const process of start) this.#add(process);
  }

  /** Replaces one process by another one of the same kind; says nothing when it is not wanted. */
  restart(name: string, reason?: string): void {
    if (!this.#stopped) this.#entries.get(name)?.process.restart(reason);
  }

  /** The life of a process that runs; undefined while none does. */
  handleOf(name: string): ProcessHandle | undefined {
    return this.#entries.get(name)?.process.handle;
  }

  /** Nobody takes the process for hung until `work` has settled (C3). */
  async withSilence<Result>(name: string, work: () => Promise<Result>): Promise<Result> {
    this.#excused.add(name);
    try {
      return await work();
    } finally {
      this.#excused.delete(name);
    }
  }

  isInstance(name: string): boolean {
    return this.#entries.get(name)?.wanted.role === 'instance';
  }

  /** Resolves when no process is left (C1). Nothing is started afterwards. */
  async stopAll(): Promise<void> {
    this.#stopped = true;
    this.#looks.cancel();
    for (const roles of STOP_STAGES) {
      const stage = [...this.#entries.values()].filter(({ wanted }) => roles.includes(wanted.role));
      await Promise.all(stage.map(({ process }) => process.stop()));
    }
    await Promise.all(this.#leaving.values());
  }

  #add(wanted: WantedProcess): void {
    const { launch, onDeath, history, ...supervision } = this.#options;
    const past = history.get(wanted.name);
    const entry: Entry = {
      wanted,
      process: new SupervisedProcess({
        ...supervision,
        name: wanted.name,
        onDeath: (exit) => onDeath(entry.wanted, exit),
        ...(past === undefined ? {} : { history: past }),
      }),
    };
    this.#entries.set(wanted.name, entry);
    const start = (): void => {
      const isWanted = this.#entries.get(wanted.name) === entry && !this.#stopped;
      if (isWanted) entry.process.start(() => launch(entry.wanted));
    };
    const predecessor = this.#leaving.get(wanted.name);
    if (predecessor === undefined) start();
    else void predecessor.then(start);
  }

  #replace(wanted: WantedProcess): void {
    const entry = this.#entries.get(wanted.name);
    if (entry === undefined) return;
    entry.wanted = wanted;
    entry.process.restart();
  }

  /** It goes on as it is, and is started with what is wanted now when it has to be. */
  #keep(wanted: WantedProcess): void {
    const entry = this.#entries.get(wanted.name);
    if (entry !== undefined) entry.wanted = wanted;
  }

  /** In stages (C1). */
  #removeAll(names: readonly string[]): void {
    let earlierStages: Promise<unknown> | undefined;
    for (const roles of STOP_STAGES) {
      const stage = names.filter((name) => {
        const role = this.#entries.get(name)?.wanted.role;
        return role !== undefined && roles.includes(role);
      });
      if (stage.length === 0) continue;
      const before = earlierStages;
      earlierStages = Promise.all(stage.map((name) => this.#remove(name, before)));
    }
  }

  /** Resolves when it is gone; it is told to end once `before` has resolved. */
  #remove(name: string, before: Promise<unknown> | undefined): Promise<void> {
    const entry = assertDefined(this.#entries.get(name), 'what is removed is present');
    this.#entries.delete(name);
    const stopped = before?.then(() => entry.process.stop()) ?? entry.process.stop();
    const gone = Promise.all([this.#leaving.get(name), stopped]).then(() => {
      if (this.#leaving.get(name) === gone) this.#leaving.delete(name);
      return undefined;
    });
    this.#leaving.set(name, gone);
    return gone;
  }

  /** C3. What is being stopped has its own limit. */
  #killSilent(): void {
    const entries = [...this.#entries];
    const signs = new Map(
      entries.map(([name, { process }]) => [
        name,
        this.#excused.has(name) ? undefined : process.sign,
      ]),
    );
    for (const { name, silentMs } of this.#silence.look(signs, this.#options.clock.now())) {
      const reason = `hung: nothing was heard of it for ${silentMs} ms, and its executor killed it`;
      this.#entries.get(name)?.process.kill(reason);
    }
  }
}
