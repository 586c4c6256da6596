import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync, readlinkSync } from 'node:fs';
import type { TestContext } from 'node:test';
import { entryFile, nodeArguments } from '../../src/base/entry.ts';
import type { FoundProcess } from './process-table.ts';

export interface TwinProcess {
  readonly pid: number;
  readonly child: ChildProcess;
  /** Everything that it has printed, and the code; null when a signal ended it. */
  readonly end: Promise<{ readonly code: number | null; readonly output: string }>;
}

/** The way to a parent that the twin does not have. */
const CHANNEL_VARIABLES = ['NODE_CHANNEL_FD', 'NODE_CHANNEL_SERIALIZATION_MODE'];

/**
 * Starts by hand what an executor has started: the same arguments, environment and folder, but for
 * the flags that are given. It ends with the test.
 *
 * @param entry As for `entryFile`: a process shows its name instead of it.
 */
export function twinOf(
  t: TestContext,
  { pid: original, commandLine }: FoundProcess,
  entry: string,
  flags: Readonly<Record<string, string>> = {},
): TwinProcess {
  const changed = commandLine
    .split(' ')
    .slice(1)
    .map((argument) => {
      const name = /^--([\w-]+)=/.exec(argument)?.[1] ?? '';
      return name in flags ? `--${name}=${flags[name]}` : argument;
    });
  const child = spawn(process.execPath, [...nodeArguments(), entryFile(entry), ...changed], {
    cwd: readlinkSync(`/proc/${original}/cwd`),
    env: environmentOf(original),
    stdio: ['pipe', 'pipe', 'pipe'],
  });
  const { pid = 0 } = child;
  t.after(() => child.kill('SIGKILL'));
  let output = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream.on('data', (chunk: Buffer) => (output += chunk.toString()));
  }
  const end = once(child, 'close').then(([code]) => ({ code: code as number | null, output }));
  return { pid, child, end };
}

function environmentOf(pid: number): NodeJS.ProcessEnv {
  const words = readFileSync(`/proc/${pid}/environ`, 'utf8').split('\0').slice(0, -1);
  const variables = words.map((word) => {
    const at = word.indexOf('=');
    return [word.slice(0, at), word.slice(at + 1)] as const;
  });
  return Object.fromEntries(variables.filter(([name]) => !CHANNEL_VARIABLES.includes(name)));
}
