import type { ProcessExit, ProcessReport } from '../model/container-report.ts';
import type { ProcessHandle } from '../supervision/process-handle.ts';
import {
  SupervisedProcess,
  type SupervisedProcessOptions,
} from '../supervision/supervised-process.ts';
import { processChanges } from './process-changes.ts';
import type { ProcessRole, WantedProcess } from './wanted-processes.ts';

/*
  The processes of one container: converges on what is wanted and takes everything down in order.

  C1. Instances stop first, while their stream manager can still take their last tuples and their
      metrics manager the last metrics; each stage begins when the one before it is gone.
  C2. A name that leaves and comes back is started only when its former process is gone.
*/

/** How a process of the container comes to life. */
export type LaunchProcess = (wanted: WantedProcess) => ProcessHandle;

export interface ContainerProcessesOptions
  extends Omit<SupervisedProcessOptions, 'name' | 'history' | 'onDeath'> {
  readonly launch: LaunchProcess;
  readonly onDeath: (process: WantedProcess, exit: ProcessExit) => void;
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
  #stopped = false;

  constructor(options: ContainerProcessesOptions) {
    this.#options = options;
  }

  get reports(): readonly ProcessReport[] {
    return [...this.#entries.values()].map(({ process }) => process.report);
  }

  converge(wanted: readonly WantedProcess[]): void {
    const present = [...this.#entries.values()].map((entry) => entry.wanted);
    const { start, stop, replace } = processChanges(present, wanted);
    for (const name of stop) this.#remove(name);
    for (const process of replace) this.#replace(process);
    for (const process of start) this.#add(process);
  }

  /** Replaces one process by another one of the same kind; says nothing when it is not wanted. */
  restart(name: string): void {
    if (!this.#stopped) this.#entries.get(name)?.process.restart();
  }

  /** Resolves when no process is left (C1). Nothing is started afterwards. */
  async stopAll(): Promise<void> {
    this.#stopped = true;
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

  #remove(name: string): void {
    const entry = this.#entries.get(name);
    if (entry === undefined) return;
    this.#entries.delete(name);
    const gone = Promise.all([this.#leaving.get(name), entry.process.stop()]).then(() => {
      if (this.#leaving.get(name) === gone) this.#leaving.delete(name);
      return undefined;
    });
    this.#leaving.set(name, gone);
  }
}
