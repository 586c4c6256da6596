import { hasCode, messageOf } from '../../base/errors.ts';
import { isSameSecret } from '../../base/secret.ts';
import type { InspectionText } from '../../inspection/requests.ts';
import { PROFILE_SECONDS_MAX } from '../../inspection/requests.ts';
import { SAMPLE_COUNT_MAX, SAMPLE_SECONDS_MAX } from '../../model/sample.ts';
import {
  type HttpAnswer,
  type HttpHandler,
  type HttpRequest,
  textAnswer,
} from '../../net/http-rules.ts';
import { TOKEN_HEADER } from '../../wire/token-header.ts';
import { ContainerFiles, type FileRange } from './container-files.ts';
import { Inspections } from './inspections.ts';
import type { ShellOptions } from './shell-options.ts';
import { ShellRefusal } from './shell-refusal.ts';

/* The requests of shell.ts, one by one. Loaded with the first of them. */

type Route = (target: string, query: URLSearchParams) => Promise<HttpAnswer>;

const UNAUTHORIZED = 401;
const CONFLICT = 409;

export function shellHandler(options: ShellOptions): HttpHandler {
  const routes = new ShellRoutes(options);
  return async (request) => {
    if (request.path === '/health') return textAnswer(200, 'ok');
    const token = request.headers[TOKEN_HEADER];
    if (typeof token !== 'string' || !isSameSecret(token, options.token)) {
      return textAnswer(UNAUTHORIZED, `The header ${TOKEN_HEADER} must hold the token`);
    }
    try {
      return await routes.answer(request);
    } catch (error) {
      if (error instanceof ShellRefusal) return refusalAnswer(error.status, error.message);
      if (!hasCode(error, 'INSPECTION_FAILED')) throw error;
      return refusalAnswer(CONFLICT, messageOf(error));
    }
  };
}

class ShellRoutes {
  readonly #options: ShellOptions;
  readonly #files: ContainerFiles;
  readonly #inspections: Inspections;
  readonly #reads: Readonly<Record<string, Route>>;
  readonly #actions: Readonly<Record<string, Route>>;

  constructor(options: ShellOptions) {
    const { folder, clock, executorName: own } = options;
    this.#options = options;
    this.#files = new ContainerFiles(folder);
    this.#inspections = new Inspections({ folder, clock, own, ...options.processes });
    const stack: Route = (target) => this.#stack(target);
    this.#reads = {
      pid: (target) => this.#pid(target),
      filedata: (path, query) => this.#fileData(path, query),
      filestats: async (path) => jsonAnswer(await this.#files.list(path || '.')),
      download: (path, query) => this.#download(path, query),
      stack,
      jstack: stack,
      jmap: (target) => this.#heapAsCommand(target),
      histo: (target) => this.#heapFigures(target),
    };
    this.#actions = {
      profile: (target, query) => this.#profile(target, query),
      heap: async (target) =>
        jsonAnswer(await this.#inspections.write(this.#nameOf(target), { kind: 'heap' })),
      sample: (target, query) => this.#sample(target, query),
    };
  }

  async answer({ method, path, query }: HttpRequest): Promise<HttpAnswer> {
    const [, verb = '', rest = ''] = /^\/([^/]*)\/?(.*)$/s.exec(path) ?? [];
    const isAction = Object.hasOwn(this.#actions, verb);
    const route = isAction ? this.#actions[verb] : this.#reads[verb];
    if (route === undefined || !(isAction || Object.hasOwn(this.#reads, verb))) {
      return textAnswer(404, 'Not Supported');
    }
    if ((method === 'POST') !== isAction) {
      throw new ShellRefusal(405, `/${verb} takes ${isAction ? 'POST' : 'GET'}`);
    }
    return await route(decoded(rest), query);
  }

  async #pid(target: string): Promise<HttpAnswer> {
    const name = this.#nameOf(target);
    const { pid } = this.#known().find((process) => process.name === name) ?? {};
    if (pid === undefined || pid === null) throw new ShellRefusal(404, `${name} does not run`);
    return outputAnswer(`pid ${name}`, String(pid));
  }

  async #stack(target: string): Promise<HttpAnswer> {
    const name = this.#nameOf(target);
    const { text } = (await this.#inspections.ask(name, { kind: 'stack' })) as InspectionText;
    return outputAnswer(`stack ${name}`, text);
  }

  async #heapFigures(target: string): Promise<HttpAnswer> {
    const name = this.#nameOf(target);
    const wish = { kind: 'heap-figures' } as const;
    const { text } = (await this.#inspections.ask(name, wish)) as InspectionText;
    return outputAnswer(`histo ${name}`, text);
  }

  async #heapAsCommand(target: string): Promise<HttpAnswer> {
    const name = this.#nameOf(target);
    const { file, bytes } = await this.#inspections.write(name, { kind: 'heap' });
    return outputAnswer(`jmap ${name}`, `heap snapshot of ${bytes} bytes: /download/${file}`);
  }

  async #profile(target: string, query: URLSearchParams): Promise<HttpAnswer> {
    const name = this.#nameOf(target);
    const seconds = wholeNumber(query, 'seconds', { min: 1, max: PROFILE_SECONDS_MAX });
    return jsonAnswer(await this.#inspections.write(name, { kind: 'profile', seconds }));
  }

  async #sample(target: string, query: URLSearchParams): Promise<HttpAnswer> {
    const name = this.#nameOf(target);
    const wish = {
      count: wholeNumber(query, 'count', { min: 1, max: SAMPLE_COUNT_MAX }),
      seconds: wholeNumber(query, 'seconds', { min: 1, max: SAMPLE_SECONDS_MAX }),
    };
    if (!this.#options.processes.isInstance(name)) {
      throw new ShellRefusal(400, `${name} emits no tuples: only instances do`);
    }
    const stream = query.get('stream');
    const of = stream === null ? {} : { stream };
    return jsonAnswer(await this.#inspections.ask(name, { kind: 'sample', ...wish, ...of }));
  }

  async #fileData(path: string, query: URLSearchParams): Promise<HttpAnswer> {
    return jsonAnswer(await this.#files.part(path, rangeOf(query)));
  }

  async #download(path: string, query: URLSearchParams): Promise<HttpAnswer> {
    const stream = await this.#files.stream(path, rangeOf(query));
    const name = path.split('/').at(-1) ?? '';
    return {
      status: 200,
      contentType: 'application/octet-stream',
      headers: {
        'Content-Disposition': `attachment; filename*=UTF-8''${encodeURIComponent(name)}`,
      },
      body: '',
      stream,
    };
  }

  #known() {
    const { processes, executorName, executorPid } = this.#options;
    return [...processes.reports(), { name: executorName, pid: executorPid }];
  }

  /** Heron's tools ask by pid. */
  #nameOf(target: string): string {
    const found = this.#known().find(({ name, pid }) => name === target || String(pid) === target);
    if (found !== undefined) return found.name;
    throw new ShellRefusal(404, `There is no process ${shown(target)} in this container`);
  }
}

function decoded(path: string): string {
  try {
    return decodeURIComponent(path);
  } catch {
    throw new ShellRefusal(400, 'The path is not percent-encoded as it must be');
  }
}

function shown(text: string): string {
  return JSON.stringify(text.slice(0, 200));
}

function rangeOf(query: URLSearchParams): FileRange {
  const limits = { min: -1, max: Number.MAX_SAFE_INTEGER };
  return {
    offset: wholeNumber(query, 'offset', limits, 0),
    length: wholeNumber(query, 'length', limits, -1),
  };
}

function wholeNumber(
  query: URLSearchParams,
  name: string,
  { min, max }: { readonly min: number; readonly max: number },
  otherwise?: number,
): number {
  const text = query.get(name);
  if (text === null && otherwise !== undefined) return otherwise;
  const value = Number(text);
  if (text !== null && /^-?\d{1,16}$/.test(text) && value >= min && value <= max) return value;
  throw new ShellRefusal(400, `${name} must be a whole number from ${min} to ${max}`);
}

function jsonAnswer(value: unknown): HttpAnswer {
  return { status: 200, contentType: 'application/json', body: JSON.stringify(value) };
}

/** As Heron's shell answers for what it runs. */
function outputAnswer(command: string, stdout: string): HttpAnswer {
  return jsonAnswer({ command, stdout, stderr: '' });
}

/** The sentence may hold what no status line can. */
function refusalAnswer(status: number, sentence: string): HttpAnswer {
  return { status, contentType: 'text/plain', body: sentence };
}
