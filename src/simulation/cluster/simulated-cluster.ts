import type { BuiltTopology } from '../../api/topology.ts';
import { assertDefined } from '../../base/assert.ts';
import { environmentError } from '../../base/errors.ts';
import { type ContainerId, type TaskId, taskId, type TopologyName } from '../../base/ids.ts';
import type { RepairOutcome } from '../../scheduler/scheduler.ts';
import type { Completion } from '../../model/completion.ts';
import type { ContainerReport } from '../../model/container-report.ts';
import type { PackingPlan } from '../../model/packing-plan.ts';
import type { PhysicalPlan } from '../../model/physical-plan.ts';
import type { RepackRequest } from '../../packing/packing.ts';
import { paths } from '../../state-manager/paths.ts';
import type { Kernel } from '../kernel/kernel.ts';
import type { SimulatedThread } from '../kernel/simulated-thread.ts';
import type { Interposer } from '../machine/interposer.ts';
import { DEFAULT_HOST, type ExitRecord, SimulatedMachine } from '../machine/simulated-machine.ts';
import type { SimulatedProcess } from '../machine/simulated-process.ts';
import { changeState, commandMaster, kill, submit, targetOf } from './cluster-commands.ts';
import { type CommandTools, DATA_ROOT, runCommand, STATE_ROOT } from './command-process.ts';
import { QuickStart } from './quick-start.ts';
import { filesBelow, StateView } from './state-view.ts';
import { type SubmittedTopology, submittedTopology } from './submitted-topology.ts';
import { storeUpdate } from './update-command.ts';

/*
  A cluster of one simulated machine with one topology: what a person at a terminal can do to it,
  what an administrator with all rights can do to its processes, and what an all-seeing observer
  sees.

  C1. Commands are processes of the machine. They run while the kernel runs: their promises settle
      only then.
  C2. What is looked at costs no simulated time and changes nothing.
*/

export interface SimulatedClusterOptions {
  readonly kernel: Kernel;
  /** The addresses that containers get in turn, container 0 the first. */
  readonly hosts?: readonly string[];
  /** Settings that win over those of the topology. */
  readonly settings?: Readonly<Record<string, string>>;
  /**
   * Starts the processes of the containers at once, without a scheduler and executors: cheap, for
   * tests that are not about these. False unless set.
   */
  readonly quickStart?: boolean;
  /** How long a process takes to start, about. */
  readonly startMs?: number;
  /** Nothing stands between processes and their world unless it is set. */
  readonly interposer?: Interposer;
}

export interface SubmitOptions {
  readonly config?: Readonly<Record<string, string>>;
  /** False: it starts paused. True unless set. */
  readonly activate?: boolean;
}

/** What is still there, by path or name. */
export interface ClusterLeftovers {
  readonly processes: readonly string[];
  readonly stateNodes: readonly string[];
  readonly files: readonly string[];
}

/** What people do; each is a process of its own (C1). */
export interface ClusterCommands {
  activate(): Promise<void>;
  deactivate(): Promise<void>;
  kill(): Promise<void>;
  /** All containers unless one is named. */
  restart(container?: ContainerId): Promise<void>;
  /**
   * Resolves with what is stored then, which takes effect later. A kill of the command's process
   * before is as if it had never been given.
   */
  update(request: RepackRequest): Promise<PackingPlan>;
  /** Changes settings while the topology runs: `[component:]key:value`. */
  configure(change: string): Promise<void>;
  /** What every command does first: brings a dead scheduler back. */
  repair(): Promise<RepairOutcome>;
}

/** Large rings are nothing but zeros to write; a start is quicker without. */
const QUICK_DEFAULTS = { 'heron.instance.queue.bytes': '262144' };

/** `container_1_words_3` is task 3. */
const TASK_OF_INSTANCE = /^container_\d+_.*_(\d+)$/;

const COMMAND_PREFIX = 'heron ';
const DUPLICATE_SUFFIX = '-duplicate';

export class SimulatedCluster {
  readonly kernel: Kernel;
  readonly machine: SimulatedMachine;
  readonly command: ClusterCommands;
  readonly #options: SimulatedClusterOptions;
  readonly #hosts: readonly string[];
  readonly #state: StateView;
  /** The last process of each name, alive or not. */
  readonly #latest = new Map<string, SimulatedProcess>();
  /** The process of each task that ever had one; a task is never in two places. */
  readonly #instances = new Map<TaskId, string>();
  #submitted: SubmittedTopology | undefined;
  #quickStart: QuickStart | undefined;
  #isLaunched = false;

  constructor(options: SimulatedClusterOptions) {
    const { kernel, hosts = [DEFAULT_HOST], startMs, interposer } = options;
    this.#options = options;
    this.#hosts = hosts;
    this.kernel = kernel;
    this.machine = new SimulatedMachine({
      kernel,
      hosts,
      loadTopology: () => this.#topology.built,
      ...(startMs === undefined ? {} : { startMs }),
      ...(interposer === undefined ? {} : { interposer }),
    });
    this.#state = new StateView(this.machine.disk.tree, STATE_ROOT);
    this.command = this.#commands();
    this.machine.onStart((process) => this.#noteStart(process));
  }

  /** Once a cluster. Resolves when the topology has been taken over; its processes start then. */
  async submit(
    built: BuiltTopology,
    { config = {}, activate = true }: SubmitOptions = {},
  ): Promise<void> {
    const { settings = {}, quickStart = false } = this.#options;
    const submitted = submittedTopology(built, {
      defaults: new Map(Object.entries(quickStart ? QUICK_DEFAULTS : {})),
      config: new Map(Object.entries({ ...config, ...settings })),
      state: activate ? 'RUNNING' : 'PAUSED',
      random: this.kernel.random('submit'),
    });
    this.#submitted = submitted;
    if (quickStart) {
      const command = { name: `${COMMAND_PREFIX}quick-start`, hosts: this.#hosts };
      this.#quickStart = new QuickStart(this.machine, submitted, command);
      await this.#quickStart.start();
    } else await this.#run('submit', (tools) => submit(submitted, tools));
    this.#isLaunched = true;
  }

  /** The engine's processes that live; commands left out. */
  processes(): readonly SimulatedProcess[] {
    return this.machine.processes.filter(({ name }) => isEngineProcess(name));
  }

  /** Undefined when no process of this name lives. */
  process(name: string): SimulatedProcess | undefined {
    const process = this.#latest.get(name);
    return process?.state === 'ended' ? undefined : process;
  }

  /** The engine's processes that have ended; commands left out. */
  exits(): readonly ExitRecord[] {
    return this.machine.exits.filter(({ name }) => isEngineProcess(name));
  }

  /** SIGKILL. Like the next four: false when no process of this name lives. */
  kill(name: string): boolean {
    return this.#withProcess(name, (process) => process.signal('SIGKILL'));
  }

  /** SIGTERM. */
  terminate(name: string): boolean {
    return this.#withProcess(name, (process) => process.signal('SIGTERM'));
  }

  pause(name: string): boolean {
    return this.#withProcess(name, (process) => process.pause());
  }

  resume(name: string): boolean {
    return this.#withProcess(name, (process) => process.resume());
  }

  /**
   * Starts the last command of this name again, beside the process that runs, as somebody does who
   * takes that for dead. A topology master gets other ports. The name of the new process has
   * `-duplicate` at its end.
   */
  startDuplicate(name: string): boolean {
    const process = this.#latest.get(name);
    if (process === undefined) return false;
    this.machine.start({
      ...process.command,
      name: `${name}${DUPLICATE_SUFFIX}`,
      arguments: process.command.arguments.map(withFreePort),
      pidFolder: undefined,
    });
    return true;
  }

  /** The thread on which a task's user code runs; undefined while there is none. */
  threadOf(task: TaskId): SimulatedThread | undefined {
    const instance = this.#instances.get(task);
    return instance === undefined ? undefined : this.process(instance)?.mainThread;
  }

  get topologyName(): TopologyName {
    return this.#topology.topology.name;
  }

  get submitted(): SubmittedTopology | undefined {
    return this.#submitted;
  }

  /** As it was submitted. */
  get packingPlan(): PackingPlan {
    return this.#topology.packingPlan;
  }

  /** As it is stored now; undefined once the topology is gone. */
  storedPacking(): PackingPlan | undefined {
    return this.#state.packingPlan(this.topologyName);
  }

  completion(): Completion | undefined {
    if (this.#submitted === undefined) return undefined;
    const completion = this.#state.completion(this.topologyName);
    return completion?.topologyId === this.#topology.topology.id ? completion : undefined;
  }

  plan(): PhysicalPlan | undefined {
    return this.#state.physicalPlan(this.topologyName);
  }

  containerReports(): readonly ContainerReport[] {
    return this.#state.containerReports(this.topologyName);
  }

  /** Nothing of a topology that has completed or was killed; its record and its logs may stay. */
  leftovers(): ClusterLeftovers {
    const record = paths.completed(this.topologyName);
    const kept = [`${DATA_ROOT}/logs/`, `${STATE_ROOT}/`];
    return {
      processes: this.processes().map(({ name }) => name),
      stateNodes: this.#state.nodes().filter((path) => path !== record),
      files: filesBelow(this.machine.disk.tree, DATA_ROOT).filter(
        (file) => !kept.some((folder) => file.startsWith(folder)),
      ),
    };
  }

  /** True once a topology that was taken over is no more, and nothing runs on the machine. */
  get isGone(): boolean {
    return (
      this.#isLaunched && this.machine.isIdle && !this.#state.has(paths.topology(this.topologyName))
    );
  }

  get #topology(): SubmittedTopology {
    return assertDefined(this.#submitted, 'a topology has been submitted');
  }

  #commands(): ClusterCommands {
    const change = (command: 'activate' | 'deactivate'): Promise<void> =>
      this.#run(command, (tools) => {
        const { name, id } = this.#topology.topology;
        return changeState({ command, name, id }, tools);
      });
    return {
      activate: () => change('activate'),
      deactivate: () => change('deactivate'),
      kill: () =>
        this.#quickStart?.stop() ?? this.#run('kill', (tools) => kill(this.topologyName, tools)),
      restart: (container) =>
        this.#run('restart', async ({ scheduler }) => {
          if (this.#quickStart === undefined) {
            await scheduler.restart(targetOf(this.topologyName), container);
          } else throw environmentError('TOPOLOGY_NOT_FOUND', 'a quick start has no executors');
        }),
      update: (request) =>
        this.#run('update', (tools) => storeUpdate(this.#topology.topology, request, tools)),
      configure: (entry) =>
        this.#run('update', (tools) => {
          const { name, id } = this.#topology.topology;
          const parameters = { 'runtime-config': entry };
          return commandMaster({ path: '/runtime_config/update', parameters, name, id }, tools);
        }),
      repair: () =>
        this.#run('status', ({ scheduler }) => scheduler.repair(targetOf(this.topologyName))),
    };
  }

  #run<Result>(name: string, work: (tools: CommandTools) => Promise<Result>): Promise<Result> {
    const command = { name: `${COMMAND_PREFIX}${name}`, hosts: this.#hosts };
    return runCommand(this.machine, command, work);
  }

  #noteStart(process: SimulatedProcess): void {
    this.#latest.set(process.name, process);
    const task = TASK_OF_INSTANCE.exec(process.name)?.[1];
    if (task !== undefined) this.#instances.set(taskId(Number(task)), process.name);
  }

  #withProcess(name: string, act: (process: SimulatedProcess) => void): boolean {
    const process = this.process(name);
    if (process !== undefined) act(process);
    return process !== undefined;
  }
}

function withFreePort(argument: string): string {
  return argument.replace(/^(--(?:server|controller|stats)-port)=\d+$/, '$1=0');
}

function isEngineProcess(name: string): boolean {
  return !name.startsWith(COMMAND_PREFIX);
}
