import assert from 'node:assert/strict';
import { mkdir, readdir, readFile, stat, symlink, truncate, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, it, type TestContext } from 'node:test';
import * as tar from 'tar';
import { ENGINE_VERSION } from '../../../src/base/version.ts';
import { packArchive, unpack } from '../../../src/package/archive.ts';
import { encodeManifest, MANIFEST_FILE } from '../../../src/package/archive-manifest.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';

const MANIFEST = encodeManifest({ engineVersion: ENGINE_VERSION, createdAtMs: 1 });

/** A folder with files to pack, and an empty one to unpack into. */
async function folders(
  t: TestContext,
  files: Readonly<Record<string, string>> = { [MANIFEST_FILE]: MANIFEST, 'topology.mjs': 'code' },
): Promise<{ source: string; target: string; archive: string }> {
  const { path } = await temporaryFolder(t);
  const [source, target] = [join(path, 'source'), join(path, 'target')];
  await Promise.all([mkdir(source), mkdir(target)]);
  for (const [name, text] of Object.entries(files)) await writeFile(join(source, name), text);
  return { source, target, archive: join(path, 'words.tar.gz') };
}

/** An archive whose entries have been given other headers than the files have. */
async function forge(
  archive: string,
  source: string,
  change: (entry: tar.WriteEntry) => void,
): Promise<void> {
  await tar.create(
    { file: archive, cwd: source, gzip: true, onWriteEntry: change, preservePaths: true },
    await readdir(source),
  );
}

describe('an archive', () => {
  it('unpacks to what was packed, into a folder that has other files', async (t) => {
    const { source, target, archive } = await folders(t);
    await packArchive(archive, source, [MANIFEST_FILE, 'topology.mjs']);
    await writeFile(join(target, 'other'), 'stays');
    await unpack(archive, target);
    assert.deepEqual(await readdir(target), [MANIFEST_FILE, 'other', 'topology.mjs']);
    assert.equal(await readFile(join(target, 'topology.mjs'), 'utf8'), 'code');
  });

  it('makes the folder, for its user only', async (t) => {
    const { source, target, archive } = await folders(t);
    await packArchive(archive, source, [MANIFEST_FILE]);
    await unpack(archive, join(target, 'new'));
    assert.equal((await stat(join(target, 'new'))).mode & 0o777, 0o700);
  });

  for (const path of ['../escaped', '/tmp/escaped', 'a/../../escaped', '..', 'a\\..\\b']) {
    it(`with an entry ${path} is refused whole`, async (t) => {
      const { source, target, archive } = await folders(t);
      await forge(archive, source, (entry) => {
        if (entry.path === 'topology.mjs') entry.path = path;
      });
      await assert.rejects(unpack(archive, target), {
        code: 'ARCHIVE_INVALID',
        message: new RegExp(`would leave the folder$`),
      });
      assert.deepEqual(await readdir(target), []);
      assert.deepEqual((await readdir(join(target, '..'))).toSorted(), [
        'source',
        'target',
        'words.tar.gz',
      ]);
    });
  }

  it('with a link is refused whole', async (t) => {
    const { source, target, archive } = await folders(t);
    await symlink('/etc', join(source, 'link'));
    await packArchive(archive, source, [MANIFEST_FILE, 'link']);
    await assert.rejects(unpack(archive, target), {
      code: 'ARCHIVE_INVALID',
      message: /the entry "link" is a SymbolicLink/,
    });
    assert.deepEqual(await readdir(target), []);
  });

  it('of another version is refused, with both named, and leaves nothing', async (t) => {
    const manifest = encodeManifest({ engineVersion: '99.0.0', createdAtMs: 1 });
    const { source, target, archive } = await folders(t, { [MANIFEST_FILE]: manifest });
    await packArchive(archive, source, [MANIFEST_FILE]);
    await assert.rejects(unpack(archive, target), {
      code: 'VERSION_MISMATCH',
      message: new RegExp(`heron-ts 99\\.0\\.0, and this is heron-ts ${ENGINE_VERSION}`),
    });
    assert.deepEqual(await readdir(target), []);
  });

  for (const manifest of ['not json', 'null', '{}', '{"engineVersion":1}']) {
    it(`with the manifest ${manifest} is refused`, async (t) => {
      const { source, target, archive } = await folders(t, { [MANIFEST_FILE]: manifest });
      await packArchive(archive, source, [MANIFEST_FILE]);
      await assert.rejects(unpack(archive, target), { code: 'ARCHIVE_INVALID' });
      assert.deepEqual(await readdir(target), []);
    });
  }

  it('without a manifest is refused', async (t) => {
    const { source, target, archive } = await folders(t);
    await packArchive(archive, source, ['topology.mjs']);
    await assert.rejects(unpack(archive, target), {
      code: 'ARCHIVE_INVALID',
      message: /it has no heron-ts\.json$/,
    });
  });

  it('cut short at any point is refused, and leaves nothing', async (t) => {
    const { source, target, archive } = await folders(t);
    await packArchive(archive, source, [MANIFEST_FILE, 'topology.mjs']);
    const { size } = await stat(archive);
    for (let length = size - 1; length >= 0; length -= 9) {
      await truncate(archive, length);
      await assert.rejects(unpack(archive, target), { code: 'ARCHIVE_INVALID' }, `${length} bytes`);
      assert.deepEqual(await readdir(target), []);
    }
  });

  it('that is something else, or not there, is refused with its path', async (t) => {
    const { source, target, archive } = await folders(t);
    await assert.rejects(unpack(archive, target), {
      code: 'ARCHIVE_INVALID',
      message: `cannot use the archive ${archive}: there is no such file`,
    });
    await writeFile(archive, 'certainly no archive'.repeat(100));
    await assert.rejects(unpack(archive, target), { code: 'ARCHIVE_INVALID' });
    await assert.rejects(unpack(source, target), { code: 'ARCHIVE_INVALID' });
  });

  it('that cannot be written or unpacked names the place', async (t) => {
    const { source, archive } = await folders(t);
    await packArchive(archive, source, [MANIFEST_FILE]);
    await assert.rejects(packArchive('/proc/words.tar.gz', source, [MANIFEST_FILE]), {
      code: 'FILE_FAILED',
      message: /^cannot write the archive \/proc\/words\.tar\.gz/,
    });
    await assert.rejects(unpack(archive, join(archive, 'below-a-file')), { code: 'FILE_FAILED' });
  });
});
