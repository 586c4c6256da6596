import { join } from 'node:path';
import { userError } from '../../base/errors.ts';
import { checkNodePath } from '../node-path.ts';

/*
  Where things lie under the root of a file state manager.

    <root>/<path>                    a node: its raw bytes and nothing else, as Heron lays it out
    <root>/.heron-ts/<path>          nodes of ours, such as .heron-ts/tokens/words
    <root>/.heron-ts/owners/<path>   who owns the ephemeral node (holder-record.ts)
    <root>/.heron-ts/locks/<name>    who changes a node at this moment (node-locks.ts)
    <root>/.heron-ts/temporary/…     files on their way to their place

  Heron's Tracker takes every file in `topologies/` for a topology, therefore the last three lie
  apart. In their names a node's path is percent-encoded, so that it is one name. Only the user may
  look anywhere, as is the default of Files: tokens are here.
*/

export class DiskLayout {
  readonly root: string;
  readonly ownersFolder: string;
  readonly locksFolder: string;
  readonly temporaryFolder: string;

  constructor(root: string) {
    this.root = root;
    this.ownersFolder = join(root, '.heron-ts', 'owners');
    this.locksFolder = join(root, '.heron-ts', 'locks');
    this.temporaryFolder = join(root, '.heron-ts', 'temporary');
  }

  nodeFile(path: string): string {
    return join(this.root, path);
  }

  ownerFile(path: string): string {
    return join(this.ownersFolder, encodeURIComponent(path));
  }

  lockFile(lockName: string): string {
    return join(this.locksFolder, lockName);
  }
}

export function lockNameOf(path: string): string {
  return encodeURIComponent(path);
}

/** The node whose owner record has this file name. */
export function pathOfOwnerFile(fileName: string): string {
  return decodeURIComponent(fileName);
}

/**
 * Refuses what is not a node's path, or would be a file of our own bookkeeping.
 *
 * @throws INVALID_ARGUMENT
 */
export function checkFileNodePath(path: string): void {
  checkNodePath(path);
  if (/^\.heron-ts\/(owners|locks|temporary)(\/|$)/.test(path)) {
    throw userError('INVALID_ARGUMENT', `${path} is kept for the file state manager itself`);
  }
}
