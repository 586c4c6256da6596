import { join } from 'node:path';
import { environmentError, messageOf } from '../../base/errors.ts';
import type { Files } from '../../base/files.ts';
import type { TopologyId, TopologyName } from '../../base/ids.ts';
import type { Logger } from '../../base/logger.ts';
import type { ProcessIdentity } from '../../base/process-identity.ts';
import { parseCompletion } from '../../model/completion.ts';
import { paths } from '../../state-manager/paths.ts';
import type { StateManager } from '../../state-manager/state-manager.ts';
import { type EndOptions, endProcesses, killProcesses } from '../../supervision/end-processes.ts';
import { listPidFiles } from '../../supervision/pid-file.ts';
import { executorLimitMs } from '../../supervision/shutdown-limits.ts';
import { findTopologyProcesses } from '../../supervision/topology-processes.ts';
import type { Uploader } from '../../uploader/uploader.ts';
import { keepContainer, move } from './kept-logs.ts';
import { executorRecords } from './scheduler-process.ts';
import { removeRunningNodes, removeTopologyNodes } from './state-cleanup.ts';
import { CONTAINER_PREFIX, keptLogsFolder, type WorkingFolder } from './working-folder.ts';

/*
  The end of a topology: by its scheduler, or by a command when the scheduler is dead. Every step
  may find its work done, half done or not begun.

  T1. Processes go before the nodes and files that they use.
  T2. What says that the topology exists goes last: until then the same command can finish the work.
  T3. Resolving means that nothing is left. What cannot be removed is named in the error.
*/

export interface ProcessRemains extends EndOptions {
  readonly folder: WorkingFolder;
  /** Of the topology at hand, and of a dead one whose remains are in its folder. */
  readonly topologyIds: readonly TopologyId[];
  readonly graceMs: number;
  readonly files: Files;
}

export interface TeardownOptions extends ProcessRemains {
  readonly dataRoot: string;
  readonly topologyName: TopologyName;
  /** The uploaded archive; undefined when it is not known any more. */
  readonly archive: string | undefined;
  readonly archives: Pick<Uploader, 'remove'>;
  readonly stateManager: StateManager;
  readonly keepLogs: boolean;
  readonly logger: Logger;
}

/** @throws EngineError PROCESS_LOST naming the processes left, or FILE_FAILED naming the file. */
export async function teardown(options: TeardownOptions): Promise<void> {
  const { folder, topologyName, topologyIds, archive, archives, stateManager, logger } = options;
  await endTopologyProcesses(options);
  await removeRunningNodes(stateManager, topologyName);
  if (options.keepLogs) await keepLogs(options);
  else await forgetKeptLogs(options);
  // The folder goes after the archive: it holds the only note of where the archive is.
  if (archive !== undefined) await archives.remove(archive);
  await removeFolder(options.files, folder.root);
  await removeTopologyNodes(stateManager, topologyName, topologyIds);
  logger.info('the topology is gone', { topology: topologyName });
}

/** Ends what an earlier topology left in a folder that another one needs, nodes aside. */
export async function clearRemains(remains: ProcessRemains): Promise<void> {
  await endTopologyProcesses(remains);
  await removeFolder(remains.files, remains.folder.root);
}

/** A process may be in the middle of starting another one: look again until nothing is found. */
const SWEEPS_MAX = 10;

/** Executors end their children in order; what is left then, whoever started it, is killed. */
async function endTopologyProcesses(remains: ProcessRemains): Promise<void> {
  const { folder, topologyIds, graceMs, files, processes } = remains;
  await endProcesses(
    executorRecords(files, folder.root).map(({ identity }) => identity),
    { ...remains, graceMs: executorLimitMs(graceMs) },
  );
  const children = await pidFilesOfContainers(files, folder);
  let left = await killProcesses(children, remains);
  for (let sweep = 0; sweep < SWEEPS_MAX; sweep += 1) {
    const found = topologyIds.flatMap((id) => findTopologyProcesses(processes, id));
    if (found.length === 0 && left.length === 0) return;
    left = await killProcesses(found, remains);
  }
  const pids = left.map(({ pid }) => pid).join(', ');
  throw environmentError('PROCESS_LOST', `processes that cannot be ended: ${pids}`, {
    retryable: true,
  });
}

/** Where environments cannot be seen, pid files are all there is to go by. */
async function pidFilesOfContainers(
  files: Files,
  { root }: WorkingFolder,
): Promise<readonly ProcessIdentity[]> {
  return (await namesIn(files, root))
    .filter(isContainer)
    .flatMap((name) => listPidFiles(files, join(root, name)).map(({ identity }) => identity));
}

async function keepLogs({ folder, dataRoot, topologyIds, files }: TeardownOptions): Promise<void> {
  const [id] = topologyIds;
  if (id === undefined) return;
  const target = keptLogsFolder(dataRoot, id);
  for (const name of await namesIn(files, folder.root)) {
    if (!isContainer(name)) continue;
    await keepContainer(files, join(folder.root, name), join(target, name));
  }
  await move(files, folder.schedulerLog, join(target, 'scheduler.log'));
  await move(files, folder.schedulerOutput, join(target, 'scheduler.out'));
}

/**
 * Those of containers that left while the topology ran. A topology that has completed meanwhile
 * keeps them, with its others.
 */
async function forgetKeptLogs(options: TeardownOptions): Promise<void> {
  const { topologyIds, topologyName, dataRoot, stateManager, files } = options;
  const record = await stateManager.read(paths.completed(topologyName));
  for (const id of topologyIds) {
    if (!mayBeOf(record, id)) await removeFolder(files, keptLogsFolder(dataRoot, id));
  }
}

/** A record of completion that is damaged may be anybody's. */
function mayBeOf(record: Uint8Array | undefined, id: TopologyId): boolean {
  if (record === undefined) return false;
  try {
    return parseCompletion(record).topologyId === id;
  } catch {
    return true; // Logs too many are better than logs that are gone.
  }
}

async function removeFolder(files: Files, folder: string): Promise<void> {
  try {
    await files.removeTree(folder);
  } catch (cause) {
    throw environmentError('FILE_FAILED', `cannot remove ${folder}: ${messageOf(cause)}`, {
      retryable: true,
      cause,
    });
  }
}

function isContainer(name: string): boolean {
  return name.startsWith(CONTAINER_PREFIX);
}

async function namesIn(files: Files, folder: string): Promise<readonly string[]> {
  try {
    return (await files.list(folder)).map(({ name }) => name);
  } catch {
    return []; // Gone already.
  }
}
