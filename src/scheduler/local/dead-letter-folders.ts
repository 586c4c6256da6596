import { join } from 'node:path';
import type { Files } from '../../base/files.ts';
import type { ContainerId, TopologyId } from '../../base/ids.ts';
import { DEAD_LETTER_FOLDER } from '../../model/dead-letter.ts';
import type { SchedulerTarget } from '../scheduler.ts';
import { containersIn, goneContainers, keptLogFolders, withOthers } from './log-folders.ts';
import { workingFolderOf } from './working-folder.ts';

/** The dead letters of one container (model/dead-letter.ts); a folder that may not be there. */
export interface DeadLetterFolder {
  readonly container: ContainerId;
  readonly path: string;
}

/** Of a topology that runs here, with those of containers that left it; empty when none does. */
export async function runningDeadLetterFolders(
  files: Files,
  dataRoot: string,
  target: SchedulerTarget,
): Promise<readonly DeadLetterFolder[]> {
  const running = await containersIn(files, workingFolderOf(dataRoot, target).root);
  const gone = await goneContainers(files, dataRoot, target);
  return withOthers(running, gone).map(deadLettersIn);
}

/** Of a topology that has completed: they are kept with its logs. */
export async function keptDeadLetterFolders(
  files: Files,
  dataRoot: string,
  id: TopologyId,
): Promise<readonly DeadLetterFolder[]> {
  return (await keptLogFolders(files, dataRoot, id)).map(deadLettersIn);
}

function deadLettersIn({ container, path }: DeadLetterFolder): DeadLetterFolder {
  return { container, path: join(path, DEAD_LETTER_FOLDER) };
}
