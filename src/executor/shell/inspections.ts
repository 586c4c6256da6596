import { mkdir, readdir, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import type { Clock } from '../../base/clock.ts';
import { environmentError, messageOf } from '../../base/errors.ts';
import { isoTime } from '../../base/iso-time.ts';
import { BYTES_PER_MB } from '../../base/units.ts';
import type { InspectionFile, InspectionWish } from '../../inspection/requests.ts';
import { parseAnswer } from '../../inspection/requests.ts';
import { INSPECTIONS_FOLDER } from '../../model/inspections-folder.ts';
import type { ProcessHandle } from '../../supervision/process-handle.ts';
import { ShellRefusal } from './shell-refusal.ts';

/*
  Asks the processes of a container about themselves, and keeps what they write.

  I5. One question per process at a time, also while a late answer to an earlier one may still come:
      the process itself refuses then.
  I6. Every question ends: with the answer, with the process, or by its limit.
  I7. `<container>/inspections` has bounds in number and bytes; the oldest files make room before
      something is written.
*/

/** Some for each process of a usual container; more are of no use to anybody. */
const FILES_MAX = 20;
/** A heap snapshot has about the size of the heap: those of one bad hour of one process. */
const BYTES_MAX = 2_048 * BYTES_PER_MB;

/** What a process may take beyond what was asked for. */
const ANSWER_MS = 10_000;
/** A little longer than the process itself waits (inspection/heap-snapshot.ts). */
const HEAP_MS = 250_000;
const MS_PER_S = 1_000;

/** What can be asked; files are named here. */
export type ShellWish =
  | Exclude<InspectionWish, { readonly file: string }>
  | { readonly kind: 'profile'; readonly seconds: number }
  | { readonly kind: 'heap' };

export interface InspectionsOptions {
  /** The container's. */
  readonly folder: string;
  readonly clock: Clock;
  /** The life of a process that runs; undefined while none does. */
  readonly handleOf: (process: string) => ProcessHandle | undefined;
  /** Lets a process be silent until `work` has settled. */
  readonly withSilence: <Result>(name: string, work: () => Promise<Result>) => Promise<Result>;
  /** The executor, who looks at itself. */
  readonly own: string;
}

/** A file from the container's folder. */
export interface Inspected {
  readonly file: string;
  readonly bytes: number;
}

type Settle = (answer: { readonly result?: unknown; readonly problem?: string }) => void;

export class Inspections {
  readonly #options: InspectionsOptions;
  readonly #busy = new Set<string>();
  readonly #waiting = new Map<number, Settle>();
  readonly #heard = new WeakSet<ProcessHandle>();
  #id = 0;

  constructor(options: InspectionsOptions) {
    this.#options = options;
  }

  /** @throws EngineError INSPECTION_FAILED, or ShellRefusal */
  async ask(
    process: string,
    wish: Exclude<ShellWish, { kind: 'profile' | 'heap' }>,
  ): Promise<unknown> {
    return await this.#alone(process, () => this.#inspect(process, wish));
  }

  /** Resolves when the file is there. @throws EngineError INSPECTION_FAILED, or ShellRefusal */
  async write(
    process: string,
    wish: Extract<ShellWish, { kind: 'profile' | 'heap' }>,
  ): Promise<Inspected> {
    return await this.#alone(process, async () => {
      const name = await this.#makeRoom(process, wish.kind);
      const file = join(this.#options.folder, name);
      // A heap snapshot makes its process stand still; the limit of the wish bounds that.
      const written = (await this.#options.withSilence(process, () =>
        this.#inspect(process, { ...wish, file }),
      )) as InspectionFile;
      return { file: name, bytes: written.bytes };
    });
  }

  async #alone<Result>(process: string, work: () => Promise<Result>): Promise<Result> {
    if (this.#busy.has(process)) {
      throw new ShellRefusal(409, `${process} is being inspected already: wait until that is over`);
    }
    this.#busy.add(process);
    try {
      return await work();
    } finally {
      this.#busy.delete(process);
    }
  }

  async #inspect(process: string, wish: InspectionWish): Promise<unknown> {
    if (process === this.#options.own) {
      const { inspect } = await import('../../inspection/inspect.ts');
      return await inspect(wish, { thread: 'own' });
    }
    const handle = this.#options.handleOf(process);
    if (handle?.channel === undefined) throw new ShellRefusal(503, whyNot(process, handle));
    const { result, problem } = await this.#askChild(handle, wish);
    if (problem === undefined) return result;
    throw environmentError('INSPECTION_FAILED', `${process}: ${problem}`, { retryable: true });
  }

  /** I6 */
  #askChild(handle: ProcessHandle, wish: InspectionWish): Promise<Parameters<Settle>[0]> {
    const { promise, resolve } = Promise.withResolvers<Parameters<Settle>[0]>();
    this.#listenTo(handle);
    this.#id += 1;
    const id = this.#id;
    const limit = this.#options.clock.after(limitMsOf(wish), () => {
      resolve({ problem: 'it does not answer: it is starting, or its event loop is blocked' });
    });
    void handle.ended.then(() => resolve({ problem: 'it ended before it could answer' }));
    this.#waiting.set(id, resolve);
    if (handle.channel?.send(JSON.stringify({ id, wish })) !== true) {
      resolve({ problem: 'it reads no questions: it is ending' });
    }
    return promise.finally(() => {
      limit.cancel();
      this.#waiting.delete(id);
    });
  }

  #listenTo(handle: ProcessHandle): void {
    if (this.#heard.has(handle)) return;
    this.#heard.add(handle);
    handle.channel?.listen((line) => {
      const answer = parseAnswer(line);
      if (answer !== undefined) this.#waiting.get(answer.id)?.(answer);
    });
  }

  /** Resolves with the name of a new file, from the container's folder (I7). */
  async #makeRoom(process: string, kind: 'profile' | 'heap'): Promise<string> {
    const folder = join(this.#options.folder, INSPECTIONS_FOLDER);
    try {
      await mkdir(folder, { recursive: true, mode: 0o700 });
      await removeOldest(folder);
    } catch (cause) {
      const text = `cannot use ${folder}: ${messageOf(cause)}`;
      throw environmentError('INSPECTION_FAILED', text, { cause });
    }
    const ending = kind === 'profile' ? 'cpuprofile' : 'heapsnapshot';
    const time = isoTime(this.#options.clock.wallNow()).replaceAll(/[:.]/g, '-');
    return `${INSPECTIONS_FOLDER}/${process}.${time}.${ending}`;
  }
}

function whyNot(process: string, handle: ProcessHandle | undefined): string {
  return handle === undefined
    ? `${process} does not run at the moment; heron status says why`
    : `${process} cannot be inspected: a debugger looks into it`;
}

function limitMsOf(wish: InspectionWish): number {
  if (wish.kind === 'heap') return HEAP_MS;
  const seconds = wish.kind === 'profile' || wish.kind === 'sample' ? wish.seconds : 0;
  // A profile of a long run is also put together and written.
  return seconds * MS_PER_S + ANSWER_MS + (wish.kind === 'profile' ? 3 * ANSWER_MS : 0);
}

/** Until another file has its place. */
async function removeOldest(folder: string): Promise<void> {
  const names = await readdir(folder);
  const files = await Promise.all(
    names.map(async (name) => {
      const { size, mtimeMs } = await stat(join(folder, name));
      return { name, size, mtimeMs };
    }),
  );
  const newest = files.toSorted((one, other) => other.mtimeMs - one.mtimeMs);
  let bytes = 0;
  for (const [index, { name, size }] of newest.entries()) {
    bytes += size;
    if (index >= FILES_MAX - 1 || bytes > BYTES_MAX) await rm(join(folder, name), { force: true });
  }
}
