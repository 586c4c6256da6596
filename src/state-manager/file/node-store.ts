import { dirname } from 'node:path';
import type { Files, FolderEntry } from '../../base/files.ts';
import { makeFolder } from '../../base/make-folder.ts';
import { readIfThere, removeIfThere } from '../../base/optional-files.ts';
import type { ProcessIdentities } from '../../base/process-identities.ts';
import { systemCodeOf, unless } from '../../base/system-codes.ts';
import { isStandingFolder } from '../node-path.ts';
import { sameBytes } from '../same-bytes.ts';
import { type DiskLayout, pathOfOwnerFile } from './disk-layout.ts';
import { isHolderAlive } from './holder-record.ts';
import type { TemporaryFiles } from './temporary-files.ts';

/** What lies on the disk at one path; both are undefined when nothing does. */
export interface StoredNode {
  readonly bytes: Uint8Array | undefined;
  /** The holder record of an ephemeral node's owner. */
  readonly owner: Uint8Array | undefined;
}

/** The node as users of the state manager see it (S2). */
export function liveBytes(
  { bytes, owner }: StoredNode,
  processes: ProcessIdentities,
): Uint8Array | undefined {
  return owner === undefined || isHolderAlive(owner, processes) ? bytes : undefined;
}

/** True for what a dead owner left behind, or a live one that died halfway. */
export function isLeftOver({ bytes, owner }: StoredNode, processes: ProcessIdentities): boolean {
  return owner !== undefined && (bytes === undefined || !isHolderAlive(owner, processes));
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
  readonly #files: Files;
  readonly #layout: DiskLayout;
  readonly #temporary: TemporaryFiles;

  constructor(files: Files, layout: DiskLayout, temporary: TemporaryFiles) {
    this.#files = files;
    this.#layout = layout;
    this.#temporary = temporary;
  }

  async read(path: string): Promise<StoredNode> {
    let owner = await readIfThere(this.#files, this.#layout.ownerFile(path));
    for (;;) {
      const bytes = await readIfThere(this.#files, this.#layout.nodeFile(path));
      const ownerAfter = await readIfThere(this.#files, this.#layout.ownerFile(path));
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
    await removeIfThere(this.#files, this.#layout.nodeFile(path));
    await removeIfThere(this.#files, this.#layout.ownerFile(path));
    const folder = dirname(path);
    if (isStandingFolder(folder)) return;
    // Not empty is the usual case, gone means that another process was faster.
    const expected = ['ENOTEMPTY', 'EEXIST', 'ENOENT'];
    await unless(expected, this.#files.removeFolder(this.#layout.nodeFile(folder)), undefined);
  }

  /** Names of the files in a folder, of dead owners' nodes too. */
  async list(folder: string): Promise<readonly string[]> {
    const entries = await this.#entriesOf(this.#layout.nodeFile(folder));
    return entries.filter((entry) => entry.isFile).map((entry) => entry.name);
  }

  /** Paths of all nodes with an owner's record. */
  async ephemeralPaths(): Promise<readonly string[]> {
    const entries = await this.#entriesOf(this.#layout.ownersFolder);
    return entries.map((entry) => pathOfOwnerFile(entry.name));
  }

  #entriesOf(folder: string): Promise<readonly FolderEntry[]> {
    return unless(['ENOENT'], this.#files.list(folder), []);
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
      await removeIfThere(this.#files, temporary);
      throw error;
    }
  }

  /** Makes the folder where it is missing; another process may remove it again in between. */
  async #move(from: string, to: string): Promise<void> {
    for (let attempt = 1; ; attempt += 1) {
      try {
        return await this.#files.rename(from, to);
      } catch (error) {
        if (systemCodeOf(error) !== 'ENOENT' || attempt === FOLDER_ATTEMPTS_MAX) throw error;
        await makeFolder(this.#files, dirname(to));
      }
    }
  }
}
