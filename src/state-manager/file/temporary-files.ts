import { open, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { isAlive, ownIdentity } from '../../base/process-identity.ts';
import { type Random, randomHex } from '../../base/random.ts';
import { FILE_MODE } from './disk-layout.ts';
import { removeIfThere } from './optional-files.ts';

/*
  Files are written here whole and then moved or linked to their place in one step (S1). Their names
  say which process made them, so that what a dead one left can be told and removed.

    name => bootId "_" pid "_" startTicks "_" random
*/
export class TemporaryFiles {
  readonly #folder: string;
  readonly #random: Random;

  constructor(folder: string, random: Random) {
    this.#folder = folder;
    this.#random = random;
  }

  /** A path that nobody else uses. */
  newPath(): string {
    const { bootId, pid, startTicks } = ownIdentity();
    return join(this.#folder, [bootId, pid, startTicks, randomHex(this.#random, 8)].join('_'));
  }

  /** Writes a new file. The bytes of a durable one survive a loss of power from then on. */
  async write(bytes: Uint8Array, options: { readonly durable: boolean }): Promise<string> {
    const path = this.newPath();
    const file = await open(path, 'wx', FILE_MODE);
    try {
      await file.writeFile(bytes);
      // Without it a rename may reach the disk before the bytes, which would leave an empty node.
      if (options.durable) await file.datasync();
    } catch (error) {
      await removeIfThere(path);
      throw error;
    } finally {
      await file.close();
    }
    return path;
  }

  /** Removes what dead processes left. */
  async sweep(): Promise<void> {
    for (const name of await readdir(this.#folder)) {
      const [bootId, pid, startTicks] = name.split('_');
      const maker = { bootId: bootId ?? '', pid: Number(pid), startTicks: Number(startTicks) };
      if (!isAlive(maker)) await removeIfThere(join(this.#folder, name));
    }
  }
}
