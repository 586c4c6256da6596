import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import type { TestContext } from 'node:test';
import { entryFile, nodeArguments } from '../../src/base/entry.ts';
import { topologyId } from '../../src/base/ids.ts';
import type { LogicalTopology, TopologyState } from '../../src/model/logical-topology.ts';
import { BUNDLE_FILE, BUNDLE_MAP_FILE, bundleTopology } from '../../src/package/bundle.ts';
import { linkEngine } from '../../src/package/link-engine.ts';
import { loadTopologyModule } from '../../src/package/load-module.ts';
import { encodeTopology } from '../../src/wire/topology.ts';
import { InstancePartners } from './instance-partners.ts';
import { aPlanOf } from './planned-tasks.ts';
import { temporaryFolder } from './temporary-folder.ts';

const FIXTURE = join(import.meta.dirname, '../component/instance/fixtures/behaviours-topology.ts');

/** For conditions on processes: far above what they need, so that a slow machine passes. */
export const PATIENTLY = { timeoutMs: 60_000 };

/** How an instance ended. */
export interface InstanceEnd {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
  readonly stderr: string;
}

export interface InstanceOptions {
  /** `words`, a spout, has task 1; `work`, a bolt, has task 2. */
  readonly component?: 'words' | 'work';
  /** What the components do; see behaviours-topology.ts. */
  readonly script: string;
  readonly state?: TopologyState;
  readonly config?: Readonly<Record<string, string>>;
  readonly creditBytes?: number | undefined;
  readonly flags?: Readonly<Record<string, string>>;
  readonly beforeStart?: (partners: InstancePartners) => void;
  readonly environment?: Readonly<Record<string, string>>;
}

/** The real process of one instance, with a bundle as in a container, among scripted partners. */
export class InstanceInTest {
  readonly partners: InstancePartners;
  readonly end: Promise<InstanceEnd>;
  readonly #child: ChildProcess;
  readonly #folder: string;
  readonly #instance: string;

  static async start(t: TestContext, options: InstanceOptions): Promise<InstanceInTest> {
    const { component = 'words', script, state = 'RUNNING', config = {}, flags = {} } = options;
    const { path: folder } = await temporaryFolder(t);
    const files = await (bundle ??= bundled());
    for (const [name, content] of files) await writeFile(join(folder, name), content);
    await writeFile(join(folder, 'package.json'), '{"type":"module"}\n');
    await linkEngine(folder);
    await mkdir(join(folder, 'log-files'));
    const topology = await submitted(script, state, config);
    await writeFile(join(folder, 'behaviours.defn'), encodeTopology(topology));
    const plan = aPlanOf(topology, ['words', 1], ['work', 1], ['sink', 1]);
    const partners = await InstancePartners.start(t, plan);
    if ('creditBytes' in options) partners.creditBytes = options.creditBytes;
    options.beforeStart?.(partners);
    const task = component === 'words' ? 1 : 2;
    const all = {
      'topology-name': topology.name,
      'topology-id': topology.id,
      host: '127.0.0.1',
      'container-id': '1',
      'definition-file': join(folder, 'behaviours.defn'),
      'log-directory': join(folder, 'log-files'),
      'instance-id': `container_1_${component}_${task}`,
      'component-name': component,
      'task-id': `${task}`,
      'component-index': '0',
      'stream-manager-id': 'stmgr-1',
      'stream-manager-port': `${partners.streamManagerPort}`,
      'metrics-manager-port': `${partners.metricsManagerPort}`,
      ...flags,
    };
    const args = Object.entries(all).map(([name, value]) => `--${name}=${value}`);
    const child = spawn(
      process.execPath,
      [...nodeArguments(), entryFile('instance/main'), ...args],
      {
        cwd: folder,
        stdio: ['pipe', 'ignore', 'pipe'],
        env: { ...process.env, HERON_TOKEN: 'secret', ...options.environment },
      },
    );
    const instance = new InstanceInTest(partners, child, folder, all['instance-id']);
    t.after(async () => {
      child.kill('SIGKILL');
      await instance.end;
    });
    return instance;
  }

  private constructor(
    partners: InstancePartners,
    child: ChildProcess,
    folder: string,
    instance: string,
  ) {
    const { stderr } = child;
    assert.ok(stderr !== null);
    this.partners = partners;
    this.#child = child;
    this.#folder = folder;
    this.#instance = instance;
    this.end = Promise.all([once(child, 'close'), text(stderr)]).then(
      ([[code, signal], written]): InstanceEnd => ({ code, signal, stderr: written }),
    );
  }

  get pid(): number {
    const { pid } = this.#child;
    assert.ok(pid !== undefined);
    return pid;
  }

  get isRunning(): boolean {
    return this.#child.exitCode === null && this.#child.signalCode === null;
  }

  /** Ends it as its executor does. */
  terminate(): void {
    this.#child.kill('SIGTERM');
    this.#child.stdin?.end();
  }

  /** Only the signal, as from a shell. */
  signal(): void {
    this.#child.kill('SIGTERM');
  }

  /** The executor dies: the other end of the standard input is gone. */
  losesParent(): void {
    this.#child.stdin?.end();
  }

  /** The log of the task or of the gateway, once there is one. */
  async log(of: 'task' | 'gateway'): Promise<string> {
    const suffix = of === 'task' ? '.log' : '.gateway.log';
    return readFile(join(this.#folder, 'log-files', `${this.#instance}${suffix}`), 'utf8');
  }
}

/** The fixture is bundled once, for all instances of a test file. */
let bundle: Promise<ReadonlyMap<string, Buffer>> | undefined;

async function bundled(): Promise<ReadonlyMap<string, Buffer>> {
  await using folder = await temporaryFolder();
  await bundleTopology(FIXTURE, folder.path);
  const files = new Map<string, Buffer>();
  for (const name of [BUNDLE_FILE, BUNDLE_MAP_FILE]) {
    files.set(name, await readFile(join(folder.path, name)));
  }
  return files;
}

/** The definition as `submit` would store it. */
async function submitted(
  script: string,
  state: TopologyState,
  config: Readonly<Record<string, string>>,
): Promise<LogicalTopology> {
  const args = script.split(' ');
  const { topology } = await loadTopologyModule(FIXTURE, {
    args,
    config: new Map(Object.entries(config)),
  });
  return {
    ...topology,
    id: topologyId('behaviours-1'),
    state,
    module: { file: BUNDLE_FILE, arguments: args },
  };
}
