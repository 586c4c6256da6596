import { HTTPException } from 'hono/http-exception';
import type { ContentfulStatusCode } from 'hono/utils/http-status';
import { EngineError, type ErrorCode, messageOf } from '../base/errors.ts';

/**
 * What a route throws to answer with a status and a sentence. On Heron's paths the body is a JSON
 * text, `"request failed: …"`, as Heron's; below `/api` it is `{ error: { code, message } }`.
 */
export function refusal(status: ContentfulStatusCode, message: string): HTTPException {
  return new HTTPException(status, { message });
}

export interface Failure {
  readonly status: ContentfulStatusCode;
  /** In capitals, for programs. */
  readonly code: string;
  readonly message: string;
}

/** What is answered for anything that a route threw. */
export function failureOf(error: unknown): Failure {
  if (error instanceof HTTPException) {
    return { status: error.status, code: codeOf(error.status), message: error.message };
  }
  if (error instanceof EngineError) {
    return { status: statusOf(error), code: error.code, message: error.message };
  }
  return { status: 500, code: 'ENGINE_FAULT', message: messageOf(error) };
}

const CODES: ReadonlyMap<number, string> = new Map([
  [400, 'INVALID_ARGUMENT'],
  [401, 'NOT_AUTHORIZED'],
  [403, 'NOT_AUTHORIZED'],
  [404, 'NOT_FOUND'],
  [503, 'NOT_READY'],
]);

function codeOf(status: ContentfulStatusCode): string {
  return CODES.get(status) ?? (status < 500 ? 'REFUSED' : 'FAILED');
}

/** Whoever asked is told apart from those who were asked on his behalf. */
const STATUSES: ReadonlyMap<ErrorCode, ContentfulStatusCode> = new Map([
  ['INVALID_ARGUMENT', 400],
  ['TOPOLOGY_NOT_FOUND', 404],
  ['TOPOLOGY_NOT_READY', 503],
  ['STATE_UNAVAILABLE', 503],
  ['CONNECTION_LOST', 502],
  ['CONNECTION_REFUSED', 502],
  ['NOT_AUTHORIZED', 502],
  ['REQUEST_TIMEOUT', 504],
]);

function statusOf({ code, domain }: EngineError): ContentfulStatusCode {
  return STATUSES.get(code) ?? (domain === 'user' ? 400 : 500);
}
