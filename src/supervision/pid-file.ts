import { readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseIdentity, type ProcessIdentity } from '../base/process-identity.ts';

/*
  `<folder>/<process name>.pid`: which incarnation of a process was started here, in JSON. Heron
  keeps the bare pid; the boot id and the start time are what makes a file of a dead process
  harmless when its pid was given out again.
*/

const SUFFIX = '.pid';

export interface PidRecord {
  readonly name: string;
  readonly identity: ProcessIdentity;
}

/** Whole or not at all: the next owner of the folder may read it at any moment. */
export function writePidFile(folder: string, { name, identity }: PidRecord): void {
  const file = pidFile(folder, name);
  const temporary = `${file}.${process.pid}.new`;
  writeFileSync(temporary, `${JSON.stringify(identity)}\n`, { mode: 0o600 });
  renameSync(temporary, file);
}

/** Undefined when there is no such file or nothing of use in it. */
export function readPidFile(folder: string, name: string): ProcessIdentity | undefined {
  try {
    return parseIdentity(JSON.parse(readFileSync(pidFile(folder, name), 'utf8')));
  } catch {
    return undefined; // Absent or damaged: either way it names no process.
  }
}

export function removePidFile(folder: string, name: string): void {
  rmSync(pidFile(folder, name), { force: true });
}

/** All records of a folder; none when there is no such folder. */
export function listPidFiles(folder: string): readonly PidRecord[] {
  return namesIn(folder).flatMap((file) => {
    if (!file.endsWith(SUFFIX)) return [];
    const name = file.slice(0, -SUFFIX.length);
    const identity = readPidFile(folder, name);
    return identity === undefined ? [] : [{ name, identity }];
  });
}

function namesIn(folder: string): readonly string[] {
  try {
    return readdirSync(folder).toSorted();
  } catch {
    return []; // A folder that is not there holds no records.
  }
}

function pidFile(folder: string, name: string): string {
  return join(folder, `${name}${SUFFIX}`);
}
