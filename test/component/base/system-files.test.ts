import assert from 'node:assert/strict';
import { chmod, stat, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, it, type TestContext } from 'node:test';
import { systemFiles } from '../../../src/base/system-files.ts';
import { eventually } from '../../support/eventually.ts';
import { filesContract } from '../../support/files-contract.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';

filesContract('the file system', async (t, body) => {
  const { path: folder } = await temporaryFolder(t);
  await body({ files: systemFiles, folder, eventually: (check) => eventually(check) });
});

async function folderOf(t: TestContext): Promise<string> {
  return (await temporaryFolder(t)).path;
}

async function modeOf(path: string): Promise<number> {
  return (await stat(path)).mode & 0o777;
}

describe('what the file system makes for the engine', () => {
  it('is open to its user only, unless asked otherwise', async (t) => {
    const folder = await folderOf(t);
    const at = (name: string): string => join(folder, name);
    await systemFiles.write(at('file'), new Uint8Array());
    systemFiles.writeNow(at('now'), new Uint8Array());
    await systemFiles.makeFolder(at('folder'));
    await writeFile(at('open'), '');
    await chmod(at('open'), 0o644);
    await systemFiles.copy(at('open'), at('copy'));
    await systemFiles.write(at('readable'), new Uint8Array(), { mode: 0o400 });
    systemFiles.writeNow(at('readable-now'), new Uint8Array(), { mode: 0o400 });
    await systemFiles.makeFolder(at('readable-folder'), 0o500);
    const names = ['file', 'now', 'folder', 'copy', 'readable', 'readable-now', 'readable-folder'];
    const modes = await Promise.all(names.map((name) => modeOf(at(name))));
    assert.deepEqual(modes, [0o600, 0o600, 0o700, 0o600, 0o400, 0o400, 0o500]);
  });

  it('is dated by the clock on the wall', async (t) => {
    const folder = await folderOf(t);
    await systemFiles.write(join(folder, 'file'), new Uint8Array());
    const { modifiedAtMs } = await systemFiles.facts(join(folder, 'file'));
    assert.ok(Math.abs(modifiedAtMs - Date.now()) < 60_000);
  });
});

describe('symbolic links in the file system', () => {
  it('are listed as neither files nor folders, and looked behind for facts', async (t) => {
    const folder = await folderOf(t);
    await systemFiles.makeFolder(join(folder, 'real'));
    await symlink(join(folder, 'real'), join(folder, 'link'));
    const listed = (await systemFiles.list(folder)).find(({ name }) => name === 'link');
    assert.deepEqual(listed, { name: 'link', isFolder: false, isFile: false });
    const [link, real] = await Promise.all(
      ['link', 'real'].map((name) => systemFiles.facts(join(folder, name))),
    );
    assert.equal(link?.isFolder, true);
    assert.equal(link?.inode, real?.inode);
  });

  it('are removed without what they lead to', async (t) => {
    const folder = await folderOf(t);
    await systemFiles.makeFolder(join(folder, 'real'));
    await systemFiles.write(join(folder, 'real', 'kept'), new Uint8Array());
    await systemFiles.makeFolder(join(folder, 'tree'));
    await symlink(join(folder, 'real'), join(folder, 'tree', 'link'));
    await systemFiles.removeTree(join(folder, 'tree'));
    assert.deepEqual(systemFiles.listNow(folder), ['real']);
    assert.deepEqual(systemFiles.listNow(join(folder, 'real')), ['kept']);
  });
});
