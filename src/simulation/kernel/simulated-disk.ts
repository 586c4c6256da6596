/*
  The disk of a simulated machine.

  D1. An operation takes effect at one moment, some time after it was asked for, and whoever asked
      hears of it some time later still. A thread that dies in between never hears.
  D2. A write is two operations, as on a real disk: the file is made or emptied, then filled. A
      thread that dies in between leaves an empty file.
  D3. Operations that were asked for together may take effect in any order.
*/

import type {
  FileFacts,
  Files,
  FileWatch,
  FileWatchEvents,
  FolderEntry,
  NewFileOptions,
} from '../../base/files.ts';
import type { Random } from '../../base/random.ts';
import { DiskFaults } from './disk-faults.ts';
import { DiskTree, FileNode, FolderNode, type FolderWatcher, type OpenFile } from './disk-tree.ts';
import type { Kernel } from './kernel.ts';
import { isOneOf } from './named-random.ts';
import type { SimulatedThread, ThreadDependent } from './simulated-thread.ts';
import { MICROSECONDS_PER_MILLISECOND, WallClock } from './simulated-time.ts';
import { systemError } from './system-error.ts';

/** A file system in the page cache; now and then a thread of the pool is late. */
const OPERATION_US = 100;
const SLOW_OPERATIONS = 128;
const SLOW_OPERATION_US = 5000;
/** Until the medium has it. */
const DURABLE_US = 3000;
const HEARD_US = 20;
const WATCH_US = 200;
/** What one that blocks the thread costs it. */
const NOW_MS = 0.03;

export class SimulatedDisk {
  readonly faults = new DiskFaults();
  /** What is on it now: to furnish it, and to look at it from outside of the world. */
  readonly tree: DiskTree;
  readonly #kernel: Kernel;
  readonly #random: Random;

  /** `name` tells the disks of a world apart. */
  constructor(kernel: Kernel, name = 'disk', wallClock: WallClock = new WallClock()) {
    this.#kernel = kernel;
    this.#random = kernel.random(`disk ${name}`);
    this.tree = new DiskTree(() => wallClock.at(kernel.nowUs));
  }

  /** The disk as a thread has it. */
  filesOf(thread: SimulatedThread): Files {
    return new ThreadFiles(this, thread);
  }

  /** For ThreadFiles: an operation from its request to its effect (D1). */
  operate<T>(
    thread: SimulatedThread,
    { call, paths, extraUs = 0 }: Operation,
    effect: () => T,
  ): Promise<T> {
    return new Promise((resolve, reject) => {
      const hear = (told: () => void): void => {
        thread.post(ms(this.#random.below(HEARD_US)), told);
      };
      const attempt = (): void => {
        if (thread.state === 'dead') return;
        const outage = this.faults.outageOf(paths);
        if (outage === 'hanging') {
          this.faults.wait(attempt);
          return;
        }
        try {
          if (outage === 'failing') throw systemError('EIO', call, paths[0] ?? '');
          const result = effect();
          hear(() => resolve(result));
        } catch (error) {
          hear(() => reject(error));
        }
      };
      this.#kernel.at(ms(this.#latencyUs() + extraUs) + this.faults.delayMsOf(paths), attempt);
    });
  }

  /** For ThreadFiles: one that the thread waits for on the spot. */
  operateNow<T>(thread: SimulatedThread, { call, paths }: Operation, effect: () => T): T {
    thread.spend(NOW_MS + this.faults.delayMsOf(paths));
    if (this.faults.outageOf(paths) !== undefined) throw systemError('EIO', call, paths[0] ?? '');
    return effect();
  }

  /** For ThreadFiles. A full disk takes a part (disk-faults, F1). */
  fill(opened: OpenFile, bytes: Uint8Array, path: string): void {
    if (!this.faults.isFull || bytes.length === 0) {
      this.tree.overwrite(opened, bytes);
      return;
    }
    this.tree.overwrite(opened, bytes.subarray(0, this.#random.below(bytes.length)));
    throw systemError('ENOSPC', 'write', path);
  }

  /** For ThreadFiles. A full disk takes a part (disk-faults, F1). */
  extend(opened: OpenFile, bytes: Uint8Array, path: string): void {
    if (!this.faults.isFull || bytes.length === 0) {
      this.tree.extend(opened, bytes);
      return;
    }
    this.tree.extend(opened, bytes.subarray(0, this.#random.below(bytes.length)));
    throw systemError('ENOSPC', 'write', path);
  }

  /** For ThreadFiles. */
  refuseMore(call: string, path: string): void {
    if (this.faults.isFull) throw systemError('ENOSPC', call, path);
  }

  /** For ThreadFiles. The order of a folder's entries says nothing. */
  inNoOrder<T>(entries: readonly T[]): readonly T[] {
    if (entries.length < 2) return entries;
    const first = this.#random.below(entries.length);
    return [...entries.slice(first), ...entries.slice(0, first)];
  }

  /** For ThreadFiles. */
  watchDelayMs(): number {
    return ms(this.#random.below(WATCH_US));
  }

  #latencyUs(): number {
    const slowUs = isOneOf(this.#random, SLOW_OPERATIONS)
      ? this.#random.below(SLOW_OPERATION_US)
      : 0;
    return OPERATION_US / 2 + this.#random.below(OPERATION_US) + slowUs;
  }
}

interface Operation {
  readonly call: string;
  readonly paths: readonly string[];
  readonly extraUs?: number;
}

class ThreadFiles implements Files {
  readonly #disk: SimulatedDisk;
  readonly #thread: SimulatedThread;

  constructor(disk: SimulatedDisk, thread: SimulatedThread) {
    this.#disk = disk;
    this.#thread = thread;
  }

  get #tree(): DiskTree {
    return this.#disk.tree;
  }

  read(file: string): Promise<Uint8Array> {
    return this.#operate('open', [file], () => this.#tree.read(file));
  }

  async write(file: string, bytes: Uint8Array, options: NewFileOptions = {}): Promise<void> {
    const { exclusive = false, durable = false } = options;
    const opened = await this.#open(file, exclusive);
    const extraUs = durable ? DURABLE_US : 0;
    await this.#operate('write', [file], () => this.#disk.fill(opened, bytes, file), extraUs);
  }

  async append(
    file: string,
    bytes: Uint8Array,
    { durable = false }: Pick<NewFileOptions, 'durable'> = {},
  ): Promise<void> {
    const opened = await this.#operate('open', [file], () =>
      this.#tree.openToExtend(file, this.#disk.faults.isFull),
    );
    const extraUs = durable ? DURABLE_US : 0;
    await this.#operate('write', [file], () => this.#disk.extend(opened, bytes, file), extraUs);
  }

  async copy(from: string, to: string): Promise<void> {
    const bytes = await this.#operate('copyfile', [from, to], () => this.#tree.read(from));
    const opened = await this.#open(to, false);
    await this.#operate('copyfile', [from, to], () => this.#disk.fill(opened, bytes, to));
  }

  rename(from: string, to: string): Promise<void> {
    return this.#operate('rename', [from, to], () => this.#tree.rename(from, to));
  }

  link(existing: string, to: string): Promise<void> {
    return this.#operate('link', [existing, to], () => {
      if (!this.#tree.exists(to)) this.#disk.refuseMore('link', to);
      this.#tree.link(existing, to);
    });
  }

  unlink(file: string): Promise<void> {
    return this.#operate('unlink', [file], () => this.#tree.unlink(file));
  }

  makeFolder(folder: string): Promise<void> {
    return this.#operate('mkdir', [folder], () => {
      if (!this.#tree.exists(folder)) this.#disk.refuseMore('mkdir', folder);
      this.#tree.makeFolder(folder);
    });
  }

  removeFolder(folder: string): Promise<void> {
    return this.#operate('rmdir', [folder], () => this.#tree.removeFolder(folder));
  }

  async removeTree(path: string): Promise<void> {
    await this.#operate('rm', [path], () => this.#tree.removeTree(path));
  }

  list(folder: string): Promise<readonly FolderEntry[]> {
    return this.#operate('scandir', [folder], () =>
      this.#disk.inNoOrder(this.#tree.list(folder)).map(([name, node]) => ({
        name,
        isFolder: node instanceof FolderNode,
        isFile: node instanceof FileNode,
      })),
    );
  }

  facts(path: string): Promise<FileFacts> {
    return this.#operate('stat', [path], () => {
      const node = this.#tree.node(path, 'stat');
      const { inode, modifiedAtMs } = node;
      const isFolder = node instanceof FolderNode;
      return { isFolder, bytes: isFolder ? 0 : node.bytes.length, inode, modifiedAtMs };
    });
  }

  date(path: string, modifiedAtMs: number): Promise<void> {
    return this.#operate('utime', [path], () => this.#tree.date(path, modifiedAtMs));
  }

  watch(folder: string, events: FileWatchEvents): FileWatch {
    return this.#operateNow('watch', [folder], () => {
      const node = this.#tree.folder(folder, 'watch');
      const watch = new SimulatedFileWatch(this.#disk, this.#thread, node, events);
      watch.open();
      return watch;
    });
  }

  readNow(file: string): Uint8Array {
    return this.#operateNow('open', [file], () => this.#tree.read(file));
  }

  writeNow(file: string, bytes: Uint8Array): void {
    this.#change('open', [file], () => {
      const opened = this.#tree.open(file, { refusesNew: this.#disk.faults.isFull });
      this.#disk.fill(opened, bytes, file);
    });
  }

  renameNow(from: string, to: string): void {
    this.#change('rename', [from, to], () => this.#tree.rename(from, to));
  }

  removeNow(file: string): void {
    this.#change('unlink', [file], () => {
      try {
        this.#tree.unlink(file);
      } catch (error) {
        if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
      }
    });
  }

  listNow(folder: string): readonly string[] {
    return this.#operateNow('scandir', [folder], () =>
      this.#disk.inNoOrder(this.#tree.list(folder)).map(([name]) => name),
    );
  }

  #open(file: string, exclusive: boolean): Promise<OpenFile> {
    return this.#operate('open', [file], () =>
      this.#tree.open(file, { exclusive, refusesNew: this.#disk.faults.isFull }),
    );
  }

  #operate<T>(
    call: string,
    paths: readonly string[],
    effect: () => T,
    extraUs?: number,
  ): Promise<T> {
    const operation = extraUs === undefined ? { call, paths } : { call, paths, extraUs };
    return this.#disk.operate(this.#thread, operation, effect);
  }

  #operateNow<T>(call: string, paths: readonly string[], effect: () => T): T {
    return this.#disk.operateNow(this.#thread, { call, paths }, effect);
  }

  /** What is left of a dead thread's last event changes nothing any more. */
  #change(call: string, paths: readonly string[], effect: () => void): void {
    if (this.#thread.state !== 'dead') this.#operateNow(call, paths, effect);
  }
}

class SimulatedFileWatch implements FileWatch, FolderWatcher, ThreadDependent {
  readonly #disk: SimulatedDisk;
  readonly #thread: SimulatedThread;
  readonly #folder: FolderNode;
  readonly #events: FileWatchEvents;
  #isClosed = false;

  constructor(
    disk: SimulatedDisk,
    thread: SimulatedThread,
    folder: FolderNode,
    events: FileWatchEvents,
  ) {
    this.#disk = disk;
    this.#thread = thread;
    this.#folder = folder;
    this.#events = events;
  }

  open(): void {
    if (this.#thread.state === 'dead') return;
    this.#folder.watchers.add(this);
    this.#thread.attach(this);
  }

  onChange(name: string | undefined): void {
    this.#thread.post(this.#disk.watchDelayMs(), () => {
      if (!this.#isClosed) this.#events.onChange(name);
    });
  }

  onThreadKilled(): void {
    this.close();
  }

  close(): void {
    this.#isClosed = true;
    this.#folder.watchers.delete(this);
    this.#thread.detach(this);
  }
}

function ms(us: number): number {
  return us / MICROSECONDS_PER_MILLISECOND;
}
