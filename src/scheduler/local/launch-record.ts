import { mkdir, readFile, rename, writeFile } from 'node:fs/promises';
import { environmentError, messageOf } from '../../base/errors.ts';
import { topologyId, topologyName } from '../../base/ids.ts';
import type { KillOptions, LaunchRequest } from '../scheduler.ts';
import type { WorkingFolder } from './working-folder.ts';

/*
  What the commands leave for the scheduler process in its folder: what to run, and whether it is to
  end. Neither holds a secret.
*/

/** All that a scheduler process needs to know. */
export interface LaunchRecord extends LaunchRequest {
  readonly stateRoot: string;
  readonly dataRoot: string;
  /** Containers get them in turn, container 0 the first. */
  readonly hosts: readonly string[];
}

export async function writeLaunchRecord(
  folder: WorkingFolder,
  record: LaunchRecord,
): Promise<void> {
  await mkdir(folder.root, { recursive: true, mode: 0o700 });
  await writeWhole(folder.launchFile, record);
}

/** Undefined when nothing was launched here. */
export async function readLaunchRecord(folder: WorkingFolder): Promise<LaunchRecord | undefined> {
  const record = await readJson(folder.launchFile);
  if (record === undefined) return undefined;
  const text = (key: keyof LaunchRecord): string => {
    const value = record[key];
    if (typeof value === 'string') return value;
    throw environmentError('STATE_CORRUPTED', `${folder.launchFile}: ${key} is not text`);
  };
  const { hosts } = record;
  if (!Array.isArray(hosts) || hosts.length === 0) {
    throw environmentError('STATE_CORRUPTED', `${folder.launchFile}: hosts is not a list`);
  }
  return {
    topologyName: topologyName(text('topologyName')),
    topologyId: topologyId(text('topologyId')),
    cluster: text('cluster'),
    role: text('role'),
    environ: text('environ'),
    archive: text('archive'),
    stateRoot: text('stateRoot'),
    dataRoot: text('dataRoot'),
    hosts: hosts.map(String),
  };
}

/** Asks for the end. From now on nobody starts a scheduler for this topology again. */
export async function writeKillRequest(
  folder: WorkingFolder,
  { keepLogs = false }: KillOptions,
): Promise<void> {
  await writeWhole(folder.killFile, { keepLogs });
}

/** Undefined while nobody has asked for the end. */
export async function readKillRequest(folder: WorkingFolder): Promise<KillOptions | undefined> {
  const request = await readJson(folder.killFile);
  return request === undefined ? undefined : { keepLogs: request['keepLogs'] === true };
}

async function writeWhole(file: string, value: object): Promise<void> {
  const temporary = `${file}.${process.pid}.new`;
  await writeFile(temporary, `${JSON.stringify(value)}\n`, { mode: 0o600 });
  await rename(temporary, file);
}

async function readJson(file: string): Promise<Readonly<Record<string, unknown>> | undefined> {
  let text: string;
  try {
    text = await readFile(file, 'utf8');
  } catch (cause) {
    const { code } = cause as NodeJS.ErrnoException;
    if (code === 'ENOENT' || code === 'ENOTDIR') return undefined;
    throw environmentError('FILE_FAILED', `cannot read ${file}: ${messageOf(cause)}`, { cause });
  }
  try {
    return JSON.parse(text) as Readonly<Record<string, unknown>>;
  } catch (cause) {
    throw environmentError('STATE_CORRUPTED', `${file} is not JSON`, { cause });
  }
}
