import assert from 'node:assert/strict';
import { mkdir, readdir, readlink, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { packageRoot } from '../../../src/base/entry.ts';
import { linkEngine } from '../../../src/package/link-engine.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';

describe('linking the engine', () => {
  it('is done once, however often it is asked for', async (t) => {
    const { path } = await temporaryFolder(t);
    await linkEngine(path);
    await linkEngine(path);
    assert.equal(await readlink(join(path, 'node_modules/heron-ts')), packageRoot());
    assert.deepEqual(await readdir(join(path, 'node_modules')), ['heron-ts']);
  });

  it('replaces a link to another copy', async (t) => {
    const { path } = await temporaryFolder(t);
    await mkdir(join(path, 'node_modules'));
    await symlink('/elsewhere', join(path, 'node_modules/heron-ts'));
    await linkEngine(path);
    assert.equal(await readlink(join(path, 'node_modules/heron-ts')), packageRoot());
  });

  it('names the link that it cannot make', async (t) => {
    const { path } = await temporaryFolder(t);
    await writeFile(join(path, 'node_modules'), '');
    await assert.rejects(linkEngine(path), {
      code: 'FILE_FAILED',
      message: new RegExp(`cannot link the engine as ${path}/node_modules/heron-ts`),
    });
  });

  it('does not replace a folder, which may be an installed copy', async (t) => {
    const { path } = await temporaryFolder(t);
    await mkdir(join(path, 'node_modules/heron-ts/dist'), { recursive: true });
    await assert.rejects(linkEngine(path), { code: 'FILE_FAILED' });
    assert.deepEqual(await readdir(join(path, 'node_modules')), ['heron-ts']);
  });
});
