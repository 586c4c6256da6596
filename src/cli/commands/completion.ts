import type { CommandResult } from '../command-context.ts';
import { completionScript, type Shell } from '../completion/scripts.ts';

/** Prints what a shell has to read to complete the words of `heron`. */
export function completion(shell: Shell): CommandResult {
  const script = completionScript(shell);
  return { json: { shell, script }, text: script.trimEnd() };
}
