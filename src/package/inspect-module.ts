import { type ChildProcess, spawn } from 'node:child_process';
import type { Clock } from '../base/clock.ts';
import { entryFile, nodeArguments } from '../base/entry.ts';
import {
  type EngineError,
  environmentError,
  fromEnvelope,
  messageOf,
  userError,
} from '../base/errors.ts';
import type { InspectAnswer, InspectRequest } from './inspect-protocol.ts';

/** A module that computes for longer than this is taken for one that never ends. */
export const INSPECT_LIMIT_MS = 30_000;

/** What Node exits with when the event loop runs empty below a top-level await. */
const UNSETTLED_AWAIT_EXIT_CODE = 13;

/**
 * Loads a topology module in a process of its own and returns the definition of its topology,
 * encoded as in a `.defn` file. What the module prints goes to standard error.
 *
 * @throws EngineError MODULE_FAILED also when the module ends its process or never ends loading,
 *   and everything that `loadTopologyModule` throws.
 */
export function inspectModule(
  request: InspectRequest,
  clock: Clock,
  limitMs: number = INSPECT_LIMIT_MS,
): Promise<Uint8Array> {
  const { promise, resolve, reject } = Promise.withResolvers<Uint8Array>();
  const child = startInspector();
  let answer: InspectAnswer | undefined;
  let isLate = false;
  const limit = clock.after(limitMs, () => {
    isLate = true;
    child.kill('SIGKILL');
  });
  child.once('message', (message) => {
    answer = message as InspectAnswer;
  });
  child.once('error', (cause) => {
    limit.cancel();
    const text = `cannot start a process to load ${request.shownAs}: ${messageOf(cause)}`;
    reject(environmentError('PROCESS_FAILED', text, { cause }));
  });
  // Comes after the last message, and when the process is gone.
  child.once('close', (code, signal) => {
    limit.cancel();
    if (answer?.kind === 'topology') resolve(answer.definition);
    else if (answer?.kind === 'failed') reject(fromEnvelope(answer.error));
    else if (isLate) reject(lateError(request.shownAs, limitMs));
    else reject(userError('MODULE_FAILED', endingOf(request.shownAs, code, signal)));
  });
  child.send(request, () => {}); // A child that is gone already says so by its end.
  return promise;
}

function lateError(file: string, limitMs: number): EngineError {
  const why = 'is there an endless loop?';
  const text = `the module ${file} was still loading after ${limitMs / 1000} s; ${why}`;
  return userError('MODULE_FAILED', text);
}

function startInspector(): ChildProcess {
  // Standard output belongs to the command, which may print JSON there.
  return spawn(process.execPath, [...nodeArguments(), entryFile('package/inspect-main')], {
    stdio: ['ignore', 2, 2, 'ipc'],
    serialization: 'advanced',
  });
}

function endingOf(file: string, code: number | null, signal: string | null): string {
  if (signal !== null)
    return `the module ${file} ended the process by ${signal} while it was loaded`;
  if (code === UNSETTLED_AWAIT_EXIT_CODE) {
    return `the module ${file} waits for ever: a top-level await in it never settles`;
  }
  return `the module ${file} called process.exit(${code}) while it was loaded`;
}
