import { environmentError, messageOf } from '../../base/errors.ts';
import type { Files } from '../../base/files.ts';
import { topologyId, topologyName } from '../../base/ids.ts';
import { makeFolder } from '../../base/make-folder.ts';
import { unless } from '../../base/system-codes.ts';
import {
  parseStateAddress,
  type StateAddress,
  stateUrl,
} from '../../state-manager/state-address.ts';
import { type WritingProcess, writeJson } from './write-json.ts';
import type { KillOptions, LaunchRequest } from '../scheduler.ts';
import type { WorkingFolder } from './working-folder.ts';

/*
  What the commands leave for the scheduler process in its folder: what to run, and whether it is to
  end. Neither holds a secret.
*/

/** All that a scheduler process needs to know. */
export interface LaunchRecord extends LaunchRequest {
  readonly state: StateAddress;
  readonly dataRoot: string;
  /** Containers get them in turn, container 0 the first. */
  readonly hosts: readonly string[];
}

export async function writeLaunchRecord(
  writer: WritingProcess,
  folder: WorkingFolder,
  record: LaunchRecord,
): Promise<void> {
  await makeFolder(writer.files, folder.root);
  await writeJson(writer, folder.launchFile, { ...record, state: stateUrl(record.state) });
}

/** Undefined when nothing was launched here. */
export async function readLaunchRecord(
  files: Files,
  folder: WorkingFolder,
): Promise<LaunchRecord | undefined> {
  const record = await readJson(files, folder.launchFile);
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
    state: parseStateAddress(text('state')),
    dataRoot: text('dataRoot'),
    hosts: hosts.map(String),
  };
}

/** Asks for the end. From now on nobody starts a scheduler for this topology again. */
export async function writeKillRequest(
  writer: WritingProcess,
  folder: WorkingFolder,
  { keepLogs = false }: KillOptions,
): Promise<void> {
  await writeJson(writer, folder.killFile, { keepLogs });
}

/** Undefined while nobody has asked for the end. */
export async function readKillRequest(
  files: Files,
  folder: WorkingFolder,
): Promise<KillOptions | undefined> {
  const request = await readJson(files, folder.killFile);
  return request === undefined ? undefined : { keepLogs: request['keepLogs'] === true };
}

async function readJson(
  files: Files,
  file: string,
): Promise<Readonly<Record<string, unknown>> | undefined> {
  let bytes: Uint8Array | undefined;
  try {
    bytes = await unless(['ENOENT', 'ENOTDIR'], files.read(file), undefined);
  } catch (cause) {
    throw environmentError('FILE_FAILED', `cannot read ${file}: ${messageOf(cause)}`, { cause });
  }
  if (bytes === undefined) return undefined;
  try {
    return JSON.parse(Buffer.from(bytes).toString()) as Readonly<Record<string, unknown>>;
  } catch (cause) {
    throw environmentError('STATE_CORRUPTED', `${file} is not JSON`, { cause });
  }
}
