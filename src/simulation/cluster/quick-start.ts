import { join } from 'node:path';
import { containerId } from '../../base/ids.ts';
import { makeFolder } from '../../base/make-folder.ts';
import { ContainerProcesses } from '../../executor/container-processes.ts';
import type { ExecutorArguments } from '../../executor/executor-arguments.ts';
import { createLauncher } from '../../executor/launch-process.ts';
import { wantedProcesses } from '../../executor/wanted-processes.ts';
import { parseCompletion } from '../../model/completion.ts';
import { Settings } from '../../model/settings.ts';
import { removeRunningNodes, removeTopologyNodes } from '../../scheduler/local/state-cleanup.ts';
import { definitionFile, logFolder } from '../../scheduler/local/working-folder.ts';
import { paths } from '../../state-manager/paths.ts';
import type { RestartPolicy } from '../../supervision/restart-policy.ts';
import { childLimitMs } from '../../supervision/shutdown-limits.ts';
import { encodeTopology } from '../../wire/topology.ts';
import { DEFAULT_HOST, type SimulatedMachine } from '../machine/simulated-machine.ts';
import { CLUSTER, ENVIRON, ROLE, storeRecords } from './cluster-commands.ts';
import { type CommandTools, DATA_ROOT, openCommand, STATE } from './command-process.ts';
import type { SubmittedTopology } from './submitted-topology.ts';

/*
  A topology without scheduler and executors: one bare process starts all the others and takes them
  down, as executors do, at once and without looking for what may have been left by earlier ones.
*/

const WORKING_FOLDER = join(DATA_ROOT, 'quick');
const FIRST_PORT = 20_000;
const PORTS_PER_CONTAINER = 7;

/** The next incarnation starts as soon as the last one is gone, for as long as it takes. */
const AT_ONCE: RestartPolicy = {
  backoffMinMs: 1,
  backoffMaxMs: 1,
  attemptsMax: Number.POSITIVE_INFINITY,
  healthyAfterMs: 1,
};

export class QuickStart {
  readonly #submitted: SubmittedTopology;
  readonly #hosts: readonly string[];
  readonly #tools: CommandTools;
  readonly #containers: ContainerProcesses[] = [];
  #stopped: Promise<void> | undefined;

  constructor(
    machine: SimulatedMachine,
    submitted: SubmittedTopology,
    { name, hosts }: { readonly name: string; readonly hosts: readonly string[] },
  ) {
    this.#submitted = submitted;
    this.#hosts = hosts;
    this.#tools = openCommand(machine, { name, hosts });
  }

  /** Resolves when all processes have been started. */
  start(): Promise<void> {
    return this.#tools.run(() => this.#startAll());
  }

  /** Resolves when nothing is left but the record of a topology that has completed. */
  stop(): Promise<void> {
    return this.#tools.run(() => this.#stopOnce());
  }

  async #startAll(): Promise<void> {
    const { topology, packingPlan } = this.#submitted;
    const { environment, stateManager } = this.#tools;
    const { files } = environment;
    const token = await storeRecords(this.#submitted, this.#tools);
    await makeFolder(files, logFolder(WORKING_FOLDER));
    await files.write(definitionFile(WORKING_FOLDER, topology.name), encodeTopology(topology));
    for (const id of [containerId(0), ...packingPlan.containers.map((plan) => plan.id)]) {
      this.#startContainer(id, token);
    }
    stateManager.watch(paths.completed(topology.name), (bytes) => {
      if (bytes === undefined || parseCompletion(bytes).topologyId !== topology.id) return;
      void this.#stopOnce();
    });
  }

  #startContainer(id: ReturnType<typeof containerId>, token: string): void {
    const { topology, packingPlan } = this.#submitted;
    const { environment, logger } = this.#tools;
    const settings = new Settings(topology.config);
    const args: ExecutorArguments = {
      topologyName: topology.name,
      topologyId: topology.id,
      cluster: CLUSTER,
      role: ROLE,
      environ: ENVIRON,
      host: this.#hosts[id % this.#hosts.length] ?? DEFAULT_HOST,
      containerId: id,
      state: STATE,
      definitionFile: definitionFile(WORKING_FOLDER, topology.name),
      logDirectory: logFolder(WORKING_FOLDER),
      workingDirectory: WORKING_FOLDER,
    };
    const variables = { ...environment.variables, HERON_TOKEN: token };
    const container = new ContainerProcesses({
      launch: createLauncher({
        arguments: args,
        settings,
        environment: { ...environment, variables },
      }),
      history: new Map(),
      policy: AT_ONCE,
      graceMs: childLimitMs(settings.get('heron.shutdown.grace.ms')),
      silenceMs: settings.get('heron.executor.child.silence.ms'),
      clock: environment.clock,
      random: environment.random,
      logger,
      onChange: () => {},
      onDeath: () => {},
    });
    this.#containers.push(container);
    const port = FIRST_PORT + id * PORTS_PER_CONTAINER;
    const ports = {
      server: port,
      controller: port + 1,
      stats: port + 2,
      metricsManager: port + 3,
      metricsPages: port + 4,
      metricsCacheServer: port + 5,
      metricsCacheStats: port + 6,
      shell: 0, // There is no executor to listen on it.
    };
    container.converge(wantedProcesses(packingPlan, args, ports, { hasMetricsCache: false }));
  }

  #stopOnce(): Promise<void> {
    this.#stopped ??= this.#stopAll();
    return this.#stopped;
  }

  async #stopAll(): Promise<void> {
    const { stateManager, environment } = this.#tools;
    const { name, id } = this.#submitted.topology;
    await Promise.all(this.#containers.map((container) => container.stopAll()));
    await removeRunningNodes(stateManager, name);
    await environment.files.removeTree(WORKING_FOLDER);
    await removeTopologyNodes(stateManager, name, [id]);
    await stateManager.close();
    // In an event of its own: whoever waits for this hears of it first.
    environment.clock.soon(() => this.#tools.process.exit(0));
  }
}
