import assert from 'node:assert/strict';
import { stat } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { makeFolder } from '../../../src/base/make-folder.ts';
import { systemFiles } from '../../../src/base/system-files.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';

describe('making a folder', () => {
  it('makes those above it too, for the user only, and leaves alone what is there', async (t) => {
    const { path } = await temporaryFolder(t);
    await makeFolder(systemFiles, join(path, 'a/b/c'));
    await systemFiles.write(join(path, 'a/b/c/kept'), new Uint8Array());
    await makeFolder(systemFiles, join(path, 'a/b/c'));
    assert.deepEqual(systemFiles.listNow(join(path, 'a/b/c')), ['kept']);
    for (const folder of ['a', 'a/b', 'a/b/c']) {
      assert.equal((await stat(join(path, folder))).mode & 0o777, 0o700, folder);
    }
  });

  it('is done by several at once', async (t) => {
    const { path } = await temporaryFolder(t);
    const folders = ['a/b/c', 'a/b/d', 'a/b/c', 'a/e'];
    await Promise.all(folders.map((folder) => makeFolder(systemFiles, join(path, folder))));
    assert.deepEqual(systemFiles.listNow(join(path, 'a/b')).toSorted(), ['c', 'd']);
  });

  it('fails where a file is in the way', async (t) => {
    const { path } = await temporaryFolder(t);
    await systemFiles.write(join(path, 'file'), new Uint8Array());
    await assert.rejects(makeFolder(systemFiles, join(path, 'file')), { code: 'EEXIST' });
    await assert.rejects(makeFolder(systemFiles, join(path, 'file/x/y')), { code: 'ENOTDIR' });
  });

  it('fails where nothing can be made', async () => {
    await assert.rejects(makeFolder(systemFiles, '/proc/heron/x'), { code: 'ENOENT' });
  });
});
