import { join } from 'node:path';
import type { Clock } from '../../base/clock.ts';
import { messageOf } from '../../base/errors.ts';
import type { Files } from '../../base/files.ts';
import { topologyName } from '../../base/ids.ts';
import type { Logger } from '../../base/logger.ts';
import { systemCodeOf } from '../../base/system-codes.ts';
import { parseCompletion } from '../../model/completion.ts';
import { paths } from '../../state-manager/paths.ts';
import type { StateManager } from '../../state-manager/state-manager.ts';
import { allKeptLogsFolder, keptLogsFolder } from './working-folder.ts';

export interface RetentionOptions {
  readonly dataRoot: string;
  readonly stateManager: StateManager;
  readonly retentionMs: number;
  readonly files: Files;
  readonly clock: Clock;
  readonly logger: Logger;
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

/** Logs without a record are those of topologies that could not start. */
async function removeOldLogs(options: RetentionOptions): Promise<void> {
  const { dataRoot, retentionMs, files, clock, logger } = options;
  const folder = allKeptLogsFolder(dataRoot);
  try {
    for (const { name } of await files.list(folder)) {
      const { modifiedAtMs } = await files.facts(join(folder, name));
      if (clock.wallNow() - modifiedAtMs <= retentionMs) continue;
      await files.removeTree(join(folder, name));
    }
  } catch (error) {
    if (systemCodeOf(error) === 'ENOENT') return; // Another launch is at it.
    logger.warn('old logs stay', { folder, reason: messageOf(error) });
  }
}
