import assert from 'node:assert/strict';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { systemFiles } from '../../../src/base/system-files.ts';
import {
  listPidFiles,
  readPidFile,
  removePidFile,
  writePidFile,
} from '../../../src/supervision/pid-file.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';

const identity = { bootId: 'boot', pid: 7, startTicks: 42 };

describe('pid files', () => {
  it('name an incarnation of a process until they are removed', async (t) => {
    const { path } = await temporaryFolder(t);
    writePidFile(systemFiles, path, { name: 'stmgr-1', identity });
    assert.deepEqual(readPidFile(systemFiles, path, 'stmgr-1'), identity);
    assert.deepEqual(systemFiles.listNow(path), ['stmgr-1.pid']);
    removePidFile(systemFiles, path, 'stmgr-1');
    removePidFile(systemFiles, path, 'stmgr-1');
    assert.equal(readPidFile(systemFiles, path, 'stmgr-1'), undefined);
    assert.deepEqual(systemFiles.listNow(path), []);
  });

  it('are replaced by those of the next incarnation', async (t) => {
    const { path } = await temporaryFolder(t);
    writePidFile(systemFiles, path, { name: 'stmgr-1', identity });
    const next = { ...identity, pid: 8, startTicks: 50 };
    writePidFile(systemFiles, path, { name: 'stmgr-1', identity: next });
    assert.deepEqual(listPidFiles(systemFiles, path), [{ name: 'stmgr-1', identity: next }]);
  });

  it('are listed by name, without what is damaged or something else', async (t) => {
    const { path } = await temporaryFolder(t);
    const other = { ...identity, pid: 8 };
    writePidFile(systemFiles, path, { name: 'b', identity });
    writePidFile(systemFiles, path, { name: 'a', identity: other });
    systemFiles.writeNow(join(path, 'damaged.pid'), Buffer.from('{"pid":'));
    systemFiles.writeNow(join(path, 'empty.pid'), Buffer.from(''));
    systemFiles.writeNow(join(path, 'b.pid.9.new'), Buffer.from(JSON.stringify(other)));
    systemFiles.writeNow(join(path, 'b.log'), Buffer.from('b.pid is something else'));
    const backwards = {
      ...systemFiles,
      listNow: (folder: string) => systemFiles.listNow(folder).toSorted().toReversed(),
    };
    assert.deepEqual(listPidFiles(backwards, path), [
      { name: 'a', identity: other },
      { name: 'b', identity },
    ]);
    assert.equal(readPidFile(systemFiles, path, 'damaged'), undefined);
  });

  it('are none where there is no folder', async (t) => {
    const { path } = await temporaryFolder(t);
    assert.deepEqual(listPidFiles(systemFiles, join(path, 'absent')), []);
  });

  it('stay as they were when a new one cannot be written whole', async (t) => {
    const { path } = await temporaryFolder(t);
    writePidFile(systemFiles, path, { name: 'stmgr-1', identity });
    const full = {
      ...systemFiles,
      writeNow(file: string, bytes: Uint8Array): void {
        systemFiles.writeNow(file, bytes.subarray(0, 5));
        throw Object.assign(new Error('ENOSPC: no space left on device'), { code: 'ENOSPC' });
      },
    };
    const next = { ...identity, pid: 8 };
    assert.throws(() => writePidFile(full, path, { name: 'stmgr-1', identity: next }), /ENOSPC/);
    assert.deepEqual(listPidFiles(systemFiles, path), [{ name: 'stmgr-1', identity }]);
  });
});
