import { join } from 'node:path';
import type { Files } from '../../base/files.ts';
import { removeIfThere } from '../../base/optional-files.ts';
import type { ProcessIdentities } from '../../base/process-identities.ts';
import { type Random, randomHex } from '../../base/random.ts';
import { systemCodeOf } from '../../base/system-codes.ts';

export interface TemporaryFilesOptions {
  readonly files: Files;
  readonly processes: ProcessIdentities;
  readonly random: Random;
}

/*
  Files are written here whole and then moved or linked to their place in one step (S1). Their names
  say which process made them, so that what a dead one left can be told and removed.

    name => bootId "_" pid "_" startTicks "_" random
*/
export class TemporaryFiles {
  readonly #folder: string;
  readonly #files: Files;
  readonly #processes: ProcessIdentities;
  readonly #random: Random;

  constructor(folder: string, options: TemporaryFilesOptions) {
    this.#folder = folder;
    this.#files = options.files;
    this.#processes = options.processes;
    this.#random = options.random;
  }

  /** A path that nobody else uses. */
  newPath(): string {
    const { bootId, pid, startTicks } = this.#processes.own();
    return join(this.#folder, [bootId, pid, startTicks, randomHex(this.#random, 8)].join('_'));
  }

  /** Writes a new file. The bytes of a durable one survive a loss of power from then on. */
  async write(bytes: Uint8Array, options: { readonly durable: boolean }): Promise<string> {
    const path = this.newPath();
    try {
      // Without `durable` a rename may reach the disk before the bytes, which would leave an empty
      // node.
      await this.#files.write(path, bytes, { exclusive: true, durable: options.durable });
    } catch (error) {
      if (systemCodeOf(error) !== 'EEXIST') await removeIfThere(this.#files, path);
      throw error;
    }
    return path;
  }

  /** Removes what dead processes left. */
  async sweep(): Promise<void> {
    for (const { name } of await this.#files.list(this.#folder)) {
      const [bootId, pid, startTicks] = name.split('_');
      const maker = { bootId: bootId ?? '', pid: Number(pid), startTicks: Number(startTicks) };
      if (this.#processes.isAlive(maker)) continue;
      await removeIfThere(this.#files, join(this.#folder, name));
    }
  }
}
