import { environmentError, messageOf, userError } from '../../base/errors.ts';
import {
  type FileData,
  type FileStats,
  parseFileStats,
  parseShellOutput,
  type ShellOutput,
} from '../../topology-client/container-answers.ts';
import type { ByteRange, ContainerShell } from './container-shell.ts';

/*
  Heron's own shell (heron-shell), in containers of Heron. It asks for no token, goes by pids where
  ours goes by names, escapes the text of files for XML, and leaves `data` out at the end of a file.
*/

/** A jstack of a busy JVM takes seconds. */
const ANSWER_LIMIT_MS = 30_000;
/** More than any of its answers has; a file's part is at most as long as was asked for. */
const ANSWER_BYTES_MAX = 16 * 1024 * 1024;

export class HeronShell implements ContainerShell {
  readonly #base: string;

  constructor(host: string, port: number) {
    this.#base = `http://${host.includes(':') ? `[${host}]` : host}:${port}`;
  }

  async pid(process: string): Promise<ShellOutput> {
    return parseShellOutput(await this.#json(`/pid/${encodeURIComponent(process)}`));
  }

  stack(process: string): Promise<ShellOutput> {
    return this.#command('jstack', process);
  }

  heap(process: string): Promise<ShellOutput> {
    return this.#command('jmap', process);
  }

  histo(process: string): Promise<ShellOutput> {
    return this.#command('histo', process);
  }

  async fileData(path: string, { offset, length }: ByteRange): Promise<FileData> {
    const query = `offset=${offset}&length=${length}`;
    const answer = await this.#json(`/filedata/${encodedPath(path)}?${query}`);
    const {
      offset: from,
      length: read,
      data,
    } = answer as {
      readonly offset?: unknown;
      readonly length?: unknown;
      readonly data?: unknown;
    };
    return {
      offset: typeof from === 'number' ? from : offset,
      length: typeof read === 'number' ? read : 0,
      ...(typeof data === 'string' && { data: unescaped(data) }),
    };
  }

  async fileStats(path: string): Promise<FileStats> {
    return parseFileStats(await this.#json(`/filestats/${encodedPath(path)}`));
  }

  async download(
    path: string,
    _range: ByteRange,
    signal: AbortSignal,
  ): Promise<ReadableStream<Uint8Array>> {
    const response = await this.#ask(`/download/${encodedPath(path)}`, signal);
    return response.body ?? new ReadableStream({ start: (stream) => stream.close() });
  }

  async #command(name: string, process: string): Promise<ShellOutput> {
    const { stdout } = await this.pid(process);
    const pid = stdout.trim();
    if (!/^\d+$/.test(pid)) throw userError('INVALID_ARGUMENT', `${process} has no pid there`);
    return parseShellOutput(await this.#json(`/${name}/${pid}`));
  }

  async #json(path: string): Promise<unknown> {
    const response = await this.#ask(path, AbortSignal.timeout(ANSWER_LIMIT_MS));
    try {
      return JSON.parse(await boundedText(response)) as unknown;
    } catch (cause) {
      throw this.#failed(`its answer cannot be read: ${messageOf(cause)}`, cause);
    }
  }

  async #ask(path: string, signal: AbortSignal): Promise<Response> {
    let response: Response;
    try {
      response = await fetch(`${this.#base}${path}`, { signal, redirect: 'error' });
    } catch (cause) {
      const reason = cause instanceof Error && cause.cause !== undefined ? cause.cause : cause;
      throw this.#failed(messageOf(reason), cause);
    }
    if (response.ok) return response;
    await response.body?.cancel();
    const text = `the container's shell refused ${path}: status ${response.status}`;
    if (response.status < 500) throw userError('INVALID_ARGUMENT', text);
    throw environmentError('TOPOLOGY_NOT_READY', text, { retryable: true });
  }

  #failed(reason: string, cause: unknown): Error {
    const text = `no answer from the container's shell at ${this.#base}: ${reason}`;
    return environmentError('CONNECTION_LOST', text, { retryable: true, cause });
  }
}

async function boundedText({ body }: Response): Promise<string> {
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  for await (const chunk of body ?? []) {
    bytes += chunk.length;
    if (bytes > ANSWER_BYTES_MAX) throw new RangeError(`longer than ${ANSWER_BYTES_MAX} bytes`);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks, bytes).toString('utf8');
}

/** Its own folder goes without a name: a URL that ends with `/.` is not sent so. */
function encodedPath(path: string): string {
  if (path === '.') return '';
  return path.split('/').map(encodeURIComponent).join('/');
}

const ENTITIES: Readonly<Record<string, string>> = {
  '&lt;': '<',
  '&gt;': '>',
  '&amp;': '&',
  '&quot;': '"',
  '&#x27;': "'",
  '&#39;': "'",
};

function unescaped(text: string): string {
  return text.replaceAll(/&(?:lt|gt|amp|quot|#x27|#39);/g, (entity) => ENTITIES[entity] ?? entity);
}
