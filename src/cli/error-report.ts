/*
  What a person, or with --json a program, gets to read about a failure: one line that says what,
  where and why, then the next step. A failure that is not an EngineError is a fault of ours.
*/

import {
  EngineError,
  type ErrorCode,
  type ErrorDomain,
  messageOf,
  stackOf,
} from '../base/errors.ts';
import { isEngineFrame } from '../base/entry.ts';
import { AdvisedError } from './advised-error.ts';

export interface ErrorReport {
  readonly code: ErrorCode;
  readonly domain: ErrorDomain;
  readonly message: string;
  readonly next: string;
  readonly details?: readonly string[];
}

const NEXT: Readonly<Partial<Record<ErrorCode, string>>> = {
  INVALID_ARGUMENT: "'heron help <command>' shows how the command is written",
  INVALID_CONFIG: 'correct the setting, in the module or after --config-property',
  INVALID_TOPOLOGY: 'correct the module and submit it again',
  MODULE_NOT_FOUND: 'check the path; it is relative to the folder that you are in',
  MODULE_FAILED: 'correct the module and submit it again',
  MODULE_WITHOUT_TOPOLOGY: 'correct the module and submit it again',
  COMPONENT_FAILED: 'correct the component and submit it again',
  TOPOLOGY_FAILED: 'correct the component and submit it again',
  TOPOLOGY_MISMATCH: 'make the topology depend on nothing but its arguments and settings',
  TOPOLOGY_NOT_FOUND: "'heron list local' shows what there is",
  TOPOLOGY_EXISTS: 'kill it first, or submit under another name',
  TOPOLOGY_NOT_READY: "'heron status' shows what is missing; try again in a moment",
  STATE_UNAVAILABLE: 'check the folder that HERON_DATA names, by default ~/.herondata',
  STATE_NOT_WRITABLE: 'check the rights to the folder that HERON_DATA names, and its disk',
  STATE_CORRUPTED: "'heron kill' removes the topology with all of its records",
  FILE_FAILED: 'check the rights to the file, and its disk',
  START_TIMEOUT: "look at the logs, or give it more time with 'heron submit --timeout <seconds>'",
  PROCESS_FAILED: 'look at the last lines above and at the logs',
  PROCESS_LOST: 'run the same command again, which goes on where this one stopped',
};

const NEXT_OTHERWISE = 'run the command again with --verbose, which shows where it failed';

export function errorReportOf(error: unknown): ErrorReport {
  if (error instanceof AdvisedError) {
    const { code, domain, message, next, details } = error;
    return { code, domain, message, next, ...(details.length > 0 && { details }) };
  }
  if (error instanceof EngineError) {
    const { code, domain, message } = error;
    const details = userStackOf(error);
    const next = NEXT[code] ?? NEXT_OTHERWISE;
    return { code, domain, message, next, ...(details.length > 0 && { details }) };
  }
  return {
    code: 'ENGINE_FAULT',
    domain: 'engine',
    message: `a fault in heron-ts itself: ${messageOf(error)}`,
    next: 'run the command again with --verbose and report what it prints',
  };
}

/** The author's own stack is not ours to hide: it is the answer to "where". */
function userStackOf(error: EngineError): readonly string[] {
  if (error.code !== 'MODULE_FAILED') return [];
  const frames = stackOf(error)
    .split('\n')
    .filter((line) => /^\s+at /.test(line));
  return frames.filter((frame) => !isEngineFrame(frame)).slice(0, USER_FRAMES_MAX);
}

const USER_FRAMES_MAX = 5;
