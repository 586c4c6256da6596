import { join } from 'node:path';
import { environmentError, hasCode, messageOf } from '../../base/errors.ts';
import type { Files } from '../../base/files.ts';
import { type ContainerId, containerId, type TopologyId } from '../../base/ids.ts';
import { systemCodeOf } from '../../base/system-codes.ts';
import type { SchedulerTarget } from '../scheduler.ts';
import { readLaunchRecord } from './launch-record.ts';
import { CONTAINER_PREFIX, keptLogsFolder, logFolder, workingFolderOf } from './working-folder.ts';

/** The log files of one container. */
export interface LogFolder {
  readonly container: ContainerId;
  readonly path: string;
}

/** Of a topology that runs here, with those of containers that left it; empty when none does. */
export async function runningLogFolders(
  files: Files,
  dataRoot: string,
  target: SchedulerTarget,
): Promise<readonly LogFolder[]> {
  const { root } = workingFolderOf(dataRoot, target);
  const running = (await containersIn(files, root)).map(({ container, path }) => ({
    container,
    path: logFolder(path),
  }));
  return withOthers(running, await goneContainers(files, dataRoot, target));
}

/** What is kept of containers that have left a topology that runs here. */
export async function goneContainers(
  files: Files,
  dataRoot: string,
  target: SchedulerTarget,
): Promise<readonly LogFolder[]> {
  try {
    const record = await readLaunchRecord(files, workingFolderOf(dataRoot, target));
    return record === undefined ? [] : await keptLogFolders(files, dataRoot, record.topologyId);
  } catch (error) {
    // Nobody can tell what the topology's id is; what runs is shown all the same.
    if (hasCode(error, 'STATE_CORRUPTED')) return [];
    throw error;
  }
}

/** One folder a container: the first list wins. */
export function withOthers(
  folders: readonly LogFolder[],
  others: readonly LogFolder[],
): readonly LogFolder[] {
  const known = new Set(folders.map(({ container }) => container));
  return [...folders, ...others.filter(({ container }) => !known.has(container))].toSorted(
    (a, b) => a.container - b.container,
  );
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
