import { access, mkdir, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { environmentError, messageOf } from '../../base/errors.ts';
import type { TopologyName } from '../../base/ids.ts';
import { linkEngine } from '../../package/link-engine.ts';
import { unpack } from '../../package/archive.ts';
import type { Uploader } from '../../uploader/uploader.ts';
import { logFolder } from './working-folder.ts';

export interface ContainerSetup {
  /** The container's folder. */
  readonly folder: string;
  readonly topologyName: TopologyName;
  readonly archive: string;
  readonly archives: Pick<Uploader, 'fetch'>;
}

export type SetUpContainer = (setup: ContainerSetup) => Promise<void>;

/** Written last: a folder with this file in it is complete. */
const READY = '.ready';

/**
 * Makes a container's folder: the unpacked archive, a link to the engine, a place for logs. Done
 * once; a folder that an interrupted attempt left half made is made anew.
 *
 * @throws EngineError ARCHIVE_INVALID, VERSION_MISMATCH, or FILE_FAILED.
 */
export async function setUpContainer(setup: ContainerSetup): Promise<void> {
  const { folder, topologyName, archive, archives } = setup;
  const ready = join(folder, READY);
  if (await exists(ready)) return;
  try {
    await rm(folder, { recursive: true, force: true });
    await mkdir(logFolder(folder), { recursive: true, mode: 0o700 });
  } catch (cause) {
    throw environmentError('FILE_FAILED', `cannot make ${folder}: ${messageOf(cause)}`, { cause });
  }
  const copy = join(folder, `${topologyName}.tar.gz`);
  await archives.fetch(archive, copy);
  await unpack(copy, folder);
  await rm(copy, { force: true });
  await linkEngine(folder);
  await writeFile(ready, '');
}

async function exists(file: string): Promise<boolean> {
  try {
    await access(file);
    return true;
  } catch {
    return false; // Absent; whatever else is wrong shows when the folder is made.
  }
}
