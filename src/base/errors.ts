/*
  The one class for operating errors. Callers branch on `code` or `retryable`, never on text.
  New situations get a new code here, not a new class.
*/

/** Every code that an EngineError may carry. The list is closed: docs and exit codes follow it. */
export const ERROR_CODES = [
  // What a user wrote.
  'INVALID_ARGUMENT',
  'INVALID_TOPOLOGY',
  'INVALID_CONFIG',
  'MODULE_NOT_FOUND',
  'MODULE_FAILED',
  'MODULE_WITHOUT_TOPOLOGY',
  'TOPOLOGY_MISMATCH',
  'COMPONENT_FAILED',
  'COMPONENT_BLOCKED',
  'VALUE_NOT_SERIALIZABLE',
  'TUPLE_TOO_LARGE',
  'UNKNOWN_STREAM',
  'UNKNOWN_FIELD',
  // Life cycle of topologies.
  'TOPOLOGY_EXISTS',
  'TOPOLOGY_NOT_FOUND',
  'TOPOLOGY_NOT_READY',
  'TOPOLOGY_FAILED',
  // State manager.
  'STATE_UNAVAILABLE',
  'STATE_CORRUPTED',
  'STATE_EXISTS',
  'STATE_CONFLICT',
  'STATE_NOT_WRITABLE',
  // Network and wire.
  'CONNECTION_LOST',
  'CONNECTION_REFUSED',
  'CONNECTION_CLOSED',
  'REQUEST_TIMEOUT',
  'PACKET_TOO_LARGE',
  'PACKET_MALFORMED',
  'UNEXPECTED_MESSAGE',
  'NOT_AUTHORIZED',
  'PORT_IN_USE',
  'QUEUE_FULL',
  // Identity and versions.
  'STALE_EPOCH',
  'WRONG_TOPOLOGY',
  'NOT_EXPECTED',
  'DUPLICATE_PEER',
  'VERSION_MISMATCH',
  // Processes and machines.
  'PROCESS_FAILED',
  'PROCESS_LOST',
  'START_TIMEOUT',
  'UNSUPPORTED_PLATFORM',
  'FILE_FAILED',
  'ARCHIVE_INVALID',
  'INSPECTION_FAILED',
  // Simulated runs of a user's tests.
  'REAL_ACCESS_REFUSED',
  'RUN_NOT_FINISHED',
  // A mistake of the engine's authors.
  'ENGINE_FAULT',
] as const;

export type ErrorCode = (typeof ERROR_CODES)[number];

/** Who has to act: the topology's author, the engine's authors, or whoever runs the machines. */
export type ErrorDomain = 'user' | 'engine' | 'environment';

export interface EngineErrorOptions {
  readonly domain: ErrorDomain;
  /** True when the same operation may succeed later without any change by a person. */
  readonly retryable?: boolean;
  readonly cause?: unknown;
}

/** An operating error: what failed, who has to act, and whether to try again. */
export class EngineError extends Error {
  override readonly name = 'EngineError';
  readonly code: ErrorCode;
  readonly domain: ErrorDomain;
  readonly retryable: boolean;

  constructor(code: ErrorCode, message: string, options: EngineErrorOptions) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.code = code;
    this.domain = options.domain;
    this.retryable = options.retryable ?? false;
  }
}

/** An error made by the author of a topology: wrong code, wrong setting, wrong argument. */
export function userError(code: ErrorCode, message: string, cause?: unknown): EngineError {
  return new EngineError(code, message, { domain: 'user', cause });
}

/** An error of the surroundings: network, disk, state manager, another process. */
export function environmentError(
  code: ErrorCode,
  message: string,
  options: { readonly retryable?: boolean; readonly cause?: unknown } = {},
): EngineError {
  return new EngineError(code, message, { domain: 'environment', ...options });
}

/** True for an EngineError with one of these codes. */
export function hasCode(error: unknown, ...codes: readonly ErrorCode[]): error is EngineError {
  return error instanceof EngineError && codes.includes(error.code);
}

/** The text of anything that was thrown. */
export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

/** The stack of anything that was thrown, or its text where there is no stack. */
export function stackOf(error: unknown): string {
  return error instanceof Error ? (error.stack ?? error.message) : String(error);
}

/** What crosses threads, sockets and files in place of an Error. */
export interface ErrorEnvelope {
  readonly code: ErrorCode;
  readonly domain: ErrorDomain;
  readonly retryable: boolean;
  readonly message: string;
  readonly stack: string;
}

/** Turns anything that was thrown into an envelope; a foreign error gets the given code. */
export function toEnvelope(error: unknown, code: ErrorCode = 'COMPONENT_FAILED'): ErrorEnvelope {
  if (error instanceof EngineError) {
    const { domain, retryable, message } = error;
    return { code: error.code, domain, retryable, message, stack: stackOf(error) };
  }
  const message = messageOf(error);
  return { code, domain: 'user', retryable: false, message, stack: stackOf(error) };
}

/** The other direction; the stack is the sender's. */
export function fromEnvelope(envelope: ErrorEnvelope): EngineError {
  const { code, domain, retryable, message, stack } = envelope;
  const error = new EngineError(code, message, { domain, retryable });
  error.stack = stack;
  return error;
}
