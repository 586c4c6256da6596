import { environmentError } from '../base/errors.ts';
import type { ProcessReport } from './container-report.ts';

/*
  The wish that one process of a container be replaced: a JSON node of the state tree that the
  container's executor watches. It names one life of the process, so it can be read any number of
  times, by any executor, and is fulfilled once: what runs afterwards is another life.
*/

export interface RestartRequest {
  readonly process: string;
  /** Of the life that is to end. */
  readonly startedAtMs: number;
  readonly restarts: number;
}

export function restartRequestOf({ name, startedAtMs, restarts }: ProcessReport): RestartRequest {
  return { process: name, startedAtMs, restarts };
}

/** Whether the life that the request names is still the one at hand. */
export function isMeant(request: RestartRequest, report: ProcessReport): boolean {
  return (
    report.name === request.process &&
    report.startedAtMs === request.startedAtMs &&
    report.restarts === request.restarts
  );
}

export function encodeRestartRequest(request: RestartRequest): Uint8Array {
  return new TextEncoder().encode(JSON.stringify(request));
}

/** @throws EngineError STATE_CORRUPTED */
export function parseRestartRequest(bytes: Uint8Array): RestartRequest {
  const { process, startedAtMs, restarts } = membersOf(bytes);
  if (typeof process === 'string' && isNumber(startedAtMs) && isNumber(restarts)) {
    return { process, startedAtMs, restarts };
  }
  throw environmentError('STATE_CORRUPTED', 'the restart request does not name a process');
}

function membersOf(bytes: Uint8Array): Readonly<Record<string, unknown>> {
  try {
    return Object(JSON.parse(new TextDecoder().decode(bytes))) as Record<string, unknown>;
  } catch (cause) {
    throw environmentError('STATE_CORRUPTED', 'the restart request is not JSON', { cause });
  }
}

function isNumber(value: unknown): value is number {
  return typeof value === 'number';
}
