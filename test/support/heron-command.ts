import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import type { TestContext } from 'node:test';
import { nodeArguments, packageRoot } from '../../src/base/entry.ts';
import { COMPILE_CACHE } from './compile-cache.ts';
import { eventually } from './eventually.ts';
import { type FoundProcess, processesWith } from './process-table.ts';
import { temporaryFolder } from './temporary-folder.ts';

export interface CommandEnd {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

export interface RunningCommand {
  readonly child: ChildProcess;
  readonly end: Promise<CommandEnd>;
}

const COMMAND = join(packageRoot(), 'bin', 'heron.mjs');

/**
 * The real command `heron` with a data root of its own, which is also the mark of all processes
 * that it starts: they inherit HERON_DATA. At the end of the test none of them may be left.
 */
export class HeronCommand {
  readonly dataRoot: string;
  /** The working directory of the commands; topology modules go here. */
  readonly folder: string;

  static async create(t: TestContext, folder?: string): Promise<HeronCommand> {
    const { path } = await temporaryFolder();
    const heron = new HeronCommand(path, folder ?? path);
    t.after(async () => {
      const left = heron.processes();
      for (const { pid } of left) process.kill(pid, 'SIGKILL');
      await eventually(() => heron.processes().length === 0);
      await rm(path, { recursive: true, force: true, maxRetries: 3 });
      assert.deepEqual(left, [], 'processes are left');
    });
    return heron;
  }

  private constructor(dataRoot: string, folder: string) {
    this.dataRoot = dataRoot;
    this.folder = folder;
  }

  /** `entry`: in place of the real one, a process that takes the same arguments. */
  start(args: readonly string[], entry: string = COMMAND): RunningCommand {
    const child = spawn(process.execPath, [...nodeArguments(), entry, ...args], {
      cwd: this.folder,
      stdio: ['ignore', 'pipe', 'pipe'],
      env: {
        ...process.env,
        HERON_DATA: this.dataRoot,
        HERON_CONFIG: join(this.folder, 'config'),
        NODE_COMPILE_CACHE: COMPILE_CACHE,
      },
    });
    const { stdout, stderr } = child;
    assert.ok(stdout !== null && stderr !== null);
    const end = Promise.all([once(child, 'close'), text(stdout), text(stderr)]).then(
      ([[code], out, err]): CommandEnd => ({ code, stdout: out, stderr: err }),
    );
    return { child, end };
  }

  run(...args: readonly string[]): Promise<CommandEnd> {
    return this.start(args).end;
  }

  /** Runs a command with --json and returns its value, which must be all of standard output. */
  async json(
    ...args: readonly string[]
  ): Promise<{ readonly code: number | null; readonly value: JsonValue }> {
    const { code, stdout, stderr } = await this.run(...args, '--json');
    try {
      return { code, value: JSON.parse(stdout) as JsonValue };
    } catch (cause) {
      throw new Error(`not one JSON value: ${stdout}\n${stderr}`, { cause });
    }
  }

  /** Every process that inherited the mark. */
  processes(): readonly FoundProcess[] {
    return processesWith(this.dataRoot);
  }

  /** Every file below the data root, without Node's compile cache. */
  async files(): Promise<readonly string[]> {
    const entries = await readdir(this.dataRoot, { recursive: true, withFileTypes: true });
    return entries
      .filter((entry) => entry.isFile())
      .map((entry) => join(entry.parentPath, entry.name).slice(this.dataRoot.length + 1))
      .filter((file) => !file.startsWith('compile-cache/'))
      .toSorted();
  }
}

/** What came out of --json; tests look into it with `assert`. */
export interface JsonValue {
  readonly [key: string]: unknown;
}
