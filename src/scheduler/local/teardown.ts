import { cp, mkdir, readdir, rename, rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import type { Clock } from '../../base/clock.ts';
import { environmentError, messageOf } from '../../base/errors.ts';
import type { TopologyId, TopologyName } from '../../base/ids.ts';
import type { Logger } from '../../base/logger.ts';
import type { ProcessIdentity } from '../../base/process-identity.ts';
import type { StateManager } from '../../state-manager/state-manager.ts';
import { endProcesses, killProcesses } from '../../supervision/end-processes.ts';
import { listPidFiles } from '../../supervision/pid-file.ts';
import { executorLimitMs } from '../../supervision/shutdown-limits.ts';
import { findTopologyProcesses } from '../../supervision/topology-processes.ts';
import type { Uploader } from '../../uploader/uploader.ts';
import { executorRecords } from './scheduler-process.ts';
import { removeRunningNodes, removeTopologyNodes } from './state-cleanup.ts';
import {
  CONTAINER_PREFIX,
  keptLogsFolder,
  logFolder,
  type WorkingFolder,
} from './working-folder.ts';

/*
  The end of a topology: by its scheduler, or by a command when the scheduler is dead. Every step
  may find its work done, half done or not begun.

  T1. Processes go before the nodes and files that they use.
  T2. What says that the topology exists goes last: until then the same command can finish the work.
  T3. Resolving means that nothing is left. What cannot be removed is named in the error.
*/

export interface ProcessRemains {
  readonly folder: WorkingFolder;
  /** Of the topology at hand, and of a dead one whose remains are in its folder. */
  readonly topologyIds: readonly TopologyId[];
  readonly graceMs: number;
  readonly clock: Clock;
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
  // The folder goes after the archive: it holds the only note of where the archive is.
  if (archive !== undefined) await archives.remove(archive);
  await removeFolder(folder.root);
  await removeTopologyNodes(stateManager, topologyName, topologyIds);
  logger.info('the topology is gone', { topology: topologyName });
}

/** Ends what an earlier topology left in a folder that another one needs, nodes aside. */
export async function clearRemains(remains: ProcessRemains): Promise<void> {
  await endTopologyProcesses(remains);
  await removeFolder(remains.folder.root);
}

/** A process may be in the middle of starting another one: look again until nothing is found. */
const SWEEPS_MAX = 10;

/** Executors end their children in order; what is left then, whoever started it, is killed. */
async function endTopologyProcesses(remains: ProcessRemains): Promise<void> {
  const { folder, topologyIds, graceMs, clock } = remains;
  await endProcesses(
    executorRecords(folder.root).map(({ identity }) => identity),
    { clock, graceMs: executorLimitMs(graceMs) },
  );
  const children = await pidFilesOfContainers(folder);
  let left = await killProcesses(children, clock);
  for (let sweep = 0; sweep < SWEEPS_MAX; sweep += 1) {
    const found = topologyIds.flatMap(findTopologyProcesses);
    if (found.length === 0 && left.length === 0) return;
    left = await killProcesses(found, clock);
  }
  const pids = left.map(({ pid }) => pid).join(', ');
  throw environmentError('PROCESS_LOST', `processes that cannot be ended: ${pids}`, {
    retryable: true,
  });
}

/** Where environments cannot be seen, pid files are all there is to go by. */
async function pidFilesOfContainers({ root }: WorkingFolder): Promise<readonly ProcessIdentity[]> {
  return (await namesIn(root))
    .filter(isContainer)
    .flatMap((name) => listPidFiles(join(root, name)).map(({ identity }) => identity));
}

async function keepLogs({ folder, dataRoot, topologyIds }: TeardownOptions): Promise<void> {
  const [id] = topologyIds;
  if (id === undefined) return;
  const target = keptLogsFolder(dataRoot, id);
  for (const name of await namesIn(folder.root)) {
    if (!isContainer(name)) continue;
    await move(logFolder(join(folder.root, name)), join(target, name));
  }
  await move(folder.schedulerLog, join(target, 'scheduler.log'));
  await move(folder.schedulerOutput, join(target, 'scheduler.out'));
}

/** Moves a file or a folder; one that is not there has been moved already. */
async function move(from: string, to: string): Promise<void> {
  try {
    await mkdir(dirname(to), { recursive: true, mode: 0o700 });
    await rename(from, to);
  } catch (cause) {
    const { code } = cause as NodeJS.ErrnoException;
    if (code === 'ENOENT') return;
    if (code !== 'EXDEV') {
      throw environmentError('FILE_FAILED', `cannot keep ${from}: ${messageOf(cause)}`, { cause });
    }
    await cp(from, to, { recursive: true });
  }
}

async function removeFolder(folder: string): Promise<void> {
  try {
    await rm(folder, { recursive: true, force: true, maxRetries: 3 });
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

async function namesIn(folder: string): Promise<readonly string[]> {
  try {
    return await readdir(folder);
  } catch {
    return []; // Gone already.
  }
}
