import type { Clock } from '../base/clock.ts';
import type { Random } from '../base/random.ts';
import type { FileClaims } from './file-claims.ts';
import type { FilePositions } from './file-positions.ts';
import type { LineReader } from './line-reader.ts';

/** What a task has to do with a file that it reads, or is to read. */
export interface SharedFile {
  readonly path: string;
  /** `waiting`: another task may still hold it. `leaving`: to be given up when it is committed. */
  state: 'waiting' | 'held' | 'leaving';
  reader: LineReader | undefined;
  /** Behind the last line that was read. */
  offset: number;
  /** It has been read to its end, which does not move. */
  isDone: boolean;
  isMarkedDone: boolean;
}

/** The part of a file source that is one task's, by the newest plan. */
export interface Assignment {
  /** Absolute paths, in the order of all of them. */
  readonly paths: readonly string[];
  /** Whether all tasks of the component, which are several, see the same folder of positions. */
  readonly isCollective: boolean;
}

export interface FileShareOptions {
  /** Absolute paths, those of all tasks. */
  readonly all: readonly string[];
  readonly assignment: () => Assignment;
  readonly claims: FileClaims;
  readonly positions: FilePositions;
  readonly topologyId: string;
  readonly clock: Pick<Clock, 'now'>;
  readonly random: Random;
  readonly onWarning: (text: string) => void;
  /** A file leaves that is not read to its end. */
  readonly onLeft: (file: Readonly<SharedFile>) => void;
}

/** Between two looks at what other tasks hold or have done: small files, of which some are read. */
const LOOK_MS = 100;
const JITTER_MS = 50;
/** Far above what a process takes to start: a task without a list by then has another folder. */
const UNSEEN_MS = 60_000;

/**
 * The files of one task of a file source.
 *
 *                ┌───────── the plan gives it to this task again ────────┐
 *                ▼                                                       │
 *     waiting ──claimed, its position read──► held ──the plan takes it──► leaving ──► forgotten
 *
 * H1. A file is read while it is held, from the position to which it was committed when it was
 *     claimed. It is claimed again by others after everything that was read here is committed.
 * H2. A file that leaves is read no further.
 * H3. Where the tasks are collective the input of none of them ends before all files of all of them
 *     have been processed: a task whose input has ended can take over nothing, and an update may
 *     take any file away from the task that reads it.
 */
export class FileShare {
  readonly #options: FileShareOptions;
  #files: SharedFile[] = [];
  /** Of other tasks, known to be processed. */
  readonly #doneElsewhere = new Set<string>();
  #nextLookMs = Number.NEGATIVE_INFINITY;
  #unseenSinceMs: number | undefined;

  constructor(options: FileShareOptions) {
    this.#options = options;
  }

  get files(): readonly SharedFile[] {
    return this.#files;
  }

  get isHandingOver(): boolean {
    return this.#files.some(({ state }) => state === 'leaving');
  }

  /** As the plan has it now; what cannot be had at once is waited for. May be repeated. */
  async open(): Promise<void> {
    await this.follow();
    await this.#claim();
  }

  /** Takes up and gives up what the newest plan says. */
  async follow(): Promise<void> {
    const { all, assignment, onLeft } = this.#options;
    const assigned = new Set(assignment().paths);
    const known = new Map(this.#files.map((file) => [file.path, file]));
    for (const file of this.#files) {
      if (file.state === 'leaving' && assigned.has(file.path)) file.state = 'held';
      if (file.state !== 'held' || assigned.has(file.path)) continue;
      file.state = 'leaving';
      if (!file.isDone) onLeft(file);
    }
    this.#files = all.flatMap((path) => {
      const file = known.get(path) ?? (assigned.has(path) ? newFile(path) : undefined);
      if (file === undefined) return [];
      return assigned.has(path) || file.state === 'leaving' ? [file] : [];
    });
    this.#nextLookMs = Number.NEGATIVE_INFINITY;
    await this.#options.claims.announce();
  }

  /** The first file that can be read from `from` on, and round. */
  readable(from: SharedFile | undefined): SharedFile | undefined {
    const start = from === undefined ? 0 : Math.max(0, this.#files.indexOf(from));
    for (let index = 0; index < this.#files.length; index += 1) {
      const file = this.#files[(start + index) % this.#files.length];
      if (file !== undefined && file.state === 'held' && !file.isDone) return file;
    }
    return undefined;
  }

  /** The file that comes after one, and after the last the first. */
  behind(file: SharedFile): SharedFile | undefined {
    return this.#files[(this.#files.indexOf(file) + 1) % this.#files.length];
  }

  /** Of how many files there may be something new. */
  get readableCount(): number {
    return this.#files.filter(({ state, isDone }) => state === 'held' && !isDone).length;
  }

  /** Looks after files that other tasks have held, unless it has just done so. */
  async claimWaiting(): Promise<void> {
    if (this.#files.every(({ state }) => state !== 'waiting')) return;
    if (this.#isTimeToLook()) await this.#claim();
  }

  /** There is nothing to read: whether there never will be (H3). */
  async hasEnded(): Promise<boolean> {
    if (this.#files.some(({ state }) => state === 'waiting')) return false;
    if (!this.#options.assignment().isCollective) return true;
    if (!this.#isTimeToLook()) return false;
    return (await this.#areOthersDone()) || (await this.#isAlone());
  }

  /** Writes down which files have been processed to their ends. */
  async markDone(isCommitted: (file: SharedFile) => boolean): Promise<void> {
    const { positions, topologyId } = this.#options;
    for (const file of this.#files) {
      if (!file.isDone || file.isMarkedDone || !isCommitted(file)) continue;
      await positions.write(file.path, file.offset, topologyId);
      file.isMarkedDone = true;
    }
  }

  /** Hands over what leaves, as far as it is committed (H1). */
  async handOver(isCommitted: (file: SharedFile) => boolean): Promise<void> {
    const ready = this.#files.filter((file) => file.state === 'leaving' && isCommitted(file));
    if (ready.length === 0) return;
    await this.#options.claims.release(ready.map(({ path }) => path));
    this.#files = this.#files.filter((file) => !ready.includes(file));
  }

  /** This process is refused when another one has its task (row S41). */
  check(): Promise<void> {
    return this.#options.claims.check();
  }

  /** At an orderly end: nobody has to wait for this task any more. */
  close(): Promise<void> {
    return this.#options.claims.release(this.#files.map(({ path }) => path));
  }

  async #claim(): Promise<void> {
    const { claims, positions } = this.#options;
    const waiting = this.#files.filter(({ state }) => state === 'waiting');
    if (waiting.length === 0) return;
    const claimed = new Set(await claims.acquire(waiting.map(({ path }) => path)));
    for (const file of waiting) {
      if (!claimed.has(file.path)) continue;
      file.offset = (await positions.read(file.path)) ?? 0;
      file.state = 'held';
    }
  }

  async #areOthersDone(): Promise<boolean> {
    const { all, positions, topologyId } = this.#options;
    const held = this.#files.filter(({ state }) => state === 'held');
    const own = new Set(held.map(({ path }) => path));
    for (const path of all) {
      if (own.has(path) || this.#doneElsewhere.has(path)) continue;
      if (!(await positions.isDone(path, topologyId))) return false;
      this.#doneElsewhere.add(path);
    }
    return true;
  }

  /** Where the folder turns out not to be shared nobody's end would ever be seen. */
  async #isAlone(): Promise<boolean> {
    const { claims, clock, onWarning } = this.#options;
    const unseen = await claims.unseenTasks();
    if (unseen.length === 0) {
      this.#unseenSinceMs = undefined;
      return false;
    }
    this.#unseenSinceMs ??= clock.now();
    if (clock.now() - this.#unseenSinceMs < UNSEEN_MS) return false;
    onWarning(
      `nothing is seen of task ${unseen.join(', ')} in the folder of positions, which all tasks ` +
        'should share: this task ends without them, and takes nothing over from them',
    );
    return true;
  }

  #isTimeToLook(): boolean {
    const { clock, random } = this.#options;
    const now = clock.now();
    if (now < this.#nextLookMs) return false;
    this.#nextLookMs = now + LOOK_MS + random.below(JITTER_MS);
    return true;
  }
}

function newFile(path: string): SharedFile {
  return {
    path,
    state: 'waiting',
    reader: undefined,
    offset: 0,
    isDone: false,
    isMarkedDone: false,
  };
}
