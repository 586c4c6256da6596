import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { globSync, lstatSync } from 'node:fs';
import { mkdir, readFile, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import type { TestContext } from 'node:test';
import { packageRoot } from '../../src/base/entry.ts';
import { topologyName } from '../../src/base/ids.ts';
import type { Completion } from '../../src/model/completion.ts';
import type { ProcessExit, ProcessState } from '../../src/model/container-report.ts';
import type { PhysicalPlan } from '../../src/model/physical-plan.ts';
import { paths } from '../../src/state-manager/paths.ts';
import type { StateAddress } from '../../src/state-manager/state-address.ts';
import type { StateManager } from '../../src/state-manager/state-manager.ts';
import { decodePhysicalPlan } from '../../src/wire/physical-plan.ts';
import { COMPILE_CACHE } from './compile-cache.ts';
import { eventually } from './eventually.ts';
import {
  type FoundProcess,
  listeningSockets,
  processesWith,
  stillListening,
} from './process-table.ts';
import { stateManagerAt } from './state-manager-at.ts';
import { temporaryFolder } from './temporary-folder.ts';

/*
  A data root of its own in which a test uses `heron` as a user would: `await aCluster(t)`.

  K1. Everything that a cluster starts carries the path of its folder in its command line or its
      environment. That is how it is found, and nothing else is ever touched.
  K2. At the end of the test nothing may be left but logs and the records of completed topologies:
      a process, a socket that is listened on or a file fails the test, and is removed.
*/

/** Role and environment of every topology of a test. */
const ROLE = 'tester';
const ENVIRON = 'test';
/** A start on a machine that is busy with other tests. */
const START_SECONDS = 120;
/** A topology that goes wrong should fail its test before the time is over. */
const RESTARTS_MAX = { 'heron.executor.restart.attempts.max': 6 };
/** For conditions on whole topologies: far above what they need, so that a slow machine passes. */
export const PATIENTLY = { timeoutMs: 120_000, pauseMs: 25 };
/** At least once where no tree is to fail by the clock, however long a start takes. */
export const UNHURRIED = { 'topology.message.timeout.secs': 100 };
/** The last process of a topology, its scheduler, ends after everything else is gone. */
const LAST_STEPS = { timeoutMs: 10_000, pauseMs: 25 };

const TOPOLOGIES = join(import.meta.dirname, '../cluster/fixtures/topologies');

/** What a command said and how it ended. */
export interface CommandEnd {
  /** Null when a signal ended it. */
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

export interface RunningCommand {
  readonly child: ChildProcess;
  readonly end: Promise<CommandEnd>;
}

export interface StartOptions {
  /** For the module's build function, after the path of the result file. */
  readonly args?: readonly (string | number)[];
  readonly config?: Readonly<Record<string, string | number>>;
}

/** What tests read of `heron status --json`. */
export interface StatusAnswer {
  readonly state: string;
  readonly containers: readonly {
    readonly id: number;
    readonly host: string;
    readonly pid: number;
    readonly processes: readonly StatusProcess[];
  }[];
  readonly errors: {
    readonly blocked: readonly StatusError[];
    readonly exceptions: readonly StatusError[];
  };
  readonly completion: Completion | null;
  readonly damage: readonly string[];
  readonly logs: string;
}

export interface StatusError {
  readonly component: string;
  readonly instance: string;
  readonly stack: string;
}

export interface StatusProcess {
  readonly name: string;
  readonly pid: number | null;
  readonly state: ProcessState;
  readonly restarts: number;
  readonly lastExit: ProcessExit | null;
}

/** Containers 1 to 3 on addresses of their own. */
export const THREE_CONTAINERS = {
  'topology.stmgrs': 3,
  'heron.scheduler.local.hosts': '127.0.0.1,127.0.0.2,127.0.0.3',
};
export const ONE_CONTAINER = { 'topology.stmgrs': 1 };

/** A cluster whose state is not where it would be without settings. */
export interface ClusterSite {
  readonly name: string;
  readonly state: StateAddress;
  /** The lines of its file of settings. */
  readonly settings: readonly string[];
}

export async function aCluster(t: TestContext, site?: ClusterSite): Promise<Cluster> {
  const folder = await temporaryFolder();
  const cluster = new Cluster(folder.path, site);
  t.after(async () => {
    try {
      await cluster.close();
    } finally {
      await folder[Symbol.asyncDispose]();
    }
  });
  await mkdir(cluster.dataRoot);
  if (site !== undefined) {
    const settings = join(cluster.configRoot, site.name);
    await mkdir(settings, { recursive: true });
    await writeFile(join(settings, 'cluster.yaml'), `${site.settings.join('\n')}\n`);
  }
  // Every process of every test compiles the same engine.
  await mkdir(COMPILE_CACHE, { recursive: true });
  await symlink(COMPILE_CACHE, join(cluster.dataRoot, 'compile-cache'));
  return cluster;
}

/** A fixture's module file. */
export function topologyModule(name: string): string {
  return join(TOPOLOGIES, `${name}.ts`);
}

export class Cluster {
  /** For the files of a test; the cluster itself lives in a folder below. */
  readonly folder: string;
  readonly dataRoot: string;
  readonly configRoot: string;
  /** The cluster's name, and the place of its topologies. */
  readonly name: string;
  readonly place: string;
  readonly #state: StateAddress;
  /** What all its processes get in their environment, besides that of the test. */
  readonly environment: Record<string, string> = {};
  readonly #sockets = new Set<string>();
  readonly #commands: RunningCommand[] = [];
  #stateManager: StateManager | undefined;

  constructor(folder: string, site?: ClusterSite) {
    this.folder = folder;
    this.dataRoot = join(folder, 'data');
    this.configRoot = join(folder, 'config');
    this.name = site?.name ?? 'local';
    this.place = `${this.name}/${ROLE}/${ENVIRON}`;
    const files = join(this.dataRoot, 'repository', 'state', this.name);
    this.#state = site?.state ?? { kind: 'file', folder: files };
  }

  /** The state tree, by the library that the engine uses itself. */
  get stateManager(): StateManager {
    this.#stateManager ??= stateManagerAt(this.#state);
    return this.#stateManager;
  }

  /** Begins a command, and leaves it running. */
  begin(command: string, ...args: readonly string[]): RunningCommand {
    const child = spawn(
      process.execPath,
      [join(packageRoot(), 'bin', 'heron.mjs'), command, ...args],
      {
        stdio: ['ignore', 'pipe', 'pipe'],
        cwd: this.folder,
        env: {
          ...process.env,
          HERON_DATA: this.dataRoot,
          HERON_CONFIG: this.configRoot,
          NODE_COMPILE_CACHE: COMPILE_CACHE,
          ...this.environment,
        },
      },
    );
    const written = Promise.all([text(child.stdout), text(child.stderr), once(child, 'close')]);
    const end = written.then(
      ([stdout, stderr, [code]]): CommandEnd => ({ code: code as number | null, stdout, stderr }),
    );
    const running = { child, end };
    this.#commands.push(running);
    return running;
  }

  /** Runs a command to its end, whichever it is. */
  heron(command: string, ...args: readonly string[]): Promise<CommandEnd> {
    return this.begin(command, ...args).end;
  }

  /** Runs a command about one topology, which has to succeed. */
  async #succeed(command: string, name: string): Promise<CommandEnd> {
    const end = await this.heron(command, '--json', this.place, name);
    assert.equal(end.code, 0, `heron ${command} ${name}: ${end.stdout}${end.stderr}`);
    return end;
  }

  /** `heron submit`, whatever becomes of it. `module` is a fixture's name or a path. */
  trySubmit(module: string, name: string, options: StartOptions = {}): Promise<CommandEnd> {
    return this.heron('submit', ...this.#startArguments(module, name, options));
  }

  async submit(module: string, name: string, options: StartOptions = {}): Promise<void> {
    const { code, stderr } = await this.trySubmit(module, name, options);
    assert.equal(code, 0, `heron submit ${name}: ${stderr}`);
    this.#noteSockets();
  }

  /** `heron run`, left running. */
  beginRun(module: string, name: string, options: StartOptions = {}): RunningCommand {
    return this.begin('run', ...this.#startArguments(module, name, options));
  }

  /**
   * Runs a topology to its end, which has to be one without losses; what it wrote as its result.
   */
  async run(module: string, name: string, options: StartOptions = {}): Promise<unknown> {
    const { code, stdout, stderr } = await this.beginRun(module, name, options).end;
    assert.equal(code, 0, `heron run ${name}: ${stdout}${stderr}`);
    return this.result(name);
  }

  async kill(name: string): Promise<void> {
    this.#noteSockets();
    await this.#succeed('kill', name);
  }

  /** `heron kill --drain`, whatever becomes of it. */
  drain(name: string): Promise<CommandEnd> {
    this.#noteSockets();
    return this.heron('kill', '--drain', `--timeout=${START_SECONDS}`, '--json', this.place, name);
  }

  /** `heron kill`, whatever becomes of it. */
  tryKill(name: string): Promise<CommandEnd> {
    return this.heron('kill', this.place, name);
  }

  async status(name: string): Promise<StatusAnswer> {
    return JSON.parse((await this.#succeed('status', name)).stdout) as StatusAnswer;
  }

  /** `heron dead-letters list --json`. */
  deadLetters(name: string): Promise<CommandEnd> {
    return this.heron('dead-letters', 'list', '--json', this.place, name);
  }

  logs(name: string): Promise<CommandEnd> {
    return this.heron('logs', this.place, name);
  }

  /** The entry of one process in an answer of `heron status`. */
  async statusOf(name: string, process: string): Promise<StatusProcess> {
    const { containers } = await this.status(name);
    const found = containers.flatMap(({ processes }) => processes).find((p) => p.name === process);
    assert.ok(found !== undefined, `heron status ${name} shows no ${process}`);
    return found;
  }

  /** Waits for a topology that ends by itself to be gone; how it ended. */
  async completion(name: string): Promise<Completion> {
    this.#noteSockets();
    await eventually(async () => {
      const node = await this.stateManager.read(paths.topology(topologyName(name)));
      assert.ok(node === undefined, `${name} is still there`);
    }, PATIENTLY);
    const { completion } = await this.status(name);
    assert.ok(completion !== null, `${name} is gone without a record of its completion`);
    return completion;
  }

  /** What a process of a running topology has logged so far; empty before it has begun. */
  async log(name: string, container: number, file: string): Promise<string> {
    const folder = join(this.dataRoot, 'topologies', this.name, ROLE, name);
    const path = join(folder, `container-${container}`, 'log-files', file);
    return readFile(path, 'utf8').catch(() => '');
  }

  /** The file that a topology writes its result to. */
  resultFile(name: string): string {
    return join(this.folder, `${name}.json`);
  }

  async result(name: string): Promise<unknown> {
    return JSON.parse(await readFile(this.resultFile(name), 'utf8'));
  }

  /** Waits for the topology master to have made it. */
  physicalPlan(name: string): Promise<PhysicalPlan> {
    return eventually(async () => {
      const bytes = await this.stateManager.read(paths.physicalPlan(topologyName(name)));
      assert.ok(bytes !== undefined, `${name} has no physical plan`);
      return decodePhysicalPlan(bytes);
    }, PATIENTLY);
  }

  /** The processes of this cluster that are alive, its commands included (K1). */
  processes(): readonly FoundProcess[] {
    return processesWith(this.folder);
  }

  /** Waits until a process with this name is there. */
  process(name: string): Promise<FoundProcess> {
    return eventually(() => {
      const found = this.processes().find((candidate) => candidate.name === name);
      assert.ok(found !== undefined, `there is no process ${name}`);
      return found;
    }, PATIENTLY);
  }

  /** Sends a signal to the process that has this name now; which process it was. */
  async killProcess(name: string, signal: NodeJS.Signals = 'SIGKILL'): Promise<FoundProcess> {
    const found = await this.process(name);
    process.kill(found.pid, signal);
    return found;
  }

  /** Sockets on which its processes listen now; at the end of the test nobody may (K2). */
  #noteSockets(): void {
    for (const socket of listeningSockets(this.processes())) this.#sockets.add(socket);
  }

  /** Fails when anything is left, and removes it (K2). */
  async close(): Promise<void> {
    try {
      await eventually(() => {
        assert.deepEqual(this.#remains(), { processes: [], sockets: [], files: [] });
      }, LAST_STEPS);
    } finally {
      await this.#stateManager?.close();
      await this.#killAll();
    }
  }

  #remains(): object {
    return {
      processes: this.processes().map(({ name }) => name),
      sockets: stillListening(this.#sockets),
      files: filesOfTopologies(this.dataRoot, this.name),
    };
  }

  async #killAll(): Promise<void> {
    await eventually(() => {
      const left = this.processes();
      for (const { pid } of left) {
        try {
          process.kill(pid, 'SIGKILL');
        } catch {
          // It has ended meanwhile.
        }
      }
      return left.length === 0;
    });
    await Promise.all(this.#commands.map(({ end }) => end));
  }

  #startArguments(module: string, name: string, options: StartOptions): readonly string[] {
    const { args = [], config = {} } = options;
    const file = module.includes('/') ? module : topologyModule(module);
    const settings = Object.entries({ ...RESTARTS_MAX, ...config }).flatMap(([key, value]) => [
      '--config-property',
      `${key}=${value}`,
    ]);
    const start = [`--timeout=${START_SECONDS}`, ...settings, this.place, file, name];
    return [...start, this.resultFile(name), ...args.map(String)];
  }
}

/** What belongs to topologies that should not be there any more. */
function filesOfTopologies(dataRoot: string, cluster: string): readonly string[] {
  const completed = `repository/state/${cluster}/.heron-ts/completed/`;
  const allowed = ['logs/', 'compile-cache', completed];
  return globSync('**', { cwd: dataRoot, exclude: ['compile-cache/**', 'logs/**'] })
    .filter((path) => !lstatSync(join(dataRoot, path)).isDirectory())
    .filter((path) => !allowed.some((start) => path.startsWith(start)));
}
