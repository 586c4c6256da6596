import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import { type Clock, systemClock } from '../../../src/base/clock.ts';
import type { Files } from '../../../src/base/files.ts';
import { systemFiles } from '../../../src/base/system-files.ts';
import type { StateManager } from '../../../src/state-manager/state-manager.ts';
import { RemoteClient } from './remote-client.ts';
import { stateManagerAt } from '../../support/state-manager-at.ts';

interface ConnectOptions {
  /** Another root than the test's. */
  readonly root?: string;
  readonly clock?: Clock;
  readonly files?: Files;
}

/**
 * A state folder for one test, and everybody who uses it. At the end of the test the users go
 * first: a watch would make the folder again.
 */
export class StateRoot {
  readonly path: string;
  readonly #endings: (() => Promise<void>)[] = [];

  constructor(path: string, t: TestContext) {
    this.path = path;
    t.after(async () => {
      for (const end of this.#endings) await end();
      await rm(join(path, '..'), { recursive: true, force: true });
    });
  }

  /** A manager in the test's own process. */
  connect(options: ConnectOptions = {}): StateManager {
    const { root = this.path, clock = systemClock, files = systemFiles } = options;
    const manager = stateManagerAt(root, { clock, files });
    this.#endings.push(() => manager.close());
    return manager;
  }

  /** A manager in a process of its own. */
  spawn(): RemoteClient {
    const client = new RemoteClient({ kind: 'file', folder: this.path });
    this.#endings.push(() => client.kill());
    return client;
  }

  /** All files, as paths relative to the root, sorted. */
  async files(): Promise<readonly string[]> {
    const entries = await readdir(this.path, { recursive: true, withFileTypes: true });
    return entries
      .filter((entry) => entry.isFile())
      .map((entry) => join(entry.parentPath, entry.name).slice(this.path.length + 1))
      .toSorted();
  }

  /** Names in a folder below the root. */
  names(folder: string): Promise<readonly string[]> {
    return readdir(join(this.path, folder));
  }
}

/** The folder itself does not exist yet. */
export async function stateRoot(t: TestContext): Promise<StateRoot> {
  return new StateRoot(join(await mkdtemp(join(tmpdir(), 'heron-test-')), 'state'), t);
}
