import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { closeSync, mkdirSync, mkdtempSync, openSync, rmSync, rmdirSync, writeSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const BLOCK = Buffer.alloc(4096, 'x');
const FILLER = 'filler';

/**
 * Why tests with small disks are left out, for their `skip`; false where they can be mounted.
 *
 * @throws in continuous integration, which has to let us.
 */
export function withoutSmallDisks(): string | false {
  const folder = mkdtempSync(join(tmpdir(), 'heron-test-'));
  const problem = mount(folder, 1);
  if (problem === undefined) unmount(folder);
  rmdirSync(folder);
  if (problem === undefined) return false;
  assert.notEqual(process.env['CI'], 'true', `no small disk can be mounted: ${problem}`);
  return `mounting a small disk takes root: ${problem}`;
}

/** A file system of a few megabytes, in memory, at a folder of its own; Linux, as root. */
export class SmallDisk implements Disposable {
  readonly folder: string;

  /** Makes the folder where it is not there; what is in it is out of sight until the end. */
  constructor(folder: string, megabytes: number) {
    mkdirSync(folder, { recursive: true });
    this.folder = folder;
    assert.equal(mount(folder, megabytes), undefined);
  }

  /** Takes all the room that is left. */
  fill(): void {
    const file = openSync(join(this.folder, FILLER), 'a');
    try {
      for (;;) writeSync(file, BLOCK);
    } catch (error) {
      assert.ok(error instanceof Error && error.message.startsWith('ENOSPC'), String(error));
    } finally {
      closeSync(file);
    }
  }

  free(): void {
    rmSync(join(this.folder, FILLER), { force: true });
  }

  /** Whoever has files there keeps them, but nobody finds them any more. */
  [Symbol.dispose](): void {
    unmount(this.folder);
  }
}

/** Undefined when it has been mounted. */
function mount(folder: string, megabytes: number): string | undefined {
  const options = ['-t', 'tmpfs', '-o', `size=${megabytes}m,mode=700`, 'tmpfs', folder];
  const { status, stderr, error } = spawnSync('mount', options, { encoding: 'utf8' });
  if (error !== undefined) return error.message;
  return status === 0 ? undefined : stderr.trim();
}

function unmount(folder: string): void {
  const { status, stderr } = spawnSync('umount', ['--lazy', folder], { encoding: 'utf8' });
  assert.equal(status, 0, stderr);
}
