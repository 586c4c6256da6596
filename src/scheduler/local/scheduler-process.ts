import { entryFile, nodeArguments } from '../../base/entry.ts';
import { type EngineError, environmentError } from '../../base/errors.ts';
import type { Files } from '../../base/files.ts';
import type { ProcessIdentities } from '../../base/process-identities.ts';
import type { ProcessIdentity } from '../../base/process-identity.ts';
import { parseProcessReport, type ProcessReport } from '../../model/container-report.ts';
import type { ProcessEnvironment } from '../../process-start/process-environment.ts';
import { exitReason } from '../../supervision/exit-reason.ts';
import { listPidFiles, type PidRecord, readPidFile } from '../../supervision/pid-file.ts';
import type { Ending, ProcessHandle } from '../../supervision/process-handle.ts';
import { topologyMark } from '../../supervision/topology-processes.ts';
import type { LaunchRecord } from './launch-record.ts';
import { schedulerFlags } from './scheduler-arguments.ts';
import { SCHEDULER, type WorkingFolder } from './working-folder.ts';

/* The scheduler process as commands see it: its start, its pid file, what it reports. */

/** What starting a scheduler process takes. */
export type SchedulerParent = Pick<ProcessEnvironment, 'processes' | 'executable' | 'variables'>;

/** Where a scheduler is looked for. */
export interface Machine {
  readonly files: Files;
  readonly processes: ProcessIdentities;
}

/** The scheduler writes its own pid file, once no other one lives. */
export function startSchedulerProcess(
  folder: WorkingFolder,
  record: LaunchRecord,
  { processes, executable, variables }: SchedulerParent,
  command: readonly string[] = [...nodeArguments(), entryFile('scheduler/local/main')],
): ProcessHandle {
  const scheduler = {
    name: SCHEDULER,
    executable,
    arguments: [...command, ...schedulerFlags({ ...record, workingRoot: folder.root })],
    // The mark lets a kill find a scheduler that has not yet come to write its pid file.
    environment: { ...variables, ...topologyMark(record.topologyId) },
    workingDirectory: folder.root,
    pidFolder: undefined,
  };
  return processes.startDetached(scheduler, folder.schedulerOutput);
}

export function schedulerFailed(ending: Ending): EngineError {
  const reason = ending.startProblem ?? `the scheduler ${exitReason(ending)}`;
  return environmentError('PROCESS_FAILED', [reason, ...ending.lastLines].join('\n  '));
}

export function liveScheduler(
  machine: Machine,
  { root }: WorkingFolder,
): ProcessIdentity | undefined {
  return liveProcess(machine, root, SCHEDULER);
}

/** The process that a pid file names, while it lives. */
export function liveProcess(
  { files, processes }: Machine,
  folder: string,
  name: string,
): ProcessIdentity | undefined {
  const identity = readPidFile(files, folder, name);
  return identity !== undefined && processes.isAlive(identity) ? identity : undefined;
}

/** The executors that a scheduler started here, alive or not. */
export function executorRecords(files: Files, root: string): readonly PidRecord[] {
  return listPidFiles(files, root).filter(({ name }) => name !== SCHEDULER);
}

/** What the scheduler last said about its executors; nothing before it has started them. */
export async function readExecutors(
  files: Files,
  folder: WorkingFolder,
): Promise<readonly ProcessReport[]> {
  let bytes: Uint8Array;
  try {
    bytes = await files.read(folder.executorsFile);
  } catch {
    return []; // Not there yet, or gone with its topology.
  }
  const reports: unknown = JSON.parse(Buffer.from(bytes).toString());
  if (!Array.isArray(reports)) {
    throw environmentError('STATE_CORRUPTED', `${folder.executorsFile} is not a list`);
  }
  return reports.map((report, index) => parseProcessReport(report, `executors[${index}]`));
}
