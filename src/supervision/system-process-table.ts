import { type ChildProcess, spawn } from 'node:child_process';
import { closeSync, mkdirSync, openSync, readdirSync, readFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { Readable } from 'node:stream';
import { isDeepStrictEqual } from 'node:util';
import { BEAT_DESCRIPTOR, BEAT_VARIABLE, beatsFor } from '../base/beat.ts';
import { systemClock } from '../base/clock.ts';
import { messageOf } from '../base/errors.ts';
import { systemProcessIdentities } from '../base/process-identities.ts';
import type { ProcessIdentity } from '../base/process-identity.ts';
import type { AppendFile } from '../base/rotating-file.ts';
import { systemFiles } from '../base/system-files.ts';
import { openChildChannel } from './child-channel.ts';
import { lastLinesOf } from './last-lines.ts';
import { LineTail } from './line-tail.ts';
import { removePidFile, writePidFile } from './pid-file.ts';
import {
  type Ending,
  LAST_LINES_MAX,
  type LineChannel,
  type ProcessHandle,
} from './process-handle.ts';
import type { Command, ProcessTable, SignalName } from './process-table.ts';
import { READY } from './ready-message.ts';

/*
  The processes of the operating system.

  H1. A dependent child holds the read end of a pipe as its standard input: it ends when this
      process does, however that happens, and the child then ends too (P1). What is written to it
      are questions, which the child may leave unread.
  H2. A detached child leads its own session and writes to a file (P2).
  H3. A process is found by its variables on Linux only; elsewhere nothing is found and pid files
      must do.
  H4. Its beats and its answers come through a pipe of their own, whose end in the child never
      blocks it: a beat that it cannot write at once it does not write.
*/

/** A grandchild may hold the output pipe for ever; what it says later is not waited for. */
const OUTPUT_LIMIT_MS = 500;

export const systemProcessTable: ProcessTable = {
  ...systemProcessIdentities,
  startDependent,
  startDetached,
  signal: (pid, name, { group = false } = {}) => sendSignal(group ? -pid : pid, name),
  findByVariable,
  lastLinesOf,
};

/** Starts a child that dies with this process (H1) and whose output is copied to a file. */
function startDependent(command: Command, openOutput: () => AppendFile): ProcessHandle {
  const tail = new LineTail(LAST_LINES_MAX);
  const ready = Promise.withResolvers<void>();
  let output: AppendFile | undefined;
  let channel: LineChannel | undefined;
  let beats = 0;
  const start = (): ChildProcess => {
    const file = openOutput();
    output = file;
    const messages = command.saysReady === true ? (['ipc'] as const) : [];
    const child = spawnIn(listening(command), ['pipe', 'pipe', 'pipe', 'pipe', ...messages]);
    channel = channelWith(child, (count) => {
      beats += count;
    });
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
    settle: outputEnd,
    onEnded: () => output?.close(),
  });
  return {
    ...handle,
    ...(command.saysReady === true && { ready: ready.promise }),
    ...(command.beats === true && { beats: () => beats, ...(channel && { channel }) }),
  };
}

/** A child that is not to beat would inherit the wish from our own environment. */
function listening(command: Command): Command {
  const { [BEAT_VARIABLE]: _, ...environment } = command.environment;
  if (command.beats !== true) return { ...command, environment };
  return { ...command, environment: { ...environment, ...beatsFor(process) } };
}

/** Undefined when the child could not be started. */
function channelWith(
  child: ChildProcess,
  onBeats: (count: number) => void,
): LineChannel | undefined {
  const fromChild = child.stdio[BEAT_DESCRIPTOR];
  if (!(fromChild instanceof Readable) || child.stdin === null) return undefined;
  return openChildChannel({ toChild: child.stdin, fromChild, onBeats });
}

/** Starts a child that outlives this process (H2) and appends its output to a file. */
function startDetached(command: Command, outputFile: string): ProcessHandle {
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
      if (command.pidFolder !== undefined)
        removePidFile(systemFiles, command.pidFolder, command.name);
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
  const identity = pid === undefined ? undefined : systemProcessTable.identityOf(pid);
  if (pidFolder === undefined || identity === undefined) return;
  try {
    writePidFile(systemFiles, pidFolder, { name, identity });
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
function outputEnd(child: ChildProcess): Promise<void> {
  return new Promise((resolve) => {
    const limit = systemClock.after(OUTPUT_LIMIT_MS, () => {
      child.stdout?.destroy();
      child.stderr?.destroy();
      child.stdio[BEAT_DESCRIPTOR]?.destroy();
      resolve();
    });
    child.once('close', () => {
      limit.cancel();
      resolve();
    });
  });
}

/** Like `process.kill`, but a process that is gone or never was a group leader is no error. */
function sendSignal(pid: number, name: SignalName): void {
  try {
    process.kill(pid, name);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
  }
}

function findByVariable(name: string, value: string): readonly ProcessIdentity[] {
  if (process.platform !== 'linux') return [];
  const variable = Buffer.from(`${name}=${value}\0`);
  return readdirSync('/proc').flatMap((entry) => {
    const pid = Number(entry);
    if (!Number.isInteger(pid) || pid === process.pid) return [];
    // Before the look inside: the pid may change its owner.
    const identity = systemProcessTable.identityOf(pid);
    return identity !== undefined && hasInEnvironment(pid, variable) ? [identity] : [];
  });
}

function hasInEnvironment(pid: number, variable: Buffer): boolean {
  try {
    const environment = readFileSync(`/proc/${pid}/environ`);
    const at = environment.indexOf(variable);
    return at === 0 || (at > 0 && environment[at - 1] === 0);
  } catch {
    return false; // Gone, or another user's and so not ours.
  }
}
