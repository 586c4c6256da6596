import { environmentError, messageOf } from '../base/errors.ts';
import type { TaskId } from '../base/ids.ts';
import type { SourceFiles } from './source-files.ts';

export interface FileClaimsOptions {
  readonly files: Pick<SourceFiles, 'read' | 'replace'>;
  /** The folder that the tasks of the component share. */
  readonly folder: string;
  readonly component: string;
  readonly task: TaskId;
  readonly topologyId: string;
  /** Unlike that of any other process of this task. */
  readonly nonce: string;
  /** All tasks of the component in the newest plan, also those that an update takes away. */
  readonly tasks: () => readonly TaskId[];
  readonly onWarning: (text: string) => void;
}

interface Claims {
  readonly topology: string;
  readonly process: string;
  readonly files: ReadonlySet<string>;
}

/**
 * Which task of a file source reads which file, when an update gives a file to another task: a
 * small file for each task, which lists what it reads.
 *
 *     <folder>/<component>-task-<task>.json     {"topology":…,"process":…,"files":["/data/a.txt"]}
 *
 * F1. No two tasks hold one file. A task announces what it wants, and then looks at the lists of
 *     all others; what it sees there it withdraws. Of two that want the same file the one that
 *     announces later sees the other; when both see each other, neither has it, and they try again.
 * F2. The list of a task counts as long as the task is in the plan. A process that dies leaves its
 *     list to the next one of its task, which writes it anew by the plan of then; so a file waits
 *     for a task that is being started again, and for nothing else. Whether a process is alive is
 *     not asked, since it may be on another machine.
 * F3. Another process of this task, which has written the list since, is the task (row S41): what
 *     this one has still to commit is refused, and it leaves the list alone. The next process
 *     begins at what was committed.
 * F4. Lists of an earlier submit count for nothing.
 * F5. A task that is alone needs no list before there is another one: it works with a full disk.
 */
export class FileClaims {
  readonly #options: FileClaimsOptions;
  #held: ReadonlySet<string> = new Set();
  #isWritten = false;
  /** The list has been this process's own. */
  #hasBegun = false;

  constructor(options: FileClaimsOptions) {
    this.#options = options;
  }

  /** Those of the wanted files that this task holds now. */
  async acquire(wanted: readonly string[]): Promise<readonly string[]> {
    const taken = await this.#heldByOthers();
    const free = wanted.filter((file) => !taken.has(file));
    const before = this.#held;
    if (free.some((file) => !before.has(file))) await this.#write([...before, ...free]);
    const takenSince = await this.#heldByOthers();
    const mine = free.filter((file) => before.has(file) || !takenSince.has(file));
    const held = new Set([...before, ...mine]);
    if (mine.length < free.length) await this.#write([...held]);
    this.#held = held;
    return mine;
  }

  async release(files: readonly string[]): Promise<void> {
    const given = new Set(files);
    const held = [...this.#held].filter((file) => !given.has(file));
    if (held.length === this.#held.size) return;
    await this.#write(held);
    this.#held = new Set(held);
  }

  /**
   * Writes what it holds unless that has been done: others may wait for what an earlier process of
   * this task has held.
   */
  async announce(): Promise<void> {
    if (!this.#isWritten) await this.#write([...this.#held]);
  }

  /** @throws EngineError DUPLICATE_PEER (F3) */
  async check(): Promise<void> {
    const own = await this.#read(this.#options.task);
    if (own === undefined || own.process === this.#options.nonce) return;
    const { component, task } = this.#options;
    const text = `another process of '${component}' (task ${task}) reads its files now`;
    throw environmentError('DUPLICATE_PEER', text);
  }

  /** Those of the other tasks that have no list in this folder. */
  async unseenTasks(): Promise<readonly TaskId[]> {
    const lists = await this.#listsOfOthers();
    return lists.flatMap(({ task, claims }) => (claims === undefined ? [task] : []));
  }

  async #heldByOthers(): Promise<ReadonlySet<string>> {
    const lists = await this.#listsOfOthers();
    return new Set(lists.flatMap(({ claims }) => [...(claims?.files ?? [])]));
  }

  #listsOfOthers(): Promise<
    readonly { readonly task: TaskId; readonly claims: Claims | undefined }[]
  > {
    const others = this.#options.tasks().filter((task) => task !== this.#options.task);
    return Promise.all(others.map(async (task) => ({ task, claims: await this.#read(task) })));
  }

  /** Undefined when there is none that counts. */
  async #read(task: TaskId): Promise<Claims | undefined> {
    const bytes = await this.#options.files.read(this.#placeOf(task));
    const claims = bytes && parsed(bytes);
    return claims?.topology === this.#options.topologyId ? claims : undefined; // F4
  }

  async #write(files: readonly string[]): Promise<void> {
    const { topologyId, nonce, task, onWarning } = this.#options;
    const list = { topology: topologyId, process: nonce, files: [...new Set(files)] };
    const bytes = new TextEncoder().encode(`${JSON.stringify(list)}\n`);
    if (this.#hasBegun) await this.check(); // F3
    try {
      await this.#options.files.replace(this.#placeOf(task), bytes);
      this.#isWritten = true;
      this.#hasBegun = true;
    } catch (error) {
      this.#isWritten = false;
      if (this.#options.tasks().some((other) => other !== task)) throw error;
      onWarning(`the list of files that this task reads cannot be written: ${messageOf(error)}`);
    }
  }

  #placeOf(task: TaskId): string {
    return `${this.#options.folder}/${this.#options.component}-task-${task}.json`;
  }
}

/** What cannot be read holds nothing: lists are replaced as a whole, so nobody relies on it. */
function parsed(bytes: Uint8Array): Claims | undefined {
  let value: unknown;
  try {
    value = JSON.parse(new TextDecoder().decode(bytes));
  } catch {
    return undefined;
  }
  const { topology, process, files } = Object(value) as Readonly<Record<string, unknown>>;
  if (typeof topology !== 'string' || typeof process !== 'string') return undefined;
  if (!Array.isArray(files)) return undefined;
  return { topology, process, files: new Set(files.filter((file) => typeof file === 'string')) };
}
