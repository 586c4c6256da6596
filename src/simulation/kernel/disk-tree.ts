/*
  What is on a simulated disk: folders and files by name, as Linux keeps them, with its codes for
  what it refuses. Everything here happens at once; the disk around it takes its time.

  D1. A name leads to an inode; a file lives as long as a name or an open handle leads to it.
  D2. Inode numbers are never used again.
  D3. Whoever watches a folder is told of each of its entries that changed, by name, and of the
      folder's own end by `undefined`.
*/

import { type SystemError, systemError } from './system-error.ts';

export interface FolderWatcher {
  onChange(name: string | undefined): void;
}

export class FileNode {
  readonly inode: number;
  bytes: Uint8Array;
  modifiedAtMs: number;

  constructor(inode: number, modifiedAtMs: number) {
    this.inode = inode;
    this.bytes = new Uint8Array();
    this.modifiedAtMs = modifiedAtMs;
  }
}

export class FolderNode {
  readonly inode: number;
  readonly entries = new Map<string, DiskNode>();
  readonly watchers = new Set<FolderWatcher>();
  modifiedAtMs: number;

  constructor(inode: number, modifiedAtMs: number) {
    this.inode = inode;
    this.modifiedAtMs = modifiedAtMs;
  }
}

export type DiskNode = FileNode | FolderNode;

/** A name in a folder, whether or not something has it. */
interface Place {
  readonly folder: FolderNode;
  readonly name: string;
  readonly node: DiskNode | undefined;
}

/** A file that was opened to be written, and the place of the name that was used. */
export interface OpenFile {
  readonly file: FileNode;
  readonly folder: FolderNode;
  readonly name: string;
}

export class DiskTree {
  readonly #root: FolderNode;
  readonly #wallNow: () => number;
  #inodes = 1;

  /** `wallNow`: what files are dated by. */
  constructor(wallNow: () => number) {
    this.#wallNow = wallNow;
    this.#root = new FolderNode(this.#inodes, wallNow());
  }

  read(path: string): Uint8Array {
    const node = this.node(path, 'open');
    if (node instanceof FolderNode) throw systemError('EISDIR', 'read', path);
    return node.bytes.slice();
  }

  /** Makes a file or empties one. */
  open(path: string, { exclusive = false, refusesNew = false } = {}): OpenFile {
    const { folder, name, node } = this.#place(path, 'open');
    if (node !== undefined && exclusive) throw systemError('EEXIST', 'open', path);
    if (node instanceof FolderNode) throw systemError('EISDIR', 'open', path);
    if (node === undefined && refusesNew) throw systemError('ENOSPC', 'open', path);
    const file = node ?? new FileNode(this.#newInode(), this.#wallNow());
    if (node === undefined) this.#enter(folder, name, file);
    const opened = { file, folder, name };
    if (file.bytes.length > 0) this.overwrite(opened, new Uint8Array());
    return opened;
  }

  /** Makes a file, or takes the one that is there as it is. */
  openToExtend(path: string, refusesNew: boolean): OpenFile {
    const { folder, name, node } = this.#place(path, 'open');
    if (node instanceof FileNode) return { file: node, folder, name };
    return this.open(path, { refusesNew });
  }

  extend(opened: OpenFile, bytes: Uint8Array): void {
    this.overwrite(opened, Buffer.concat([opened.file.bytes, bytes]));
  }

  overwrite({ file, folder, name }: OpenFile, bytes: Uint8Array): void {
    file.bytes = bytes.slice();
    file.modifiedAtMs = this.#wallNow();
    tell(folder, name);
  }

  date(path: string, modifiedAtMs: number): void {
    const { folder, name, node } = this.#place(path, 'utime');
    if (node === undefined) throw systemError('ENOENT', 'utime', path);
    node.modifiedAtMs = modifiedAtMs;
    tell(folder, name);
  }

  rename(from: string, to: string): void {
    const source = this.#place(from, 'rename', to);
    const moved = source.node;
    if (moved === undefined) throw systemError('ENOENT', 'rename', from, to);
    const target = this.#place(to, 'rename', from);
    if (target.node === moved) return;
    if (moved instanceof FolderNode && this.#isBelow(target.folder, moved)) {
      throw systemError('EINVAL', 'rename', from, to);
    }
    const refusal = refusalToReplace(target.node, moved);
    if (refusal !== undefined) throw systemError(refusal, 'rename', from, to);
    if (target.node instanceof FolderNode) endFolder(target.node);
    this.#leave(source.folder, source.name);
    this.#enter(target.folder, target.name, moved);
    if (moved instanceof FolderNode) tell(moved, undefined);
  }

  link(existing: string, to: string): void {
    const node = this.#place(existing, 'link', to).node;
    if (node === undefined) throw systemError('ENOENT', 'link', existing, to);
    const target = this.#place(to, 'link', existing);
    if (target.node !== undefined) throw systemError('EEXIST', 'link', existing, to);
    if (node instanceof FolderNode) throw systemError('EPERM', 'link', existing, to);
    this.#enter(target.folder, target.name, node);
  }

  unlink(path: string): void {
    const { folder, name, node } = this.#place(path, 'unlink');
    if (node === undefined) throw systemError('ENOENT', 'unlink', path);
    if (node instanceof FolderNode) throw systemError('EISDIR', 'unlink', path);
    this.#leave(folder, name);
  }

  makeFolder(path: string): void {
    const { folder, name, node } = this.#place(path, 'mkdir');
    if (node !== undefined) throw systemError('EEXIST', 'mkdir', path);
    this.#enter(folder, name, new FolderNode(this.#newInode(), this.#wallNow()));
  }

  removeFolder(path: string): void {
    const { folder, name, node } = this.#place(path, 'rmdir');
    if (node === undefined) throw systemError('ENOENT', 'rmdir', path);
    if (node instanceof FileNode) throw systemError('ENOTDIR', 'rmdir', path);
    if (node.entries.size > 0) throw systemError('ENOTEMPTY', 'rmdir', path);
    this.#leave(folder, name);
    endFolder(node);
  }

  /** True when it has removed something. */
  removeTree(path: string): boolean {
    const place = this.#find(path);
    if (place?.node === undefined) return false;
    if (place.node instanceof FolderNode) this.#empty(place.node);
    this.#leave(place.folder, place.name);
    if (place.node instanceof FolderNode) endFolder(place.node);
    return true;
  }

  /** The folder's entries, oldest first. */
  list(path: string): readonly (readonly [string, DiskNode])[] {
    return [...this.folder(path, 'scandir').entries];
  }

  folder(path: string, call: string): FolderNode {
    const node = this.node(path, call);
    if (node instanceof FileNode) throw systemError('ENOTDIR', call, path);
    return node;
  }

  node(path: string, call: string): DiskNode {
    const parts = partsOf(path);
    if (parts.length === 0) return this.#root;
    const { node } = this.#place(path, call);
    if (node === undefined) throw systemError('ENOENT', call, path);
    return node;
  }

  exists(path: string): boolean {
    return partsOf(path).length === 0 || this.#find(path)?.node !== undefined;
  }

  /** Makes a folder and those above it where they are missing. */
  makeFolders(path: string): void {
    const parts = partsOf(path);
    for (let depth = 1; depth <= parts.length; depth += 1) {
      const folder = `/${parts.slice(0, depth).join('/')}`;
      if (!this.exists(folder)) this.makeFolder(folder);
    }
  }

  /** Makes a file, with the folders above it. */
  put(path: string, bytes: Uint8Array): void {
    this.makeFolders(path.slice(0, path.lastIndexOf('/')));
    this.overwrite(this.open(path), bytes);
  }

  /** The paths of all files below a folder, sorted; empty folders as `path/`. */
  paths(below = '/'): readonly string[] {
    if (!this.exists(below)) return [];
    const found: string[] = [];
    const visit = (folder: FolderNode, prefix: string): void => {
      if (folder.entries.size === 0) found.push(prefix);
      for (const [name, node] of folder.entries) {
        if (node instanceof FolderNode) visit(node, `${prefix}${name}/`);
        else found.push(`${prefix}${name}`);
      }
    };
    const parts = partsOf(below);
    visit(this.folder(below, 'scandir'), parts.length === 0 ? '/' : `/${parts.join('/')}/`);
    return found.toSorted();
  }

  #newInode(): number {
    this.#inodes += 1;
    return this.#inodes;
  }

  #enter(folder: FolderNode, name: string, node: DiskNode): void {
    folder.entries.set(name, node);
    this.#touch(folder, name);
  }

  #leave(folder: FolderNode, name: string): void {
    folder.entries.delete(name);
    this.#touch(folder, name);
  }

  #touch(folder: FolderNode, name: string): void {
    folder.modifiedAtMs = this.#wallNow();
    tell(folder, name);
  }

  #empty(folder: FolderNode): void {
    for (const [name, node] of folder.entries) {
      if (node instanceof FolderNode) this.#empty(node);
      this.#leave(folder, name);
      if (node instanceof FolderNode) endFolder(node);
    }
  }

  #isBelow(folder: FolderNode, above: FolderNode): boolean {
    if (folder === above) return true;
    for (const node of above.entries.values()) {
      if (node instanceof FolderNode && this.#isBelow(folder, node)) return true;
    }
    return false;
  }

  /** Undefined when it is below nothing or below a file. */
  #find(path: string): Place | undefined {
    try {
      return this.#place(path, 'stat');
    } catch {
      return undefined; // Both mean that nothing is there.
    }
  }

  #place(path: string, call: string, otherPath?: string): Place {
    const refuse = (code: 'ENOENT' | 'ENOTDIR' | 'EBUSY'): SystemError =>
      systemError(code, call, path, otherPath);
    const parts = partsOf(path);
    const name = parts.pop();
    if (name === undefined) throw refuse('EBUSY'); // The root has no name that could be changed.
    let folder = this.#root;
    for (const part of parts) {
      const next = folder.entries.get(part);
      if (next === undefined) throw refuse('ENOENT');
      if (next instanceof FileNode) throw refuse('ENOTDIR');
      folder = next;
    }
    return { folder, name, node: folder.entries.get(name) };
  }
}

/** Why the thing may not take the place of another. */
function refusalToReplace(
  replaced: DiskNode | undefined,
  moved: DiskNode,
): 'EISDIR' | 'ENOTDIR' | 'ENOTEMPTY' | undefined {
  if (replaced === undefined) return undefined;
  if (moved instanceof FileNode) return replaced instanceof FolderNode ? 'EISDIR' : undefined;
  if (replaced instanceof FileNode) return 'ENOTDIR';
  return replaced.entries.size > 0 ? 'ENOTEMPTY' : undefined;
}

function tell(folder: FolderNode, name: string | undefined): void {
  for (const watcher of folder.watchers) watcher.onChange(name);
}

/** Its watchers hear of nothing after its end. */
function endFolder(folder: FolderNode): void {
  tell(folder, undefined);
  folder.watchers.clear();
}

function partsOf(path: string): string[] {
  return path.split('/').filter((part) => part !== '' && part !== '.');
}
