import { join } from 'node:path';
import type { Files } from '../base/files.ts';
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
export function writePidFile(files: Files, folder: string, { name, identity }: PidRecord): void {
  const file = pidFile(folder, name);
  const temporary = `${file}.${identity.pid}.new`;
  files.writeNow(temporary, Buffer.from(`${JSON.stringify(identity)}\n`));
  files.renameNow(temporary, file);
}

/** Undefined when there is no such file or nothing of use in it. */
export function readPidFile(
  files: Files,
  folder: string,
  name: string,
): ProcessIdentity | undefined {
  try {
    return parseIdentity(
      JSON.parse(Buffer.from(files.readNow(pidFile(folder, name))).toString('utf8')),
    );
  } catch {
    return undefined; // Absent or damaged: either way it names no process.
  }
}

export function removePidFile(files: Files, folder: string, name: string): void {
  files.removeNow(pidFile(folder, name));
}

/** All records of a folder; none when there is no such folder. */
export function listPidFiles(files: Files, folder: string): readonly PidRecord[] {
  return namesIn(files, folder).flatMap((file) => {
    if (!file.endsWith(SUFFIX)) return [];
    const name = file.slice(0, -SUFFIX.length);
    const identity = readPidFile(files, folder, name);
    return identity === undefined ? [] : [{ name, identity }];
  });
}

function namesIn(files: Files, folder: string): readonly string[] {
  try {
    return files.listNow(folder).toSorted();
  } catch {
    return []; // A folder that is not there holds no records.
  }
}

function pidFile(folder: string, name: string): string {
  return join(folder, `${name}${SUFFIX}`);
}
