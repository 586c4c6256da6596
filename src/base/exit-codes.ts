/*
  What a process says with its exit code. Whoever started it decides by the code whether another
  start can help; people find the same list in the documentation. Where sysexits(3) has a number
  for a case, it is that number.
*/

import { EngineError, type ErrorCode } from './errors.ts';

export const EXIT = {
  /** Ended in an orderly way. */
  ok: 0,
  /** An unexpected failure; another start may help. */
  failure: 1,
  /** The arguments, the topology or its settings are wrong; another start will not help. */
  badArguments: 64,
  /** A peer or the state manager stayed away too long. */
  unavailable: 69,
  /** The user's code failed. */
  userCode: 70,
  /** A port that was given is taken; others have to be chosen. */
  portInUse: 73,
  /** Refused by a peer: an older epoch, another topology or version, a wrong token. */
  refused: 77,
} as const;

export type ExitCode = (typeof EXIT)[keyof typeof EXIT];

const CODES: Readonly<Partial<Record<ErrorCode, ExitCode>>> = {
  INVALID_ARGUMENT: EXIT.badArguments,
  INVALID_TOPOLOGY: EXIT.badArguments,
  INVALID_CONFIG: EXIT.badArguments,
  MODULE_NOT_FOUND: EXIT.badArguments,
  MODULE_WITHOUT_TOPOLOGY: EXIT.badArguments,

  STATE_UNAVAILABLE: EXIT.unavailable,
  STATE_NOT_WRITABLE: EXIT.unavailable,
  CONNECTION_LOST: EXIT.unavailable,
  CONNECTION_REFUSED: EXIT.unavailable,
  REQUEST_TIMEOUT: EXIT.unavailable,
  START_TIMEOUT: EXIT.unavailable,

  MODULE_FAILED: EXIT.userCode,
  TOPOLOGY_MISMATCH: EXIT.userCode,
  COMPONENT_FAILED: EXIT.userCode,
  COMPONENT_BLOCKED: EXIT.userCode,
  VALUE_NOT_SERIALIZABLE: EXIT.userCode,
  TUPLE_TOO_LARGE: EXIT.userCode,
  UNKNOWN_STREAM: EXIT.userCode,
  UNKNOWN_FIELD: EXIT.userCode,
  REAL_ACCESS_REFUSED: EXIT.userCode,

  PORT_IN_USE: EXIT.portInUse,

  NOT_AUTHORIZED: EXIT.refused,
  STALE_EPOCH: EXIT.refused,
  WRONG_TOPOLOGY: EXIT.refused,
  NOT_EXPECTED: EXIT.refused,
  DUPLICATE_PEER: EXIT.refused,
  VERSION_MISMATCH: EXIT.refused,
};

/** The exit code for whatever ended a process; anything without one of its own is a failure. */
export function exitCodeOf(error: unknown): ExitCode {
  if (isArgumentError(error)) return EXIT.badArguments;
  return (error instanceof EngineError ? CODES[error.code] : undefined) ?? EXIT.failure;
}

/** What `parseArgs` of `node:util` throws. */
function isArgumentError(error: unknown): boolean {
  const code = error instanceof Error && 'code' in error ? error.code : undefined;
  return typeof code === 'string' && code.startsWith('ERR_PARSE_ARGS_');
}
