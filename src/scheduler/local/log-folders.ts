import { join } from 'node:path';
import { environmentError, messageOf } from '../../base/errors.ts';
import type { Files } from '../../base/files.ts';
import { type ContainerId, containerId, type TopologyId } from '../../base/ids.ts';
import { systemCodeOf } from '../../base/system-codes.ts';
import type { SchedulerTarget } from '../scheduler.ts';
import { CONTAINER_PREFIX, keptLogsFolder, logFolder, workingFolderOf } from './working-folder.ts';

/** The log files of one container. */
export interface LogFolder {
  readonly container: ContainerId;
  readonly path: string;
}

/** Of a topology that runs here; empty when none does. */
export async function runningLogFolders(
  files: Files,
  dataRoot: string,
  target: SchedulerTarget,
): Promise<readonly LogFolder[]> {
  const { root } = workingFolderOf(dataRoot, target);
  return (await containersIn(files, root)).map(({ container, path }) => ({
    container,
    path: logFolder(path),
  }));
}

/** Of a topology that has completed; empty when its logs are gone. */
export function keptLogFolders(
  files: Files,
  dataRoot: string,
  id: TopologyId,
): Promise<readonly LogFolder[]> {
  return containersIn(files, keptLogsFolder(dataRoot, id));
}

/** The folders of containers in a folder that holds them. */
export async function containersIn(files: Files, folder: string): Promise<readonly LogFolder[]> {
  let names: readonly string[];
  try {
    names = (await files.list(folder)).map(({ name }) => name);
  } catch (cause) {
    if (systemCodeOf(cause) === 'ENOENT') return [];
    throw environmentError('FILE_FAILED', `cannot read ${folder}: ${messageOf(cause)}`, { cause });
  }
  return names
    .filter((name) => name.startsWith(CONTAINER_PREFIX))
    .map((name) => ({
      container: containerId(Number(name.slice(CONTAINER_PREFIX.length))),
      path: join(folder, name),
    }))
    .toSorted((a, b) => a.container - b.container);
}
