/*
  What `heron` says with its exit code; docs/cli.md has the same list. 0, 1 and 100 are Heron's; the
  others tell apart what scripts have to tell apart.
*/

import { EngineError, type ErrorCode } from '../base/errors.ts';
import { Interrupted } from './advised-error.ts';

export const CLI_EXIT = {
  ok: 0,
  /** The command line, a setting or the module's path is wrong: nothing was done. */
  invocation: 1,
  /** Everything that has no number of its own. */
  failure: 100,
  topologyNotFound: 101,
  topologyExists: 102,
  /** The topology's own code or definition kept it from starting. */
  topologyFailed: 103,
  stateUnavailable: 104,
  timedOut: 105,
  /** `run` only: the topology came to its end, but tuples may be missing from its results. */
  completedWithLosses: 106,
  /** By Ctrl-C or SIGTERM, after cleaning up: what shells say for SIGINT. */
  interrupted: 130,
} as const;

export type CliExitCode = (typeof CLI_EXIT)[keyof typeof CLI_EXIT];

const CODES: Readonly<Partial<Record<ErrorCode, CliExitCode>>> = {
  INVALID_ARGUMENT: CLI_EXIT.invocation,
  INVALID_CONFIG: CLI_EXIT.invocation,
  MODULE_NOT_FOUND: CLI_EXIT.invocation,

  TOPOLOGY_NOT_FOUND: CLI_EXIT.topologyNotFound,
  TOPOLOGY_EXISTS: CLI_EXIT.topologyExists,

  INVALID_TOPOLOGY: CLI_EXIT.topologyFailed,
  MODULE_FAILED: CLI_EXIT.topologyFailed,
  MODULE_WITHOUT_TOPOLOGY: CLI_EXIT.topologyFailed,
  TOPOLOGY_MISMATCH: CLI_EXIT.topologyFailed,
  COMPONENT_FAILED: CLI_EXIT.topologyFailed,
  TOPOLOGY_FAILED: CLI_EXIT.topologyFailed,

  STATE_UNAVAILABLE: CLI_EXIT.stateUnavailable,
  STATE_NOT_WRITABLE: CLI_EXIT.stateUnavailable,

  START_TIMEOUT: CLI_EXIT.timedOut,
  REQUEST_TIMEOUT: CLI_EXIT.timedOut,
};

/** The exit code for whatever a command failed with. */
export function cliExitCodeOf(error: unknown): CliExitCode {
  if (error instanceof Interrupted) return CLI_EXIT.interrupted;
  return (error instanceof EngineError ? CODES[error.code] : undefined) ?? CLI_EXIT.failure;
}
