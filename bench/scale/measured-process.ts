import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readdirSync, rmSync, statSync, writeFileSync, mkdirSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { paths } from '../../src/state-manager/paths.ts';
import type { StateManager } from '../../src/state-manager/state-manager.ts';
import { encodePackingPlan } from '../../src/wire/packing-plan.ts';
import { encodeTopology } from '../../src/wire/topology.ts';
import type { SizedTopology } from './sized-topology.ts';
import { stateManagerAt } from '../../test/support/state-manager-at.ts';

export const HOST = '127.0.0.1';
export const TOKEN = 'secret';

export type Question = 'cpu' | 'memory' | 'minute';

export interface Memory {
  /** In use after a collection, with buffers outside of the heap. */
  readonly heapBytes: number;
  readonly residentBytes: number;
  readonly peakBytes: number;
}

export interface Answer extends Partial<Memory> {
  readonly ports?: object;
  readonly cpuMs?: number;
}

/** A state tree and a working folder of real files, for processes that are measured. */
export class Workplace {
  readonly folder = mkdtempSync(join(tmpdir(), 'heron-scale-'));
  readonly stateManager: StateManager;
  readonly #sized: SizedTopology;

  private constructor(sized: SizedTopology) {
    this.#sized = sized;
    this.stateManager = stateManagerAt(this.#stateRoot);
  }

  static async create(sized: SizedTopology): Promise<Workplace> {
    const workplace = new Workplace(sized);
    const { topology, packing } = sized;
    mkdirSync(workplace.#logFolder);
    writeFileSync(workplace.#definitionFile, encodeTopology(topology));
    await workplace.stateManager.write(paths.topology(topology.name), encodeTopology(topology));
    await workplace.stateManager.write(
      paths.packingPlan(topology.name),
      encodePackingPlan(packing),
    );
    return workplace;
  }

  get logBytes(): number {
    return readdirSync(this.#logFolder).reduce(
      (sum, name) => sum + statSync(join(this.#logFolder, name)).size,
      0,
    );
  }

  flags(own: Readonly<Record<string, string | number>>): readonly string[] {
    const { name, id } = this.#sized.topology;
    const flags = {
      'topology-name': name,
      'topology-id': id,
      cluster: 'local',
      role: 'bench',
      environ: 'default',
      host: HOST,
      'container-id': 0,
      state: pathToFileURL(this.#stateRoot).href,
      'definition-file': this.#definitionFile,
      'log-directory': this.#logFolder,
      ...own,
    };
    return Object.entries(flags).map(([flag, value]) => `--${flag}=${value}`);
  }

  async remove(): Promise<void> {
    await this.stateManager.close();
    rmSync(this.folder, { recursive: true });
  }

  get #stateRoot(): string {
    return join(this.folder, 'state');
  }

  get #logFolder(): string {
    return join(this.folder, 'logs');
  }

  get #definitionFile(): string {
    return join(this.folder, 'words.defn');
  }
}

/** One of the engine's processes, alone: nothing else is in its CPU time and its memory. */
export class MeasuredProcess<Ports extends object> {
  readonly ports: Ports;
  readonly pid: number;
  readonly #child: ChildProcess;

  /** Resolves when it serves. */
  static async start<Ports extends object>(
    name: 'topology-master' | 'stream-manager',
    flags: readonly string[],
  ): Promise<MeasuredProcess<Ports>> {
    const child = fork(join(import.meta.dirname, 'measured/main.ts'), [name, ...flags], {
      execArgv: ['--expose-gc', '--enable-source-maps'],
      env: { ...process.env, HERON_TOKEN: TOKEN },
      stdio: ['pipe', 'inherit', 'inherit', 'ipc'],
    });
    const { ports } = await answerOf(child);
    return new MeasuredProcess(child, ports as Ports);
  }

  private constructor(child: ChildProcess, ports: Ports) {
    this.#child = child;
    this.ports = ports;
    this.pid = child.pid ?? 0;
  }

  /** What it has used since its start, in milliseconds of CPU time. */
  async cpuMs(): Promise<number> {
    return (await this.#ask('cpu')).cpuMs ?? 0;
  }

  async memory(): Promise<Memory> {
    const { heapBytes = 0, residentBytes = 0, peakBytes = 0 } = await this.#ask('memory');
    return { heapBytes, residentBytes, peakBytes };
  }

  /** Puts its wall clock a minute forward. */
  async passMinute(): Promise<void> {
    await this.#ask('minute');
  }

  /** The CPU time that it takes for something that others do meanwhile. */
  async cpuMsDuring(work: () => Promise<unknown>): Promise<number> {
    const beforeMs = await this.cpuMs();
    await work();
    return (await this.cpuMs()) - beforeMs;
  }

  get openFiles(): number {
    return readdirSync(`/proc/${this.pid}/fd`).length;
  }

  /** At once, as a crash does. */
  async kill(): Promise<void> {
    const exited = once(this.#child, 'exit');
    this.#child.kill('SIGKILL');
    await exited;
  }

  async #ask(question: Question): Promise<Answer> {
    this.#child.send(question);
    return answerOf(this.#child);
  }
}

/** The next one. */
async function answerOf(child: ChildProcess): Promise<Answer> {
  const end = new AbortController();
  const { signal } = end;
  const answered = once(child, 'message', { signal }).then(([answer]) => answer as Answer);
  const ended = once(child, 'exit', { signal }).then(([code]) => {
    throw new Error(`the measured process has ended with ${String(code)}`);
  });
  try {
    return await Promise.race([answered, ended]);
  } finally {
    end.abort();
    await Promise.allSettled([answered, ended]);
  }
}
