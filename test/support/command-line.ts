import { join } from 'node:path';
import { PassThrough } from 'node:stream';
import { text } from 'node:stream/consumers';
import { runCommandLine } from '../../src/cli/run-command-line.ts';

export interface CommandLineEnd {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

/** Runs the command line in this process, with a data root of its own. */
export async function runInProcess(
  dataRoot: string,
  args: readonly string[],
  environment: NodeJS.ProcessEnv = {},
): Promise<CommandLineEnd> {
  const stdout = new PassThrough();
  const stderr = new PassThrough();
  const texts = Promise.all([text(stdout), text(stderr)]);
  const code = await runCommandLine({
    args,
    stdout,
    stderr,
    environment: { HERON_DATA: dataRoot, HERON_CONFIG: join(dataRoot, 'config'), ...environment },
    interruption: new AbortController().signal,
  });
  stdout.end();
  stderr.end();
  const [out, err] = await texts;
  return { code, stdout: out, stderr: err };
}
