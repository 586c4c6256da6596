import { EngineError, type ErrorCode } from '../../base/errors.ts';

interface Verdict {
  readonly code: ErrorCode;
  readonly retryable: boolean;
  readonly text: string;
}

const conflict = (text: string): Verdict => ({ code: 'STATE_CONFLICT', retryable: false, text });
const unavailable = (text: string): Verdict => ({
  code: 'STATE_UNAVAILABLE',
  retryable: true,
  text,
});
const refused = (code: ErrorCode, text: string): Verdict => ({ code, retryable: false, text });

/** What can become of a request, and what the engine makes of it. */
const VERDICTS = {
  NO_NODE: conflict('there is no such node'),
  NODE_EXISTS: refused('STATE_EXISTS', 'the node exists'),
  BAD_VERSION: conflict('the node has another version'),
  NOT_EMPTY: conflict('the node has children'),
  NO_CHILDREN_FOR_EPHEMERALS: conflict('an ephemeral node has no children'),
  NO_PERMISSION: refused('NOT_AUTHORIZED', 'the access list of the node forbids it'),
  AUTHENTICATION_FAILED: refused('NOT_AUTHORIZED', 'the server refuses our identity'),
  INVALID_ACCESS_LIST: refused('INVALID_ARGUMENT', 'the access list is not valid for us'),
  BAD_ARGUMENTS: refused('INVALID_ARGUMENT', 'the server does not accept the arguments'),
  QUOTA_EXCEEDED: refused('STATE_NOT_WRITABLE', 'the quota is used up'),
  TOO_LARGE: refused('PACKET_TOO_LARGE', 'a server would not accept so many bytes'),
  THROTTLED: unavailable('the server is overloaded'),
  SESSION_MOVED: unavailable('another server holds the session'),
  SESSION_EXPIRED: unavailable('the session has expired'),
  CONNECTION_LOST: unavailable('the connection broke before the answer'),
  TIMED_OUT: unavailable('no answer in time'),
  QUEUE_FULL: unavailable('too many requests wait'),
  CLOSED: refused('STATE_UNAVAILABLE', 'the client was closed'),
  /** A number that is not in WIRE_REASONS. */
  OTHER: unavailable('the server reports a failure'),
} as const satisfies Record<string, Verdict>;

export type ZooKeeperReason = keyof typeof VERDICTS;

/** ZooKeeper's own numbers (`KeeperException.Code`). */
const WIRE_REASONS: ReadonlyMap<number, ZooKeeperReason> = new Map([
  [-8, 'BAD_ARGUMENTS'],
  [-101, 'NO_NODE'],
  [-102, 'NO_PERMISSION'],
  [-103, 'BAD_VERSION'],
  [-108, 'NO_CHILDREN_FOR_EPHEMERALS'],
  [-110, 'NODE_EXISTS'],
  [-111, 'NOT_EMPTY'],
  [-112, 'SESSION_EXPIRED'],
  [-114, 'INVALID_ACCESS_LIST'],
  [-115, 'AUTHENTICATION_FAILED'],
  [-118, 'SESSION_MOVED'],
  [-125, 'QUOTA_EXCEEDED'],
  [-127, 'THROTTLED'],
]);

export interface ZooKeeperErrorOptions {
  /** The node that it is about. */
  readonly path?: string | undefined;
  readonly isUncertain?: boolean;
  /** Added to the text. */
  readonly detail?: string;
  readonly cause?: unknown;
}

/**
 * Why ZooKeeper, or the way to it, did not do what was asked. Its `code` and `retryable` follow
 * from the reason: NO_NODE, BAD_VERSION and NOT_EMPTY are STATE_CONFLICT, NODE_EXISTS is
 * STATE_EXISTS, everything about connections and sessions is STATE_UNAVAILABLE.
 */
export class ZooKeeperError extends EngineError {
  readonly reason: ZooKeeperReason;
  /** True when the request may have been carried out all the same: it was sent, nobody answered. */
  readonly isUncertain: boolean;

  constructor(reason: ZooKeeperReason, options: ZooKeeperErrorOptions = {}) {
    const { path, isUncertain = false, detail, cause } = options;
    const { code, retryable, text } = VERDICTS[reason];
    const where = path === undefined ? 'ZooKeeper' : `ZooKeeper, ${path}`;
    const more = detail === undefined ? '' : ` (${detail})`;
    super(code, `${where}: ${text}${more}`, { domain: 'environment', retryable, cause });
    this.reason = reason;
    this.isUncertain = isUncertain;
  }
}

/** The error that a server's answer reports by its number. */
export function errorOfAnswer(wireCode: number, path: string | undefined): ZooKeeperError {
  const reason = WIRE_REASONS.get(wireCode);
  return reason === undefined
    ? new ZooKeeperError('OTHER', { path, detail: `number ${wireCode}` })
    : new ZooKeeperError(reason, { path });
}

/** True for a ZooKeeperError with one of these reasons. */
export function hasReason(
  error: unknown,
  ...reasons: readonly ZooKeeperReason[]
): error is ZooKeeperError {
  return error instanceof ZooKeeperError && reasons.includes(error.reason);
}
