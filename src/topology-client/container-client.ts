import { systemClock } from '../base/clock.ts';
import { environmentError, messageOf, userError } from '../base/errors.ts';
import type { ContainerReport } from '../model/container-report.ts';
import type { Sample, SampleWish } from '../model/sample.ts';
import { TOKEN_HEADER } from '../wire/token-header.ts';
import {
  type FileData,
  type FileStats,
  type Inspected,
  parseFileData,
  parseFileStats,
  parseInspected,
  parseSample,
  parseShellOutput,
  type ShellOutput,
} from './container-answers.ts';

/*
  The shell of a container (executor/shell.ts), as commands and trackers use it. Paths are relative
  to the container's folder: `log-files/stmgr-1.log`. Processes go by their names in reports.

  Every call rejects with an EngineError: CONNECTION_LOST (retryable) when nobody answers in time,
  NOT_AUTHORIZED for a wrong token, INVALID_ARGUMENT with the shell's sentence for what there is not
  or what is not served, INSPECTION_FAILED (retryable) for what cannot be done at the moment.
*/

export interface ContainerAddress {
  readonly host: string;
  /** The shell's. */
  readonly port: number;
  /** The topology's; from its record in the state tree. */
  readonly token: string;
}

export interface FileRange {
  /** In bytes; -1 is the end of the file. 0 unless set. */
  readonly offset?: number;
  /** In bytes; -1, and so it is unless set, is all the rest that one answer may hold. */
  readonly length?: number;
}

/** Longer than the shell itself waits (executor/shell/inspections.ts), whose sentence says more. */
const ANSWER_LIMIT_MS = 20_000;
const PROFILE_LIMIT_MS = 60_000;
/** A heap of gigabytes is written to a disk at its own pace. */
const HEAP_LIMIT_MS = 300_000;
const MS_PER_S = 1_000;

const UNAUTHORIZED = 401;
const CONFLICT = 409;
const SERVER_FAULTS = 500;

/** Undefined while the container has no shell, and for reports of executors that had none. */
export function findContainer(
  { host, shellPort }: Pick<ContainerReport, 'host' | 'shellPort'>,
  token: string,
): ContainerClient | undefined {
  return shellPort === undefined
    ? undefined
    : new ContainerClient({ host, port: shellPort, token });
}

/** Holds no connection between two calls; any number of calls may be under way. */
export class ContainerClient {
  readonly #base: string;
  readonly #token: string;

  constructor({ host, port, token }: ContainerAddress) {
    this.#base = `http://${host.includes(':') ? `[${host}]` : host}:${port}`;
    this.#token = token;
  }

  /** Whether a shell answers there. Never rejects. */
  async isHealthy(): Promise<boolean> {
    try {
      return (await (await this.#ask('/health', {})).text()) === 'ok';
    } catch {
      return false;
    }
  }

  /** The pid of a process, as text in `stdout`. */
  async pid(process: string): Promise<ShellOutput> {
    return parseShellOutput(await this.#json(`/pid/${segment(process)}`));
  }

  /** The stack of a process's main thread, as text in `stdout`. */
  async stack(process: string): Promise<ShellOutput> {
    return parseShellOutput(await this.#json(`/stack/${segment(process)}`));
  }

  /** Has a heap snapshot written in the container's folder; `stdout` says where. */
  async heap(process: string): Promise<ShellOutput> {
    const limitMs = HEAP_LIMIT_MS;
    return parseShellOutput(await this.#json(`/jmap/${segment(process)}`, { limitMs }));
  }

  /** Figures of a process's heap, as text in `stdout`. */
  async histo(process: string): Promise<ShellOutput> {
    return parseShellOutput(await this.#json(`/histo/${segment(process)}`));
  }

  /** A part of a text file; read `FileData` for where the next part begins. */
  async fileData(path: string, range: FileRange = {}): Promise<FileData> {
    return parseFileData(await this.#json(`/filedata/${pathText(path)}${rangeQuery(range)}`));
  }

  /** What is in a folder, by name; `.` is the container's own. */
  async fileStats(path: string): Promise<FileStats> {
    return parseFileStats(await this.#json(`/filestats/${pathText(path)}`));
  }

  /** The bytes of a file, or of a part of it, as they come; an error on the way is the stream's. */
  async download(
    path: string,
    range: FileRange = {},
    signal?: AbortSignal,
  ): Promise<ReadableStream<Uint8Array>> {
    const init = { ...(signal !== undefined && { signal }), isStreamed: true };
    const response = await this.#ask(`/download/${pathText(path)}${rangeQuery(range)}`, init);
    return response.body ?? new ReadableStream({ start: (stream) => stream.close() });
  }

  /** Where a process's main thread spends its time, for so many seconds: a `.cpuprofile` file. */
  async profile(process: string, { seconds }: { readonly seconds: number }): Promise<Inspected> {
    const limitMs = seconds * MS_PER_S + PROFILE_LIMIT_MS;
    const path = `/profile/${segment(process)}?seconds=${seconds}`;
    return parseInspected(await this.#json(path, { method: 'POST', limitMs }));
  }

  /** What a process's heap holds: a `.heapsnapshot` file. */
  async heapSnapshot(process: string): Promise<Inspected> {
    const init = { method: 'POST', limitMs: HEAP_LIMIT_MS };
    return parseInspected(await this.#json(`/heap/${segment(process)}`, init));
  }

  /** The next tuples that an instance emits. */
  async sample(instance: string, { stream, count, seconds }: SampleWish): Promise<Sample> {
    const query = new URLSearchParams({ count: String(count), seconds: String(seconds) });
    if (stream !== undefined) query.set('stream', stream);
    const limitMs = seconds * MS_PER_S + ANSWER_LIMIT_MS;
    const path = `/sample/${segment(instance)}?${query.toString()}`;
    return parseSample(await this.#json(path, { method: 'POST', limitMs }));
  }

  async #json(path: string, init: AskOptions = {}): Promise<unknown> {
    const response = await this.#ask(path, init);
    try {
      return await response.json();
    } catch (cause) {
      throw this.#lost(cause);
    }
  }

  async #ask(path: string, options: AskOptions): Promise<Response> {
    const { method = 'GET', limitMs = ANSWER_LIMIT_MS, signal, isStreamed = false } = options;
    const late = new AbortController();
    const limit = systemClock.after(limitMs, () => late.abort(new Error('it took too long')));
    const signals = signal === undefined ? [late.signal] : [late.signal, signal];
    let response: Response;
    try {
      const headers = { [TOKEN_HEADER]: this.#token };
      const url = `${this.#base}${path}`;
      response = await fetch(url, { method, headers, signal: AbortSignal.any(signals) });
      // The rest of what is streamed may take its time; of anything else it is here at once.
      if (!isStreamed) response = new Response(await response.arrayBuffer(), response);
    } catch (cause) {
      throw this.#lost(cause);
    } finally {
      limit.cancel();
    }
    if (response.ok) return response;
    const text = await response.text().catch(() => `status ${response.status}`);
    if (response.status === UNAUTHORIZED) throw environmentError('NOT_AUTHORIZED', text);
    const isRefused = response.status !== CONFLICT && response.status < SERVER_FAULTS;
    if (isRefused) throw userError('INVALID_ARGUMENT', text);
    throw environmentError('INSPECTION_FAILED', text, { retryable: true });
  }

  #lost(cause: unknown): Error {
    const reason = cause instanceof Error && cause.cause !== undefined ? cause.cause : cause;
    const text = `no answer from the container's shell at ${this.#base}: ${messageOf(reason)}`;
    return environmentError('CONNECTION_LOST', text, { retryable: true, cause });
  }
}

interface AskOptions {
  readonly method?: string;
  readonly limitMs?: number;
  readonly signal?: AbortSignal;
  readonly isStreamed?: boolean;
}

function segment(name: string): string {
  return encodeURIComponent(name);
}

function pathText(path: string): string {
  return path.split('/').map(encodeURIComponent).join('/');
}

function rangeQuery({ offset = 0, length = -1 }: FileRange): string {
  return `?offset=${offset}&length=${length}`;
}
