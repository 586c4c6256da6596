import { type ContainerId, containerId } from '../base/ids.ts';
import { environmentError } from '../base/errors.ts';

/*
  What an executor tells the world about the processes of its container: a JSON node of the state
  tree, written at every change, so that the command line and the topology master can say why a
  process died although its output lies on another machine.
*/

export const PROCESS_STATES = ['running', 'restarting', 'stopped', 'failed'] as const;

/** `failed`: it died more often than allowed and is not started again. */
export type ProcessState = (typeof PROCESS_STATES)[number];

/** How and why a process ended. */
export interface ProcessExit {
  /** Null when a signal ended it, or when nobody could see how it ended. */
  readonly code: number | null;
  readonly signal: string | null;
  readonly atMs: number;
  /** One sentence for people. */
  readonly reason: string;
  /** The end of what it wrote to its standard output and error, oldest first. */
  readonly lastLines: readonly string[];
}

export interface ProcessReport {
  readonly name: string;
  /** Null while it is not running. */
  readonly pid: number | null;
  readonly state: ProcessState;
  /** Starts after the first one. */
  readonly restarts: number;
  /** When it was last started. */
  readonly startedAtMs: number;
  /** When the running one began its work; absent before, and for processes that do not say. */
  readonly readyAtMs?: number;
  readonly lastExit?: ProcessExit;
}

export interface ContainerReport {
  readonly containerId: ContainerId;
  readonly host: string;
  /** The executor's own. */
  readonly pid: number;
  readonly startedAtMs: number;
  /** Where its shell listens; absent before it does, and in reports of executors without one. */
  readonly shellPort?: number;
  readonly processes: readonly ProcessReport[];
  /** What keeps the container from running what it should; absent when nothing does. */
  readonly problem?: string;
}

export function encodeContainerReport(report: ContainerReport): Uint8Array {
  return new TextEncoder().encode(JSON.stringify(report));
}

/** @throws EngineError STATE_CORRUPTED naming the member that is wrong. */
export function parseContainerReport(bytes: Uint8Array): ContainerReport {
  const report = recordOf(parseJson(bytes, 'container report'), 'container report');
  const { problem, shellPort } = report;
  return {
    containerId: containerId(numberOf(report['containerId'], 'containerId')),
    host: textOf(report['host'], 'host'),
    pid: numberOf(report['pid'], 'pid'),
    startedAtMs: numberOf(report['startedAtMs'], 'startedAtMs'),
    ...(shellPort === undefined ? {} : { shellPort: numberOf(shellPort, 'shellPort') }),
    processes: listOf(report['processes'], 'processes').map((value, index) =>
      parseProcessReport(value, `processes[${index}]`),
    ),
    ...(problem === undefined ? {} : { problem: textOf(problem, 'problem') }),
  };
}

/** @throws EngineError STATE_CORRUPTED naming the member that is wrong. */
export function parseProcessReport(value: unknown, path: string): ProcessReport {
  const report = recordOf(value, path);
  const { pid, readyAtMs, lastExit } = report;
  return {
    name: textOf(report['name'], `${path}.name`),
    pid: pid === null ? null : numberOf(pid, `${path}.pid`),
    state: stateOf(report['state'], `${path}.state`),
    restarts: numberOf(report['restarts'], `${path}.restarts`),
    startedAtMs: numberOf(report['startedAtMs'], `${path}.startedAtMs`),
    ...(readyAtMs === undefined ? {} : { readyAtMs: numberOf(readyAtMs, `${path}.readyAtMs`) }),
    ...(lastExit === undefined ? {} : { lastExit: parseExit(lastExit, `${path}.lastExit`) }),
  };
}

function parseExit(value: unknown, path: string): ProcessExit {
  const exit = recordOf(value, path);
  const { code, signal } = exit;
  return {
    code: code === null ? null : numberOf(code, `${path}.code`),
    signal: signal === null ? null : textOf(signal, `${path}.signal`),
    atMs: numberOf(exit['atMs'], `${path}.atMs`),
    reason: textOf(exit['reason'], `${path}.reason`),
    lastLines: listOf(exit['lastLines'], `${path}.lastLines`).map((line, index) =>
      textOf(line, `${path}.lastLines[${index}]`),
    ),
  };
}

function parseJson(bytes: Uint8Array, what: string): unknown {
  try {
    return JSON.parse(new TextDecoder().decode(bytes));
  } catch (cause) {
    throw environmentError('STATE_CORRUPTED', `${what}: not JSON`, { cause });
  }
}

function recordOf(value: unknown, path: string): Readonly<Record<string, unknown>> {
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) {
    return value as Readonly<Record<string, unknown>>;
  }
  throw wrong(path, 'an object', value);
}

function listOf(value: unknown, path: string): readonly unknown[] {
  if (Array.isArray(value)) return value;
  throw wrong(path, 'a list', value);
}

function numberOf(value: unknown, path: string): number {
  if (typeof value === 'number') return value;
  throw wrong(path, 'a number', value);
}

function textOf(value: unknown, path: string): string {
  if (typeof value === 'string') return value;
  throw wrong(path, 'text', value);
}

function stateOf(value: unknown, path: string): ProcessState {
  const state = PROCESS_STATES.find((known) => known === value);
  if (state === undefined) throw wrong(path, `one of ${PROCESS_STATES.join(', ')}`, value);
  return state;
}

function wrong(path: string, expected: string, value: unknown) {
  const text = JSON.stringify(value) ?? 'nothing';
  return environmentError('STATE_CORRUPTED', `${path}: expected ${expected}, got ${text}`);
}
