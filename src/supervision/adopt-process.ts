import type { Clock } from '../base/clock.ts';
import type { Files } from '../base/files.ts';
import type { ProcessIdentity } from '../base/process-identity.ts';
import { signalProcess } from './end-processes.ts';
import { removePidFile } from './pid-file.ts';
import { type Ending, LAST_LINES_MAX, type ProcessHandle } from './process-handle.ts';
import type { ProcessTable } from './process-table.ts';

/** What an earlier supervisor left running. */
export interface LeftProcess {
  readonly name: string;
  readonly identity: ProcessIdentity;
  /** Where its pid file is. */
  readonly pidFolder: string;
  readonly outputFile: string;
}

/** Nobody tells when a process ends that is not a child: it is looked for this often. */
const PERIOD_MS = 1000;

/** Watches a process that another supervisor started and that its pid file still names. */
export function adoptProcess(
  { name, identity, pidFolder, outputFile }: LeftProcess,
  options: { readonly processes: ProcessTable; readonly files: Files; readonly clock: Clock },
): ProcessHandle {
  const { processes, files, clock } = options;
  const ended = new Promise<Ending>((resolve) => {
    const timer = clock.every(PERIOD_MS, () => {
      if (processes.isAlive(identity)) return;
      timer.cancel();
      removePidFile(files, pidFolder, name);
      const lastLines = processes.lastLinesOf(outputFile, LAST_LINES_MAX);
      resolve({ code: null, signal: null, lastLines });
    });
  });
  return {
    pid: identity.pid,
    ended,
    signal: (signal) => signalProcess(processes, identity, signal, { group: signal === 'SIGKILL' }),
  };
}
