import type { BuiltTopology } from '../../api/topology.ts';
import { assert } from '../../base/assert.ts';
import { EXIT } from '../../base/exit-codes.ts';
import { ProcessLife } from '../../base/process-main.ts';
import type { Random } from '../../base/random.ts';
import { exitReason } from '../../supervision/exit-reason.ts';
import type { Command, SignalName } from '../../supervision/process-table.ts';
import type { LoadOptions } from '../../package/load-module.ts';
import { SimulatedDoorbells } from '../kernel/doorbells.ts';
import type { Kernel } from '../kernel/kernel.ts';
import { SimulatedDisk } from '../kernel/simulated-disk.ts';
import { SimulatedNetwork } from '../kernel/simulated-network.ts';
import { WallClock } from '../kernel/simulated-time.ts';
import type { Interposer } from './interposer.ts';
import type { HostMachine, StartOptions } from './host-machine.ts';
import { type CommandLine, parseCommandLine } from './programs.ts';
import { environmentOf } from './simulated-environment.ts';
import { fieldsText, type LogLine } from './simulated-log.ts';
import { type ProcessEnd, SimulatedProcess } from './simulated-process.ts';

/*
  A machine in a simulated world: a disk, a network, a process table. Its processes are the engine's
  own main functions.

  M1. A pid is given once: whoever takes one process for another does so by its name, not by luck.
  M2. A process that has ended is out of the table at once, as if it had been reaped.
*/

export interface SimulatedMachineOptions {
  readonly kernel: Kernel;
  /** The addresses of this machine; a process has the one that its `--host` names, or the first. */
  readonly hosts: readonly string[];
  /** What importing the module of an archive gives, in every instance. */
  readonly loadTopology: (options: LoadOptions) => BuiltTopology;
  /** What command lines mean; the engine's programs unless a test has others. */
  readonly programs?: (args: readonly string[]) => CommandLine | undefined;
  /** How long a process takes from its start to its first line of code; about, and at least. */
  readonly startMs?: number;
  /** Nothing stands between processes and their world unless it is set. */
  readonly interposer?: Interposer;
}

/** A process that has ended. */
export interface ExitRecord {
  readonly name: string;
  readonly pid: number;
  readonly code: number | null;
  readonly signal: SignalName | null;
  readonly atMs: number;
  readonly reason: string;
}

/** Not a loopback address, which other hosts could not reach. */
export const DEFAULT_HOST = '10.0.0.1';
const START_MS_DEFAULT = 40;
const FIRST_PID = 1000;
const ORDERLY = 'ended in an orderly way';
const TICKS_PER_MS = 0.1;

export class SimulatedMachine implements HostMachine {
  readonly kernel: Kernel;
  readonly disk: SimulatedDisk;
  readonly network: SimulatedNetwork;
  readonly bootId: string;
  readonly #options: SimulatedMachineOptions;
  readonly doorbells = new SimulatedDoorbells();
  readonly interposer: Interposer;
  /** Of all its processes; faults step it. */
  readonly wallClock = new WallClock();
  readonly #random: Random;
  readonly #alive = new Map<number, SimulatedProcess>();
  readonly #children = new Map<SimulatedProcess, SimulatedProcess[]>();
  readonly #outputs = new Map<string, SimulatedProcess>();
  readonly #exits: ExitRecord[] = [];
  readonly #logListeners = new Set<(process: SimulatedProcess, line: LogLine) => void>();
  readonly #endListeners = new Set<(process: SimulatedProcess, exit: ExitRecord) => void>();
  readonly #startListeners = new Set<(process: SimulatedProcess) => void>();
  #lastPid = FIRST_PID;

  constructor(options: SimulatedMachineOptions) {
    const { kernel } = options;
    this.#options = options;
    this.kernel = kernel;
    this.interposer = options.interposer ?? {};
    this.disk = new SimulatedDisk(kernel, 'machine', this.wallClock);
    this.network = new SimulatedNetwork(kernel);
    this.#random = kernel.random('machine');
    this.bootId = `boot-${this.#random.uint32().toString(16)}`;
  }

  /** Those that live, in the order of their start. */
  get processes(): readonly SimulatedProcess[] {
    return [...this.#alive.values()];
  }

  /** True while it runs no process at all. */
  get isIdle(): boolean {
    return this.#alive.size === 0;
  }

  /** Those that have ended, in the order of their end. */
  get exits(): readonly ExitRecord[] {
    return this.#exits;
  }

  find(pid: number): SimulatedProcess | undefined {
    return this.#alive.get(pid);
  }

  /** Like the next two: listens until the returned function is called. */
  onStart(listener: (process: SimulatedProcess) => void): () => void {
    this.#startListeners.add(listener);
    return () => this.#startListeners.delete(listener);
  }

  onEnd(listener: (process: SimulatedProcess, exit: ExitRecord) => void): () => void {
    this.#endListeners.add(listener);
    return () => this.#endListeners.delete(listener);
  }

  onLogLine(listener: (process: SimulatedProcess, line: LogLine) => void): () => void {
    this.#logListeners.add(listener);
    return () => this.#logListeners.delete(listener);
  }

  /** Starts one of the engine's processes; its code runs a little later. */
  start(
    command: Command,
    { parent, onReady = () => {}, onOutput }: StartOptions = {},
  ): SimulatedProcess {
    const { programs = parseCommandLine, startMs = START_MS_DEFAULT } = this.#options;
    const line = programs(command.arguments);
    assert(line !== undefined, `${command.name} is one of the engine's processes`);
    const process = this.#create(command, hostIn(line.arguments), onOutput);
    if (parent !== undefined) this.#addChild(parent, process);
    const environment = environmentOf(this, process, { args: line.arguments, sayReady: onReady });
    const { options, main } = line.program;
    process.mainThread.post(startMs * (1 + this.#random.below(100) / 200), () => {
      const life = new ProcessLife(options, process, environment.clock);
      void life.run(async (context) => {
        process.object = await main(context, environment);
      });
    });
    return process;
  }

  /** A process without a program of its own, for code of the simulation to run in. */
  startBare(name: string, workingDirectory = '/'): SimulatedProcess {
    const command: Command = {
      name,
      executable: 'node',
      arguments: [],
      environment: {},
      workingDirectory,
      pidFolder: undefined,
    };
    return this.#create(command, undefined, undefined);
  }

  /** Remembers whose output an output file holds. */
  noteOutput(outputFile: string, process: SimulatedProcess): void {
    this.#outputs.set(outputFile, process);
  }

  lastLinesOf(outputFile: string): readonly string[] {
    return this.#outputs.get(outputFile)?.lastLines ?? [];
  }

  /** Importing the module takes its time, as with real ones. */
  loadTopology(process: SimulatedProcess, options: LoadOptions): Promise<BuiltTopology> {
    const loadMs = (this.#options.startMs ?? START_MS_DEFAULT) * this.#random.below(100) * 0.01;
    return new Promise((resolve, reject) => {
      process.mainThread.post(loadMs, () => {
        try {
          resolve(this.#options.loadTopology(options));
        } catch (error) {
          reject(error);
        }
      });
    });
  }

  handleLogLine(process: SimulatedProcess, line: LogLine): void {
    if (process.state === 'ended') return; // The rest of its last event is in vain.
    const level = line.level === 'info' ? '' : `${line.level.toUpperCase()} `;
    this.kernel.log.add(line.name, `${level}${line.message} ${fieldsText(line.fields)}`.trimEnd());
    for (const listener of this.#logListeners) listener(process, line);
  }

  #create(
    command: Command,
    host: string | undefined,
    onOutput: ((text: string) => void) | undefined,
  ): SimulatedProcess {
    this.#lastPid += 1;
    const pid = this.#lastPid;
    const startTicks = Math.floor(this.kernel.nowMs * TICKS_PER_MS);
    const process = new SimulatedProcess({
      command,
      identity: { bootId: this.bootId, pid, startTicks },
      host: host ?? this.#options.hosts[0] ?? DEFAULT_HOST,
      createThread: (name, onFailure) => {
        const thread = this.kernel.createThread(name, this.wallClock);
        thread.onFailure = onFailure;
        return thread;
      },
      onOutput: (text) => {
        this.kernel.log.add(command.name, `writes ${firstLineOf(text)}`);
        onOutput?.(text);
      },
      onEnded: (ended, end) => this.#handleEnd(ended, end),
    });
    this.#alive.set(pid, process);
    this.kernel.log.add(command.name, `starts as process ${pid}`);
    for (const listener of this.#startListeners) listener(process);
    return process;
  }

  #addChild(parent: SimulatedProcess, child: SimulatedProcess): void {
    const children = this.#children.get(parent) ?? [];
    children.push(child);
    this.#children.set(parent, children);
    if (parent.state === 'ended') child.endInput();
  }

  #handleEnd(process: SimulatedProcess, { code, signal, lastLines }: ProcessEnd): void {
    const { name, pid } = process;
    this.#alive.delete(pid);
    const exit: ExitRecord = {
      name,
      pid,
      code,
      signal,
      atMs: this.kernel.nowMs,
      reason: code === EXIT.ok ? ORDERLY : exitReason({ code, signal, lastLines }),
    };
    this.#exits.push(exit);
    this.kernel.log.add(name, `process ${pid} ${exit.reason}`);
    for (const child of this.#children.get(process) ?? []) child.endInput();
    this.#children.delete(process);
    for (const listener of this.#endListeners) listener(process, exit);
  }
}

function hostIn(args: readonly string[]): string | undefined {
  const flag = '--host=';
  return args.find((argument) => argument.startsWith(flag))?.slice(flag.length);
}

function firstLineOf(text: string): string {
  return text.slice(0, text.indexOf('\n') + 1).trimEnd() || text;
}
