import type { ProcessIdentities } from '../base/process-identities.ts';
import type { ProcessIdentity } from '../base/process-identity.ts';
import type { AppendFile } from '../base/rotating-file.ts';
import type { ProcessHandle } from './process-handle.ts';

/** What is to be started. */
export interface Command {
  readonly name: string;
  readonly executable: string;
  readonly arguments: readonly string[];
  readonly environment: NodeJS.ProcessEnv;
  readonly workingDirectory: string;
  /** Where its pid file is kept; undefined for a process that writes its own. */
  readonly pidFolder: string | undefined;
  /** A dependent child that tells its parent once it does its work (ready-message.ts). */
  readonly saysReady?: boolean;
  /** A dependent child that beats for its parent (base/beat.ts). */
  readonly beats?: boolean;
}

export type SignalName = 'SIGTERM' | 'SIGKILL';

/**
 * The machine's processes: starts them, signals them, tells which live. The simulator has one of
 * its own; what supervisors make of it (adoption, restarts, sweeps) is the same code on both.
 *
 * P1. A dependent child ends when the process that started it does, however that happens.
 * P2. A detached child outlives it.
 * P3. While a child lives a pid file names it, where its command asks for one; it is removed when
 *     the child has been seen to end.
 */
export interface ProcessTable extends ProcessIdentities {
  /** `openOutput` makes the file that takes the child's output. */
  startDependent(command: Command, openOutput: () => AppendFile): ProcessHandle;
  /** Its output is appended to `outputFile`. */
  startDetached(command: Command, outputFile: string): ProcessHandle;
  /** Signals one process, or the whole group that it leads; nothing there is no error. */
  signal(pid: number, name: SignalName, options?: { readonly group?: boolean }): void;
  /** The processes whose environment holds this variable with this value; the asker left out. */
  findByVariable(name: string, value: string): readonly ProcessIdentity[];
  /** The last lines of an output file of this machine, oldest first; none when there is none. */
  lastLinesOf(outputFile: string, linesMax: number): readonly string[];
}
