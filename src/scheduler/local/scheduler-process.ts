import { readFile } from 'node:fs/promises';
import { entryFile, nodeArguments } from '../../base/entry.ts';
import { type EngineError, environmentError } from '../../base/errors.ts';
import { isAlive, type ProcessIdentity } from '../../base/process-identity.ts';
import { parseProcessReport, type ProcessReport } from '../../model/container-report.ts';
import { exitReason } from '../../supervision/exit-reason.ts';
import { listPidFiles, type PidRecord, readPidFile } from '../../supervision/pid-file.ts';
import type { Ending, ProcessHandle } from '../../supervision/process-handle.ts';
import { startDetached } from '../../supervision/start-process.ts';
import { topologyMark } from '../../supervision/topology-processes.ts';
import type { LaunchRecord } from './launch-record.ts';
import { schedulerFlags } from './scheduler-arguments.ts';
import { SCHEDULER, type WorkingFolder } from './working-folder.ts';

/* The scheduler process as commands see it: its start, its pid file, what it reports. */

/** The scheduler writes its own pid file, once no other one lives. */
export function startSchedulerProcess(
  folder: WorkingFolder,
  record: LaunchRecord,
  command: readonly string[] = [...nodeArguments(), entryFile('scheduler/local/main')],
): ProcessHandle {
  const scheduler = {
    name: SCHEDULER,
    executable: process.execPath,
    arguments: [...command, ...schedulerFlags({ ...record, workingRoot: folder.root })],
    // The mark lets a kill find a scheduler that has not yet come to write its pid file.
    environment: { ...process.env, ...topologyMark(record.topologyId) },
    workingDirectory: folder.root,
    pidFolder: undefined,
  };
  return startDetached(scheduler, folder.schedulerOutput);
}

export function schedulerFailed(ending: Ending): EngineError {
  const reason = ending.startProblem ?? `the scheduler ${exitReason(ending)}`;
  return environmentError('PROCESS_FAILED', [reason, ...ending.lastLines].join('\n  '));
}

export function liveScheduler({ root }: WorkingFolder): ProcessIdentity | undefined {
  const identity = readPidFile(root, SCHEDULER);
  return identity !== undefined && isAlive(identity) ? identity : undefined;
}

/** The executors that a scheduler started here, alive or not. */
export function executorRecords(root: string): readonly PidRecord[] {
  return listPidFiles(root).filter(({ name }) => name !== SCHEDULER);
}

/** What the scheduler last said about its executors; nothing before it has started them. */
export async function readExecutors(folder: WorkingFolder): Promise<readonly ProcessReport[]> {
  let text: string;
  try {
    text = await readFile(folder.executorsFile, 'utf8');
  } catch {
    return []; // Not there yet, or gone with its topology.
  }
  const reports: unknown = JSON.parse(text);
  if (!Array.isArray(reports)) {
    throw environmentError('STATE_CORRUPTED', `${folder.executorsFile} is not a list`);
  }
  return reports.map((report, index) => parseProcessReport(report, `executors[${index}]`));
}
