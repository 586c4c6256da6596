import type { Clock } from '../base/clock.ts';
import type { Files } from '../base/files.ts';
import type { Logger } from '../base/logger.ts';
import type { Random } from '../base/random.ts';
import type { StateAddress } from '../state-manager/state-address.ts';
import type { StateManager } from '../state-manager/state-manager.ts';
import type { ProcessTable } from '../supervision/process-table.ts';
import { createUploader } from '../uploader/create.ts';
import type { Uploader } from '../uploader/uploader.ts';
import { LocalScheduler } from './local/local-scheduler.ts';
import { keptLogsFolder, uploadsFolder, workingFolderOf } from './local/working-folder.ts';
import type { Scheduler, SchedulerTarget } from './scheduler.ts';

export {
  type DeadLetterFolder,
  keptDeadLetterFolders,
  runningDeadLetterFolders,
} from './local/dead-letter-folders.ts';
export { keptLogFolders, type LogFolder, runningLogFolders } from './local/log-folders.ts';
export { keptLogsFolder };

export interface LocalOptions {
  readonly kind: 'local';
  /** Holds everything of this machine: running topologies, uploads, kept logs. */
  readonly dataRoot: string;
  /** Where the topologies' processes find the state tree. */
  readonly state: StateAddress;
  /** The addresses that containers get in turn; 127.0.0.1 unless set. */
  readonly hosts?: readonly string[];
  readonly stateManager: StateManager;
  readonly files: Files;
  readonly processes: ProcessTable;
  /** What runs the processes' entry files, and the variables that they get. */
  readonly executable: string;
  readonly variables: NodeJS.ProcessEnv;
  readonly clock: Clock;
  readonly random: Random;
  readonly logger: Logger;
}

/** Makes a scheduler. It touches nothing until it is used. */
export function createScheduler({ hosts = ['127.0.0.1'], ...options }: LocalOptions): Scheduler {
  return new LocalScheduler({
    ...options,
    hosts,
    archivesOf: (target) => createArchives(options, target),
  });
}

/** The uploader for one topology's archives, where its scheduler and its containers find them. */
export function createArchives(
  { dataRoot, random, files }: Pick<LocalOptions, 'dataRoot' | 'random' | 'files'>,
  target: SchedulerTarget,
): Uploader {
  const folder = uploadsFolder(dataRoot, target);
  return createUploader({ kind: 'file', folder, random, files });
}

/** Holds all that a running topology has on this machine, its logs among it. */
export function workingRootOf(dataRoot: string, target: SchedulerTarget): string {
  return workingFolderOf(dataRoot, target).root;
}
