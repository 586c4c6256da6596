/* Running the command-line tools of the scripts. */

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { dirname, join } from 'node:path';
import { text } from 'node:stream/consumers';

/** The repository's folder. */
export const root: string = dirname(import.meta.dirname);

export interface ToolResult {
  readonly passed: boolean;
  readonly output: string;
}

/** Runs a tool of node_modules/.bin, by this Node, and collects what it says. */
export function runTool(name: string, args: readonly string[]): Promise<ToolResult> {
  return run(join(root, 'node_modules', '.bin', name), args);
}

/** Runs one of our own scripts. */
export function runScript(name: string, args: readonly string[] = []): Promise<ToolResult> {
  return run(process.execPath, [join(root, 'scripts', name), ...args]);
}

/** Runs any program, by default in the repository's folder. */
export async function run(
  program: string,
  args: readonly string[],
  cwd: string = root,
): Promise<ToolResult> {
  const child = spawn(program, args, { cwd, stdio: ['ignore', 'pipe', 'pipe'] });
  const [[code], out, err] = await Promise.all([
    once(child, 'close'),
    text(child.stdout),
    text(child.stderr),
  ]);
  return { passed: code === 0, output: out + err };
}

/** Waits for a step that has to work, and returns what it said. */
export async function mustPass(step: string, result: Promise<ToolResult>): Promise<string> {
  const { passed, output } = await result;
  if (!passed) throw new Error(`${step} failed:\n${output}`);
  return output;
}
