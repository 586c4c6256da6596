/*
  Files as the engine sees them. Everything that survives on a disk goes through this port, so that
  the simulator can bring a disk of its own: a slow one, a full one, one that loses its power.
  Logs are not part of it (RotatingFile).

  Paths are absolute. Failures are Node's: an Error with the operating system's `code`, such as
  `ENOENT`, `EEXIST`, `ENOTEMPTY`, `ENOSPC`, `EIO`.
*/

export interface FileWatch {
  /** Idempotent; no call happens after it returns. */
  close(): void;
}

export interface FileWatchEvents {
  /**
   * An entry of the folder has come, gone, been replaced or been written. Undefined: it is not
   * known which, or the folder itself has gone or was moved; whoever takes its name is not watched.
   */
  onChange(name: string | undefined): void;
  /** No events come any more; the watch has closed itself. */
  onLost(error: unknown): void;
}

export interface FolderEntry {
  readonly name: string;
  readonly isFolder: boolean;
  /** Both are false for whatever else there may be, such as a symbolic link or a pipe. */
  readonly isFile: boolean;
}

export interface FileFacts {
  readonly isFolder: boolean;
  readonly bytes: number;
  /** Never the same for two things that exist at once; a later thing may get that of a gone one. */
  readonly inode: number;
  /** Milliseconds since the epoch. */
  readonly modifiedAtMs: number;
}

export interface NewFileOptions {
  /** Fails with EEXIST when there is one already; otherwise it is replaced in place. */
  readonly exclusive?: boolean;
  /** Resolves only when the bytes survive a loss of power. */
  readonly durable?: boolean;
  /** Permission bits of a new file; 0o600 unless set. */
  readonly mode?: number;
}

export interface Files {
  read(file: string): Promise<Uint8Array>;
  /** One that fails may leave a file with a part of the bytes. */
  write(file: string, bytes: Uint8Array, options?: NewFileOptions): Promise<void>;
  /**
   * Adds bytes at the end of a file, which is made if it is not there. One that fails may leave a
   * part of the bytes. What several add at once is all there in the end, each whole.
   */
  append(
    file: string,
    bytes: Uint8Array,
    options?: Pick<NewFileOptions, 'durable' | 'mode'>,
  ): Promise<void>;
  /** Makes a file with the bytes of another, 0o600; it fails and replaces as `write` does. */
  copy(from: string, to: string): Promise<void>;
  /** In one step; replaces a file of the new name. Nothing happens if both names are one file's. */
  rename(from: string, to: string): Promise<void>;
  /** A second name for a file; fails with EEXIST. */
  link(existing: string, to: string): Promise<void>;
  /** Removes a file's name. */
  unlink(file: string): Promise<void>;
  /** Makes one folder below an existing one; fails with EEXIST. 0o700 unless `mode` is set. */
  makeFolder(folder: string, mode?: number): Promise<void>;
  /** Removes an empty folder. */
  removeFolder(folder: string): Promise<void>;
  /** Removes a file, or a folder with all that is in it; nothing there counts as success. */
  removeTree(path: string): Promise<void>;
  /** What is in a folder, in no order. */
  list(folder: string): Promise<readonly FolderEntry[]>;
  /** Dates what is there, to the millisecond; needs no room on the disk. */
  date(path: string, modifiedAtMs: number): Promise<void>;
  /** Looks behind symbolic links. */
  facts(path: string): Promise<FileFacts>;
  /** Watches one folder, not what is below it. Throws when it cannot. */
  watch(folder: string, events: FileWatchEvents): FileWatch;

  /** For the few small files that a process must have written before it goes on (pid files). */
  readNow(file: string): Uint8Array;
  writeNow(file: string, bytes: Uint8Array, options?: Pick<NewFileOptions, 'mode'>): void;
  renameNow(from: string, to: string): void;
  /** One that is not there counts as success. */
  removeNow(file: string): void;
  /** Names, in no order. */
  listNow(folder: string): readonly string[];
}
