import { readdir, rename, rmdir } from 'node:fs/promises';
import { dirname } from 'node:path';
import { sameBytes } from '../same-bytes.ts';
import { systemCodeOf, unless } from './disk-errors.ts';
import { type DiskLayout, isStandingFolder, pathOfOwnerFile } from './disk-layout.ts';
import { isHolderAlive } from './holder-record.ts';
import { makeFolder } from './make-folder.ts';
import { readIfThere, removeIfThere } from './optional-files.ts';
import type { TemporaryFiles } from './temporary-files.ts';

/** What lies on the disk at one path; both are undefined when nothing does. */
export interface StoredNode {
  readonly bytes: Uint8Array | undefined;
  /** The holder record of an ephemeral node's owner. */
  readonly owner: Uint8Array | undefined;
}

/** The node as users of the state manager see it (S2). */
export function liveBytes({ bytes, owner }: StoredNode): Uint8Array | undefined {
  return owner === undefined || isHolderAlive(owner) ? bytes : undefined;
}

/** True for what a dead owner left behind, or a live one that died halfway. */
export function isLeftOver({ bytes, owner }: StoredNode): boolean {
  return owner !== undefined && (bytes === undefined || !isHolderAlive(owner));
}

const FOLDER_ATTEMPTS_MAX = 5;

/*
  Nodes as files. An ephemeral node is two files, its bytes and its owner's record, which cannot
  change in one step; therefore:

  N1. Writers hold the node's lock. Readers do not.
  N2. The owner's record is there before the node's bytes are, and goes after them. Another owner's
      node is removed wholly first. So bytes never lie beside the record of someone else.
  N3. A reader takes the owner's record, the bytes, and the record again, until both records agree:
      no bytes that it then holds can belong to another owner (N2; records of two owners differ,
      H2).
*/
export class NodeStore {
  readonly #layout: DiskLayout;
  readonly #temporary: TemporaryFiles;

  constructor(layout: DiskLayout, temporary: TemporaryFiles) {
    this.#layout = layout;
    this.#temporary = temporary;
  }

  async read(path: string): Promise<StoredNode> {
    let owner = await readIfThere(this.#layout.ownerFile(path));
    for (;;) {
      const bytes = await readIfThere(this.#layout.nodeFile(path));
      const ownerAfter = await readIfThere(this.#layout.ownerFile(path));
      if (sameBytes(owner, ownerAfter)) return { bytes, owner };
      owner = ownerAfter;
    }
  }

  /** Needs the lock. Whatever of another owner was there must have been removed. */
  async put(
    path: string,
    node: { bytes: Uint8Array; owner: Uint8Array | undefined },
  ): Promise<void> {
    const { bytes, owner } = node;
    if (owner !== undefined) {
      // Owners do not outlive a loss of power, so their records need not either (H1).
      await this.#place(this.#layout.ownerFile(path), owner, { durable: false });
    }
    await this.#place(this.#layout.nodeFile(path), bytes, { durable: true });
  }

  /** Needs the lock. */
  async remove(path: string): Promise<void> {
    await removeIfThere(this.#layout.nodeFile(path));
    await removeIfThere(this.#layout.ownerFile(path));
    const folder = dirname(path);
    if (isStandingFolder(folder)) return;
    // Not empty is the usual case, gone means that another process was faster.
    const expected = ['ENOTEMPTY', 'EEXIST', 'ENOENT'];
    await unless(expected, rmdir(this.#layout.nodeFile(folder)), undefined);
  }

  /** Names of the files in a folder, of dead owners' nodes too. */
  async list(folder: string): Promise<readonly string[]> {
    const reading = readdir(this.#layout.nodeFile(folder), { withFileTypes: true });
    const entries = await unless(['ENOENT'], reading, []);
    return entries.filter((entry) => entry.isFile()).map((entry) => entry.name);
  }

  /** Paths of all nodes with an owner's record. */
  async ephemeralPaths(): Promise<readonly string[]> {
    return (await unless(['ENOENT'], readdir(this.#layout.ownersFolder), [])).map(pathOfOwnerFile);
  }

  async #place(
    file: string,
    bytes: Uint8Array,
    options: { readonly durable: boolean },
  ): Promise<void> {
    const temporary = await this.#temporary.write(bytes, options);
    try {
      await this.#move(temporary, file);
    } catch (error) {
      await removeIfThere(temporary);
      throw error;
    }
  }

  /** Makes the folder where it is missing; another process may remove it again in between. */
  async #move(from: string, to: string): Promise<void> {
    for (let attempt = 1; ; attempt += 1) {
      try {
        return await rename(from, to);
      } catch (error) {
        if (systemCodeOf(error) !== 'ENOENT' || attempt === FOLDER_ATTEMPTS_MAX) throw error;
        await makeFolder(dirname(to));
      }
    }
  }
}
