import { join } from 'node:path';
import type { Clock } from '../../base/clock.ts';
import { messageOf } from '../../base/errors.ts';
import type { Files } from '../../base/files.ts';
import { topologyName } from '../../base/ids.ts';
import type { Logger } from '../../base/logger.ts';
import { systemCodeOf, unless } from '../../base/system-codes.ts';
import { parseCompletion } from '../../model/completion.ts';
import { paths } from '../../state-manager/paths.ts';
import type { StateManager } from '../../state-manager/state-manager.ts';
import { readLaunchRecord } from './launch-record.ts';
import {
  allKeptLogsFolder,
  allTopologiesFolder,
  keptLogsFolder,
  type WorkingFolder,
  workingFolderAt,
} from './working-folder.ts';

export interface RetentionOptions {
  readonly dataRoot: string;
  readonly stateManager: StateManager;
  readonly retentionMs: number;
  readonly files: Files;
  readonly clock: Clock;
  readonly logger: Logger;
}

/** Of the topologies that have a folder here. */
async function runningIds(files: Files, dataRoot: string): Promise<ReadonlySet<string>> {
  const ids = new Set<string>();
  for (const folder of await workingFolders(files, dataRoot)) {
    const record = await readLaunchRecord(files, folder);
    if (record !== undefined) ids.add(record.topologyId);
  }
  return ids;
}

/**
 * Removes the records and logs of topologies that ended longer ago than they are kept. Nobody
 * runs for ever to do it, so every launch does; what fails is left to the next one.
 */
export async function removeExpired(options: RetentionOptions): Promise<void> {
  const { dataRoot, stateManager, retentionMs, files, clock, logger } = options;
  const names = await stateManager.list(paths.completedTopologies);
  for (const name of names.map(topologyName)) {
    try {
      const bytes = await stateManager.read(paths.completed(name));
      if (bytes === undefined) continue;
      const { topologyId, completedAtMs } = parseCompletion(bytes);
      if (clock.wallNow() - completedAtMs <= retentionMs) continue;
      await files.removeTree(keptLogsFolder(dataRoot, topologyId));
      await stateManager.delete(paths.completed(name));
    } catch (error) {
      const reason = messageOf(error);
      logger.warn('the remains of a completed topology stay', { topology: name, reason });
    }
  }
  await removeOldLogs(options);
}

/**
 * Logs without a record are those of topologies that could not start, or of containers that have
 * left one that runs: those stay as long as it does, for its dead letters are among them.
 */
async function removeOldLogs(options: RetentionOptions): Promise<void> {
  const { dataRoot, retentionMs, files, clock, logger } = options;
  const folder = allKeptLogsFolder(dataRoot);
  try {
    const running = await runningIds(files, dataRoot);
    for (const { name } of await files.list(folder)) {
      if (running.has(name)) continue;
      const { modifiedAtMs } = await files.facts(join(folder, name));
      if (clock.wallNow() - modifiedAtMs <= retentionMs) continue;
      await files.removeTree(join(folder, name));
    }
  } catch (error) {
    if (systemCodeOf(error) === 'ENOENT') return; // Another launch is at it.
    logger.warn('old logs stay', { folder, reason: messageOf(error) });
  }
}

/** `<cluster>/<role>/<topology>` below the folder of all topologies. */
const FOLDER_DEPTH = 3;

async function workingFolders(files: Files, dataRoot: string): Promise<readonly WorkingFolder[]> {
  let folders: readonly string[] = [allTopologiesFolder(dataRoot)];
  for (let depth = 0; depth < FOLDER_DEPTH; depth += 1) {
    const below = folders.map(async (folder) => {
      const entries = await unless(['ENOENT', 'ENOTDIR'], files.list(folder), []);
      return entries.map(({ name }) => join(folder, name));
    });
    folders = (await Promise.all(below)).flat();
  }
  return folders.map(workingFolderAt);
}
