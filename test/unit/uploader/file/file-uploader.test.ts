import assert from 'node:assert/strict';
import { readdir, readFile, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, it, type TestContext } from 'node:test';
import { createSeededRandom } from '../../../../src/base/random.ts';
import { systemFiles } from '../../../../src/base/system-files.ts';
import { createUploader } from '../../../../src/uploader/create.ts';
import type { Uploader } from '../../../../src/uploader/uploader.ts';
import { temporaryFolder } from '../../../support/temporary-folder.ts';

interface Place {
  readonly path: string;
  readonly uploads: string;
  readonly archive: string;
  readonly uploader: Uploader;
}

async function aPlace(t: TestContext): Promise<Place> {
  const { path } = await temporaryFolder(t);
  const uploads = join(path, 'role/words');
  const archive = join(path, 'words.tar.gz');
  await writeFile(archive, 'packed');
  const random = createSeededRandom(1);
  const uploader = createUploader({ kind: 'file', folder: uploads, random, files: systemFiles });
  return { path, uploads, archive, uploader };
}

describe('the file uploader', () => {
  it('stores a copy, for the user only, that another one fetches', async (t) => {
    const { path, uploads, archive, uploader } = await aPlace(t);
    const location = await uploader.upload('words-1', archive);
    await writeFile(archive, 'changed later');
    assert.equal(location, join(uploads, 'words-1.tar.gz'));
    assert.equal((await stat(uploads)).mode & 0o777, 0o700);
    assert.equal((await stat(location)).mode & 0o777, 0o600);
    await uploader.fetch(location, join(path, 'copy'));
    assert.equal(await readFile(join(path, 'copy'), 'utf8'), 'packed');
  });

  it('replaces an older upload of the same name', async (t) => {
    const { archive, uploader } = await aPlace(t);
    await uploader.upload('words-1', archive);
    await writeFile(archive, 'newer');
    const location = await uploader.upload('words-1', archive);
    assert.equal(await readFile(location, 'utf8'), 'newer');
  });

  it('removes an upload, twice if asked, and its folder with the last one', async (t) => {
    const { path, uploads, archive, uploader } = await aPlace(t);
    const first = await uploader.upload('words-1', archive);
    const second = await uploader.upload('words-2', archive);
    await uploader.remove(first);
    await uploader.remove(first);
    assert.deepEqual(await readdir(uploads), ['words-2.tar.gz']);
    await uploader.remove(second);
    assert.deepEqual(await readdir(join(path, 'role')), []);
    await uploader.remove(second);
  });

  it('can be cleared, of uploads that nobody knows of as well', async (t) => {
    const { path, archive, uploader } = await aPlace(t);
    await uploader.upload('words-1', archive);
    await uploader.upload('words-2', archive);
    await uploader.clear();
    assert.deepEqual(await readdir(join(path, 'role')), []);
    await uploader.clear();
  });

  it('leaves no half copy behind when it fails', async (t) => {
    const { path, uploads, archive, uploader } = await aPlace(t);
    await assert.rejects(uploader.upload('words-1', join(path, 'absent')), {
      code: 'FILE_FAILED',
      message: new RegExp(`cannot store ${path}/absent as ${uploads}/words-1.tar.gz: ENOENT`),
    });
    assert.deepEqual(await readdir(uploads), []);
    const location = await uploader.upload('words-1', archive);
    await assert.rejects(uploader.fetch(location, '/proc/words'), { code: 'FILE_FAILED' });
    await assert.rejects(uploader.fetch(location, uploads), { code: 'FILE_FAILED' });
    assert.deepEqual(await readdir(join(path, 'role')), ['words']);
  });

  it('touches nothing outside its folder', async (t) => {
    const { archive, uploader, uploads } = await aPlace(t);
    for (const name of ['../words', '', 'a/b', '.hidden']) {
      await assert.rejects(uploader.upload(name, archive), { code: 'INVALID_ARGUMENT' });
    }
    for (const location of [archive, `${uploads}/../x.tar.gz`, '/etc/passwd', uploads]) {
      await assert.rejects(uploader.remove(location), { code: 'INVALID_ARGUMENT' });
      await assert.rejects(uploader.fetch(location, '/dev/null'), { code: 'INVALID_ARGUMENT' });
    }
  });
});
