import { type ChildProcess, spawn } from 'node:child_process';
import { closeSync, mkdirSync, openSync } from 'node:fs';
import { dirname } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import type { Clock } from '../base/clock.ts';
import { messageOf } from '../base/errors.ts';
import { identityOf, isAlive, type ProcessIdentity } from '../base/process-identity.ts';
import type { RotatingFile } from '../base/rotating-file.ts';
import { sendSignal, signalProcess } from './end-processes.ts';
import { lastLinesOf } from './last-lines.ts';
import { LineTail } from './line-tail.ts';
import { removePidFile, writePidFile } from './pid-file.ts';
import type { Ending, ProcessHandle } from './process-handle.ts';

/*
  The three ways to get hold of a process: as a dependent child, as a detached child, and by
  adopting what an earlier supervisor started.

  H1. A dependent child holds the read end of a pipe as its standard input. Nobody ever writes to
      it: it ends when this process does, however that happens, and the child then ends too.
  H2. A detached child outlives this process: it leads its own session and writes to a file.
  H3. While a child lives, a pid file names it; it is removed when the child has been seen to end.
*/

export interface Command {
  readonly name: string;
  readonly executable: string;
  readonly arguments: readonly string[];
  readonly environment: NodeJS.ProcessEnv;
  readonly workingDirectory: string;
  /** Where its pid file is kept; undefined for a process that writes its own. */
  readonly pidFolder: string | undefined;
  /** A dependent child that sends `READY` to its parent once it does its work. */
  readonly saysReady?: boolean;
}

/** What such a child says, by `process.send`. */
export const READY = { heron: 'ready' } as const;

/** How many of a dead process's lines are kept for reports. */
export const LAST_LINES_MAX = 20;

/** A grandchild may hold the output pipe for ever; what it says later is not waited for. */
const OUTPUT_LIMIT_MS = 500;

/** Nobody tells when a process ends that is not a child: it is looked for this often. */
const ADOPTED_PERIOD_MS = 1000;

/** Starts a child that dies with this process (H1) and whose output is copied to a file. */
export function startDependent(
  command: Command,
  { openOutput, clock }: { readonly openOutput: () => RotatingFile; readonly clock: Clock },
): ProcessHandle {
  const tail = new LineTail(LAST_LINES_MAX);
  const ready = Promise.withResolvers<void>();
  let output: RotatingFile | undefined;
  const start = (): ChildProcess => {
    const file = openOutput();
    output = file;
    const channel = command.saysReady === true ? (['ipc'] as const) : [];
    const child = spawnIn(command, ['pipe', 'pipe', 'pipe', ...channel]);
    child.on('message', (message) => {
      if (isDeepStrictEqual(message, READY)) ready.resolve();
    });
    for (const stream of [child.stdout, child.stderr]) {
      stream?.on('data', (chunk: Buffer) => {
        file.append(chunk);
        tail.append(chunk);
      });
    }
    child.stdin?.on('error', () => {}); // It closed its end: its own decision, and no loss to us.
    return child;
  };
  const handle = watch(command, start, {
    lastLines: () => tail.lines(),
    settle: (child) => outputEnd(child, clock),
    onEnded: () => output?.close(),
  });
  return command.saysReady === true ? { ...handle, ready: ready.promise } : handle;
}

/** Starts a child that outlives this process (H2) and appends its output to a file. */
export function startDetached(command: Command, outputFile: string): ProcessHandle {
  const start = (): ChildProcess => {
    mkdirSync(dirname(outputFile), { recursive: true, mode: 0o700 });
    const descriptor = openSync(outputFile, 'a', 0o600);
    try {
      const child = spawnIn(command, ['ignore', descriptor, descriptor]);
      child.unref();
      return child;
    } finally {
      closeSync(descriptor);
    }
  };
  return watch(command, start, { lastLines: () => lastLinesOf(outputFile, LAST_LINES_MAX) });
}

/** Watches a process that another supervisor started and that its pid file still names. */
export function adoptProcess(
  {
    name,
    pidFolder,
    identity,
  }: {
    readonly name: string;
    readonly pidFolder: string;
    readonly identity: ProcessIdentity;
  },
  { outputFile, clock }: { readonly outputFile: string; readonly clock: Clock },
): ProcessHandle {
  const ended = new Promise<Ending>((resolve) => {
    const timer = clock.every(ADOPTED_PERIOD_MS, () => {
      if (isAlive(identity)) return;
      timer.cancel();
      removePidFile(pidFolder, name);
      resolve({ code: null, signal: null, lastLines: lastLinesOf(outputFile, LAST_LINES_MAX) });
    });
  });
  return {
    pid: identity.pid,
    ended,
    signal: (signal) => signalProcess(identity, signal, { group: signal === 'SIGKILL' }),
  };
}

/** Every child leads a process group of its own, so that what it starts can be ended with it. */
function spawnIn(
  { executable, arguments: args, environment, workingDirectory }: Command,
  stdio: ('pipe' | 'ignore' | 'ipc' | number)[],
): ChildProcess {
  return spawn(executable, args, {
    cwd: workingDirectory,
    env: environment,
    stdio,
    detached: true,
  });
}

interface WatchOptions {
  readonly lastLines: () => readonly string[];
  /** What to wait for after the child has ended. */
  readonly settle?: (child: ChildProcess) => Promise<void>;
  readonly onEnded?: () => void;
}

function watch(command: Command, start: () => ChildProcess, options: WatchOptions): ProcessHandle {
  let child: ChildProcess;
  try {
    child = start();
    recordPid(command, child);
  } catch (error) {
    options.onEnded?.();
    return neverStarted(command, error);
  }
  const { pid } = child;
  if (pid === undefined) return notFound(command, child, options);
  let isRunning = true;
  const ended = new Promise<Ending>((resolve) => {
    child.once('exit', (code, signal) => {
      isRunning = false;
      if (command.pidFolder !== undefined) removePidFile(command.pidFolder, command.name);
      sendSignal(-pid, 'SIGKILL'); // What it left in its group.
      void (options.settle?.(child) ?? Promise.resolve()).then(() => {
        options.onEnded?.();
        return resolve({ code, signal, lastLines: options.lastLines() });
      });
    });
  });
  return {
    pid,
    ended,
    signal(signal) {
      if (!isRunning) return;
      sendSignal(signal === 'SIGKILL' ? -pid : pid, signal);
      // Signal handlers run on the main thread only. When user code blocks that, the end of the
      // input is what another thread of the process notices (R7).
      if (signal === 'SIGTERM') child.stdin?.end();
    },
  };
}

/** A child without a pid file would be lost to the next supervisor, so it does not live on. */
function recordPid({ name, pidFolder }: Command, { pid }: ChildProcess): void {
  const identity = pid === undefined ? undefined : identityOf(pid);
  if (pidFolder === undefined || identity === undefined) return;
  try {
    writePidFile(pidFolder, { name, identity });
  } catch (error) {
    sendSignal(-identity.pid, 'SIGKILL');
    throw error;
  }
}

/** Node tells why only after `spawn` has returned. */
function notFound(command: Command, child: ChildProcess, options: WatchOptions): ProcessHandle {
  const ended = new Promise<Ending>((resolve) => {
    child.once('error', (error) => {
      options.onEnded?.();
      resolve(endingOf(command, error));
    });
  });
  return { pid: undefined, ended, signal: () => {} };
}

function neverStarted(command: Command, error: unknown): ProcessHandle {
  return { pid: undefined, ended: Promise.resolve(endingOf(command, error)), signal: () => {} };
}

function endingOf({ name }: Command, error: unknown): Ending {
  const startProblem = `${name} cannot be started: ${messageOf(error)}`;
  return { code: null, signal: null, lastLines: [], startProblem };
}

/** Resolves when the child's output has been read to its end, or when that takes too long. */
function outputEnd(child: ChildProcess, clock: Clock): Promise<void> {
  return new Promise((resolve) => {
    const limit = clock.after(OUTPUT_LIMIT_MS, () => {
      child.stdout?.destroy();
      child.stderr?.destroy();
      resolve();
    });
    child.once('close', () => {
      limit.cancel();
      resolve();
    });
  });
}
