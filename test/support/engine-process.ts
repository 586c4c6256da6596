import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { text } from 'node:stream/consumers';
import type { TestContext } from 'node:test';
import { entryFile, nodeArguments } from '../../src/base/entry.ts';
import type { LogicalTopology } from '../../src/model/logical-topology.ts';
import type { PackingPlan } from '../../src/model/packing-plan.ts';
import { paths } from '../../src/state-manager/paths.ts';
import type { StateManager } from '../../src/state-manager/state-manager.ts';
import { encodePackingPlan } from '../../src/wire/packing-plan.ts';
import { encodeTopology } from '../../src/wire/topology.ts';
import { stateManagerAt } from './state-manager-at.ts';
import { temporaryFolder } from './temporary-folder.ts';

/** How a process ended, and what it wrote to standard error. */
export interface ProcessEnd {
  readonly code: number | null;
  readonly signal: string | null;
  readonly stderr: string;
}

export interface EngineProcess {
  readonly child: ChildProcess;
  readonly end: Promise<ProcessEnd>;
}

export interface StartOptions {
  /** Flags in place of, or besides, those that every process gets. */
  readonly flags?: Readonly<Record<string, string | number>>;
  readonly token?: string;
}

/**
 * The folder of a container with a submitted topology in a file state manager, in which a test
 * starts real engine processes as an executor would.
 */
export class SubmittedTopology {
  readonly topology: LogicalTopology;
  readonly folder: string;
  readonly stateManager: StateManager;
  readonly #processes: EngineProcess[] = [];

  static async create(
    t: TestContext,
    topology: LogicalTopology,
    packing: PackingPlan,
  ): Promise<SubmittedTopology> {
    const folder = await temporaryFolder();
    const submitted = new SubmittedTopology(topology, folder.path);
    const { stateManager } = submitted;
    // Nothing may write into the folder while it is removed.
    t.after(async () => {
      await submitted.#kill();
      await stateManager.close();
      await folder[Symbol.asyncDispose]();
    });
    await mkdir(submitted.logDirectory);
    await writeFile(submitted.definitionFile, encodeTopology(topology));
    await stateManager.write(paths.topology(topology.name), encodeTopology(topology));
    await stateManager.write(paths.packingPlan(topology.name), encodePackingPlan(packing));
    return submitted;
  }

  private constructor(topology: LogicalTopology, folder: string) {
    this.topology = topology;
    this.folder = folder;
    this.stateManager = stateManagerAt(this.stateRoot);
  }

  get stateRoot(): string {
    return join(this.folder, 'state');
  }

  get logDirectory(): string {
    return join(this.folder, 'log-files');
  }

  get definitionFile(): string {
    return join(this.folder, `${this.topology.name}.defn`);
  }

  /** `entry` is a process's main file: `topology-master/main`. */
  start(entry: string, { flags = {}, token = 'secret' }: StartOptions = {}): EngineProcess {
    const all = { ...this.#commonFlags(), ...flags };
    const args = Object.entries(all).map(([name, value]) => `--${name}=${value}`);
    const child = spawn(process.execPath, [...nodeArguments(), entryFile(entry), ...args], {
      cwd: this.folder,
      stdio: ['pipe', 'ignore', 'pipe'],
      env: { ...process.env, HERON_TOKEN: token },
    });
    const { stderr } = child;
    assert.ok(stderr !== null);
    const end = Promise.all([once(child, 'close'), text(stderr)]).then(
      ([[code, signal], written]): ProcessEnd => ({ code, signal, stderr: written }),
    );
    const started = { child, end };
    this.#processes.push(started);
    return started;
  }

  async #kill(): Promise<void> {
    for (const { child } of this.#processes) child.kill('SIGKILL');
    await Promise.all(this.#processes.map(({ end }) => end));
  }

  readLog(name: string): Promise<string> {
    return readFile(join(this.logDirectory, name), 'utf8');
  }

  #commonFlags(): Readonly<Record<string, string | number>> {
    return {
      'topology-name': this.topology.name,
      'topology-id': this.topology.id,
      cluster: 'local',
      role: 'tester',
      environ: 'test',
      host: '127.0.0.1',
      'container-id': 0,
      state: pathToFileURL(this.stateRoot).href,
      'definition-file': this.definitionFile,
      'log-directory': this.logDirectory,
    };
  }
}
