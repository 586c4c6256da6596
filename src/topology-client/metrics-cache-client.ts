import { environmentError, messageOf } from '../base/errors.ts';
import type { MessageType } from '../wire/message-type.ts';
import { QueryExceptions, QueryMetrics, StatusCode, type ValueOf } from '../wire/messages.ts';
import { QuerySeries } from '../wire/series-messages.ts';
import { type SeriesAnswer, type SeriesQuestion, seriesAnswerOf, seriesQueryOf } from './series.ts';

/*
  The statistics ports of a metrics cache and of a topology master: the same questions over HTTP, of
  anyone, as they only read.

  Every call rejects with an EngineError: CONNECTION_LOST (retryable) when nobody answers,
  REQUEST_TIMEOUT (retryable) when it takes too long, PACKET_MALFORMED for what cannot be read,
  INVALID_ARGUMENT for what is more than is answered, with the answerer's words.
*/

export interface StatisticsPort {
  readonly host: string;
  readonly statsPort: number;
}

export type MetricQuestion = Parameters<typeof QueryMetrics.request.create>[0];
export type MetricAnswer = ValueOf<typeof QueryMetrics.response>;
export type KeptException = ValueOf<typeof QueryExceptions.response>['exceptions'][number];

export interface ExceptionQuestion {
  readonly component: string;
  /** None: all. */
  readonly instances: readonly string[];
  /** One for each class of exception in place of all. */
  readonly isSummary: boolean;
}

export interface AskLimits {
  readonly timeoutMs: number;
  /** Ends the question, which then rejects. */
  readonly signal?: AbortSignal;
}

/** An answer holds 32 MB of numbers at most, and what names them. */
const ANSWER_BYTES_MAX = 64 * 1024 * 1024;

/** Holds no connection of its own; any number of calls may be under way. */
export class MetricsCacheClient {
  readonly #base: string;
  readonly #limits: AskLimits;

  constructor({ host, statsPort }: StatisticsPort, limits: AskLimits) {
    this.#base = `http://${host.includes(':') ? `[${host}]` : host}:${statsPort}`;
    this.#limits = limits;
  }

  /** Undefined: whoever answers there does not know such questions, as Heron's processes. */
  async series(question: SeriesQuestion): Promise<SeriesAnswer | undefined> {
    const query = seriesQueryOf(question);
    const answer = await this.#ask('/series', QuerySeries.request.encode(query));
    if (answer === undefined) return undefined;
    return seriesAnswerOf(this.#read(QuerySeries.response, answer));
  }

  /** In Heron's messages; one about a component that has told nothing is NOTOK. */
  async metrics(question: MetricQuestion): Promise<MetricAnswer> {
    const bytes = QueryMetrics.request.encode(QueryMetrics.request.create(question));
    return this.#read(QueryMetrics.response, await this.#ask('/stats', bytes));
  }

  /** In Heron's messages; none about a component that is not known. */
  async exceptions(question: ExceptionQuestion): Promise<readonly KeptException[]> {
    const { component, instances, isSummary } = question;
    const query = { componentName: component, instances: [...instances] };
    const bytes = QueryExceptions.request.encode(QueryExceptions.request.create(query));
    const answer = await this.#ask(isSummary ? '/exceptionsummary' : '/exceptions', bytes);
    const { status, exceptions } = this.#read(QueryExceptions.response, answer);
    return status?.status === StatusCode.OK ? exceptions : [];
  }

  #read<T>(type: MessageType<T>, bytes: Uint8Array | undefined): T {
    if (bytes !== undefined) return type.decode(bytes);
    const text = `${this.#base} does not answer questions about metrics`;
    throw environmentError('CONNECTION_LOST', text, { retryable: true });
  }

  /** Undefined: the path is not known there. */
  async #ask(path: string, body: Uint8Array): Promise<Uint8Array | undefined> {
    const { timeoutMs, signal } = this.#limits;
    const limit = AbortSignal.timeout(timeoutMs);
    const either = signal === undefined ? limit : AbortSignal.any([limit, signal]);
    try {
      const response = await fetch(`${this.#base}${path}`, {
        method: 'POST',
        // A copy: the library's bytes may lie in shared memory, which `fetch` does not take.
        body: new Uint8Array(body),
        headers: { 'Content-Type': 'application/octet-stream' },
        redirect: 'error',
        signal: either,
      });
      if (response.ok) return await readBounded(response);
      await response.body?.cancel();
      return undefined;
    } catch (cause) {
      if (limit.aborted) {
        const text = `no answer from ${this.#base} within ${timeoutMs} ms`;
        throw environmentError('REQUEST_TIMEOUT', text, { retryable: true, cause });
      }
      const reason = cause instanceof Error && cause.cause !== undefined ? cause.cause : cause;
      const text = `no answer from ${this.#base}: ${messageOf(reason)}`;
      throw environmentError('CONNECTION_LOST', text, { retryable: true, cause });
    }
  }
}

async function readBounded(response: Response): Promise<Uint8Array> {
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  for await (const chunk of response.body ?? []) {
    bytes += chunk.length;
    if (bytes > ANSWER_BYTES_MAX) throw new Error(`more than ${ANSWER_BYTES_MAX} bytes`);
    chunks.push(chunk);
  }
  const [only] = chunks;
  return chunks.length === 1 && only !== undefined ? only : Buffer.concat(chunks, bytes);
}
