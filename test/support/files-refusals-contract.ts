import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Files } from '../../src/base/files.ts';
import { bytesOf, furnish, isSystemError, type OnFiles, treeOf } from './files-under-test.ts';

const BYTES = bytesOf('new');

interface Refusal {
  readonly what: string;
  readonly code: string;
  /** `at` is the folder. */
  readonly call: (files: Files, at: string) => unknown;
}

const REFUSALS: readonly Refusal[] = [
  { what: 'read nothing', code: 'ENOENT', call: (f, at) => f.read(`${at}/missing`) },
  { what: 'read below nothing', code: 'ENOENT', call: (f, at) => f.read(`${at}/missing/x`) },
  { what: 'read a folder', code: 'EISDIR', call: (f, at) => f.read(`${at}/full`) },
  { what: 'read below a file', code: 'ENOTDIR', call: (f, at) => f.read(`${at}/file/x`) },

  {
    what: 'write below nothing',
    code: 'ENOENT',
    call: (f, at) => f.write(`${at}/missing/x`, BYTES),
  },
  { what: 'write over a folder', code: 'EISDIR', call: (f, at) => f.write(`${at}/empty`, BYTES) },
  { what: 'write below a file', code: 'ENOTDIR', call: (f, at) => f.write(`${at}/file/x`, BYTES) },
  {
    what: 'write a file that shall be new',
    code: 'EEXIST',
    call: (f, at) => f.write(`${at}/file`, BYTES, { exclusive: true }),
  },
  {
    what: 'write a file that shall be new over a folder',
    code: 'EEXIST',
    call: (f, at) => f.write(`${at}/empty`, BYTES, { exclusive: true }),
  },

  {
    what: 'add to a file below nothing',
    code: 'ENOENT',
    call: (f, at) => f.append(`${at}/missing/x`, BYTES),
  },
  { what: 'add to a folder', code: 'EISDIR', call: (f, at) => f.append(`${at}/empty`, BYTES) },

  { what: 'date nothing', code: 'ENOENT', call: (f, at) => f.date(`${at}/missing`, 1) },

  { what: 'copy nothing', code: 'ENOENT', call: (f, at) => f.copy(`${at}/missing`, `${at}/to`) },
  { what: 'copy a folder', code: 'EISDIR', call: (f, at) => f.copy(`${at}/full`, `${at}/to`) },
  {
    what: 'copy to a folder',
    code: 'EISDIR',
    call: (f, at) => f.copy(`${at}/file`, `${at}/empty`),
  },
  {
    what: 'copy to below nothing',
    code: 'ENOENT',
    call: (f, at) => f.copy(`${at}/file`, `${at}/missing/x`),
  },
  {
    what: 'copy to below a file',
    code: 'ENOTDIR',
    call: (f, at) => f.copy(`${at}/full/inner`, `${at}/file/x`),
  },

  {
    what: 'rename nothing',
    code: 'ENOENT',
    call: (f, at) => f.rename(`${at}/missing`, `${at}/to`),
  },
  {
    what: 'rename to below nothing',
    code: 'ENOENT',
    call: (f, at) => f.rename(`${at}/file`, `${at}/missing/x`),
  },
  {
    what: 'rename to below a file',
    code: 'ENOTDIR',
    call: (f, at) => f.rename(`${at}/full/inner`, `${at}/file/x`),
  },
  {
    what: 'rename a file over a folder',
    code: 'EISDIR',
    call: (f, at) => f.rename(`${at}/file`, `${at}/empty`),
  },
  {
    what: 'rename a folder over a file',
    code: 'ENOTDIR',
    call: (f, at) => f.rename(`${at}/empty`, `${at}/file`),
  },
  {
    what: 'rename a folder over a full one',
    code: 'ENOTEMPTY',
    call: (f, at) => f.rename(`${at}/empty`, `${at}/full`),
  },
  {
    what: 'rename a folder to below itself',
    code: 'EINVAL',
    call: (f, at) => f.rename(`${at}/full`, `${at}/full/x`),
  },

  { what: 'link nothing', code: 'ENOENT', call: (f, at) => f.link(`${at}/missing`, `${at}/to`) },
  { what: 'link a folder', code: 'EPERM', call: (f, at) => f.link(`${at}/full`, `${at}/to`) },
  {
    what: 'link to a name that is taken',
    code: 'EEXIST',
    call: (f, at) => f.link(`${at}/full/inner`, `${at}/file`),
  },
  {
    what: 'link to the name of a folder',
    code: 'EEXIST',
    call: (f, at) => f.link(`${at}/file`, `${at}/empty`),
  },
  {
    what: 'link to below nothing',
    code: 'ENOENT',
    call: (f, at) => f.link(`${at}/file`, `${at}/missing/x`),
  },
  {
    what: 'link to below a file',
    code: 'ENOTDIR',
    call: (f, at) => f.link(`${at}/full/inner`, `${at}/file/x`),
  },

  { what: 'unlink nothing', code: 'ENOENT', call: (f, at) => f.unlink(`${at}/missing`) },
  { what: 'unlink a folder', code: 'EISDIR', call: (f, at) => f.unlink(`${at}/empty`) },
  { what: 'unlink below a file', code: 'ENOTDIR', call: (f, at) => f.unlink(`${at}/file/x`) },

  { what: 'make a folder twice', code: 'EEXIST', call: (f, at) => f.makeFolder(`${at}/empty`) },
  {
    what: 'make a folder over a file',
    code: 'EEXIST',
    call: (f, at) => f.makeFolder(`${at}/file`),
  },
  {
    what: 'make a folder below nothing',
    code: 'ENOENT',
    call: (f, at) => f.makeFolder(`${at}/missing/x`),
  },
  {
    what: 'make a folder below a file',
    code: 'ENOTDIR',
    call: (f, at) => f.makeFolder(`${at}/file/x`),
  },

  { what: 'remove no folder', code: 'ENOENT', call: (f, at) => f.removeFolder(`${at}/missing`) },
  {
    what: 'remove a full folder',
    code: 'ENOTEMPTY',
    call: (f, at) => f.removeFolder(`${at}/full`),
  },
  {
    what: 'remove a file as folder',
    code: 'ENOTDIR',
    call: (f, at) => f.removeFolder(`${at}/file`),
  },

  { what: 'list no folder', code: 'ENOENT', call: (f, at) => f.list(`${at}/missing`) },
  { what: 'list a file', code: 'ENOTDIR', call: (f, at) => f.list(`${at}/file`) },
  { what: 'tell facts of nothing', code: 'ENOENT', call: (f, at) => f.facts(`${at}/missing`) },
  { what: 'tell facts below a file', code: 'ENOTDIR', call: (f, at) => f.facts(`${at}/file/x`) },
];

const REFUSALS_NOW: readonly Refusal[] = [
  { what: 'read nothing', code: 'ENOENT', call: (f, at) => f.readNow(`${at}/missing`) },
  { what: 'read a folder', code: 'EISDIR', call: (f, at) => f.readNow(`${at}/full`) },
  {
    what: 'write below nothing',
    code: 'ENOENT',
    call: (f, at) => f.writeNow(`${at}/missing/x`, BYTES),
  },
  {
    what: 'write over a folder',
    code: 'EISDIR',
    call: (f, at) => f.writeNow(`${at}/empty`, BYTES),
  },
  {
    what: 'rename nothing',
    code: 'ENOENT',
    call: (f, at) => f.renameNow(`${at}/missing`, `${at}/to`),
  },
  {
    what: 'rename a file over a folder',
    code: 'EISDIR',
    call: (f, at) => f.renameNow(`${at}/file`, `${at}/empty`),
  },
  { what: 'remove a folder', code: 'EISDIR', call: (f, at) => f.removeNow(`${at}/empty`) },
  { what: 'remove below a file', code: 'ENOTDIR', call: (f, at) => f.removeNow(`${at}/file/x`) },
  { what: 'list no folder', code: 'ENOENT', call: (f, at) => f.listNow(`${at}/missing`) },
  { what: 'list a file', code: 'ENOTDIR', call: (f, at) => f.listNow(`${at}/file`) },
  {
    what: 'watch no folder',
    code: 'ENOENT',
    call: (f, at) => f.watch(`${at}/missing`, { onChange() {}, onLost() {} }),
  },
  {
    what: 'watch below a file',
    code: 'ENOTDIR',
    call: (f, at) => f.watch(`${at}/file/x`, { onChange() {}, onLost() {} }),
  },
];

/** What a Files refuses, in a furnished folder; with the codes of Linux. */
export function filesRefusalsContract(name: string, onFiles: OnFiles): void {
  describe(`${name} refuses, with the operating system's code, and changes nothing:`, () => {
    for (const { what, code, call } of REFUSALS) {
      it(`to ${what} (${code})`, (t) =>
        onFiles(t, async (disk) => {
          await furnish(disk);
          const before = await treeOf(disk.files, disk.folder);
          await assert.rejects(async () => call(disk.files, disk.folder), isSystemError(code));
          assert.deepEqual(await treeOf(disk.files, disk.folder), before);
        }));
    }
    for (const { what, code, call } of REFUSALS_NOW) {
      it(`to ${what} at once (${code})`, (t) =>
        onFiles(t, async (disk) => {
          await furnish(disk);
          const before = await treeOf(disk.files, disk.folder);
          assert.throws(() => call(disk.files, disk.folder), isSystemError(code));
          assert.deepEqual(await treeOf(disk.files, disk.folder), before);
        }));
    }
  });
}
