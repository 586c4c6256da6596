import { messageOf } from '../base/errors.ts';
import type { Files } from '../base/files.ts';
import type { Logger } from '../base/logger.ts';
import {
  type ContainerReport,
  parseContainerReport,
  type ProcessReport,
} from '../model/container-report.ts';
import { type EndOptions, endProcesses } from '../supervision/end-processes.ts';
import { listPidFiles, removePidFile } from '../supervision/pid-file.ts';

/*
  What an executor of the same container that died left behind: processes, which are ended, and its
  last report, whose counters and reasons live on.
*/

/**
 * Ends the children of a dead executor. They end by themselves when their standard input does, but
 * must be gone before others take their names. Pid files tell a process from a later one with the
 * same pid, so nothing else is ever touched.
 */
export async function endLeftovers(
  folder: string,
  options: EndOptions & {
    readonly files: Files;
    readonly graceMs: number;
    readonly logger: Logger;
  },
): Promise<void> {
  const { files, logger } = options;
  const records = listPidFiles(files, folder);
  const left = await endProcesses(
    records.map(({ identity }) => identity),
    options,
  );
  for (const { pid } of left) logger.error('a process of a dead executor cannot be ended', { pid });
  for (const { name } of records) removePidFile(files, folder, name);
}

export type ProcessHistory = ReadonlyMap<string, Pick<ProcessReport, 'restarts' | 'lastExit'>>;

/** What the last report says about processes, by name; those it ran died with its executor. */
export function historyOf(
  bytes: Uint8Array | undefined,
  { nowMs, logger }: { readonly nowMs: number; readonly logger: Logger },
): ProcessHistory {
  if (bytes === undefined) return new Map();
  try {
    const report = parseContainerReport(bytes);
    return new Map(report.processes.map((process) => [process.name, past(process, report, nowMs)]));
  } catch (error) {
    // A damaged report costs its history only; the container runs without.
    logger.warn('the last container report cannot be read', { reason: messageOf(error) });
    return new Map();
  }
}

function past(
  process: ProcessReport,
  { pid }: ContainerReport,
  nowMs: number,
): Pick<ProcessReport, 'restarts' | 'lastExit'> {
  if (process.state !== 'running') return process;
  return {
    restarts: process.restarts,
    lastExit: {
      code: null,
      signal: null,
      atMs: nowMs,
      reason: `ended with its executor (pid ${pid}), which died`,
      lastLines: [],
    },
  };
}
