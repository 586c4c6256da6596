import assert from 'node:assert/strict';
import { describe, it, type TestContext } from 'node:test';
import { filesRefusalsContract } from './files-refusals-contract.ts';
import {
  bytesOf,
  type FilesUnderTest,
  furnish,
  isSystemError,
  type OnFiles,
  textOf,
  treeOf,
} from './files-under-test.ts';
import { filesWatchContract } from './files-watch-contract.ts';

const BYTES = bytesOf('new');

function contentsContract(name: string, onFiles: OnFiles): void {
  const whileOpen = (body: (disk: FilesUnderTest) => Promise<void>) => (t: TestContext) =>
    onFiles(t, body);

  describe(`${name} keeps files`, () => {
    it(
      'reads what was written, and an empty file as empty',
      whileOpen(async ({ files, folder }) => {
        await files.write(`${folder}/a`, bytesOf('one'));
        await files.write(`${folder}/b`, new Uint8Array(), { exclusive: true, durable: true });
        assert.deepEqual(await files.read(`${folder}/a`), bytesOf('one'));
        assert.deepEqual(files.readNow(`${folder}/a`), bytesOf('one'));
        assert.deepEqual(await files.read(`${folder}/b`), new Uint8Array());
      }),
    );

    it(
      'keeps its own copy of the bytes',
      whileOpen(async ({ files, folder }) => {
        const written = bytesOf('text');
        await files.write(`${folder}/a`, written);
        written.fill(0);
        (await files.read(`${folder}/a`)).fill(0);
        files.readNow(`${folder}/a`).fill(0);
        assert.equal(textOf(await files.read(`${folder}/a`)), 'text');
      }),
    );

    it(
      'replaces all bytes of a file, also by fewer',
      whileOpen(async ({ files, folder }) => {
        await files.write(`${folder}/a`, bytesOf('a long text'));
        await files.write(`${folder}/a`, bytesOf('short'));
        assert.equal(textOf(await files.read(`${folder}/a`)), 'short');
        files.writeNow(`${folder}/a`, bytesOf('now'));
        assert.equal(textOf(await files.read(`${folder}/a`)), 'now');
      }),
    );

    it(
      'adds to the end of a file, which it makes where there is none',
      whileOpen(async ({ files, folder }) => {
        await files.append(`${folder}/a`, bytesOf('one '));
        await files.append(`${folder}/a`, bytesOf('two '), { durable: true });
        await files.append(`${folder}/a`, new Uint8Array());
        assert.equal(textOf(await files.read(`${folder}/a`)), 'one two ');
        await files.write(`${folder}/a`, bytesOf('new '));
        const added = Array.from({ length: 10 }, (_, n) => bytesOf(`${n} `));
        await Promise.all(added.map((bytes) => files.append(`${folder}/a`, bytes)));
        const [first, ...others] = textOf(await files.read(`${folder}/a`))
          .trimEnd()
          .split(' ');
        assert.equal(first, 'new');
        assert.deepEqual(
          others.toSorted(),
          Array.from({ length: 10 }, (_, n) => String(n)),
        );
      }),
    );

    it(
      'lets one of many make a new file',
      whileOpen(async ({ files, folder }) => {
        const writings = Array.from({ length: 10 }, async (_, n) => {
          await files.write(`${folder}/a`, bytesOf(`by ${n}`), { exclusive: true });
          return n;
        });
        const winners = await winnersOf(writings);
        assert.equal(winners.length, 1);
        assert.equal(textOf(await files.read(`${folder}/a`)), `by ${winners[0]}`);
      }),
    );

    it(
      'copies a file, over another too; the two are apart from then on',
      whileOpen(async ({ files, folder }) => {
        await files.write(`${folder}/a`, bytesOf('text'));
        await files.write(`${folder}/b`, bytesOf('a longer text'));
        await files.copy(`${folder}/a`, `${folder}/b`);
        await files.copy(`${folder}/a`, `${folder}/c`);
        await files.write(`${folder}/a`, bytesOf('changed'));
        assert.deepEqual(await treeOf(files, folder), { a: 'changed', b: 'text', c: 'text' });
      }),
    );

    it(
      'tells of a file how long it is and when it was written',
      whileOpen(async ({ files, folder }) => {
        await files.write(`${folder}/a`, bytesOf('1234'));
        const first = await files.facts(`${folder}/a`);
        assert.deepEqual([first.isFolder, first.bytes], [false, 4]);
        assert.ok(first.modifiedAtMs > 0);
        await files.write(`${folder}/a`, bytesOf('12345'));
        const second = await files.facts(`${folder}/a`);
        assert.equal(second.bytes, 5);
        assert.ok(second.modifiedAtMs >= first.modifiedAtMs);
        assert.equal((await files.facts(folder)).isFolder, true);
      }),
    );

    it(
      'dates files and folders, forwards and backwards, and leaves them as they are',
      whileOpen(async (disk) => {
        const { files, folder } = disk;
        await furnish(disk);
        const before = await treeOf(files, folder);
        for (const entry of ['file', 'full']) {
          const path = `${folder}/${entry}`;
          for (const dateMs of [1_700_000_000_123, 1_600_000_000_456]) {
            await files.date(path, dateMs);
            const { modifiedAtMs } = await files.facts(path);
            assert.ok(Math.abs(modifiedAtMs - dateMs) < 1, `${modifiedAtMs} is not ${dateMs}`);
          }
        }
        assert.deepEqual(await treeOf(files, folder), before);
      }),
    );
  });
}

/** The numbers that the successful ones give; the others must have failed for who was faster. */
async function winnersOf(attempts: readonly Promise<number>[]): Promise<readonly number[]> {
  const outcomes = await Promise.allSettled(attempts);
  return outcomes.flatMap((outcome) => {
    if (outcome.status === 'fulfilled') return [outcome.value];
    assert.ok(isSystemError('EEXIST')(outcome.reason));
    return [];
  });
}

function namesContract(name: string, onFiles: OnFiles): void {
  const whileOpen = (body: (disk: FilesUnderTest) => Promise<void>) => (t: TestContext) =>
    onFiles(t, body);

  describe(`${name} keeps names`, () => {
    it(
      'renames a file over another',
      whileOpen(async ({ files, folder }) => {
        await files.write(`${folder}/a`, bytesOf('new'));
        await files.write(`${folder}/b`, bytesOf('old'));
        const { inode } = await files.facts(`${folder}/a`);
        await files.rename(`${folder}/a`, `${folder}/b`);
        assert.deepEqual(await treeOf(files, folder), { b: 'new' });
        assert.equal((await files.facts(`${folder}/b`)).inode, inode);
        files.writeNow(`${folder}/a`, bytesOf('newer'));
        files.renameNow(`${folder}/a`, `${folder}/b`);
        assert.deepEqual(await treeOf(files, folder), { b: 'newer' });
      }),
    );

    it(
      'shows no reader a moment without the file that is renamed over',
      whileOpen(async ({ files, folder }) => {
        await files.write(`${folder}/a`, bytesOf('0'));
        for (let n = 1; n <= 50; n += 1) {
          await files.write(`${folder}/new`, bytesOf(`${n}`));
          const [text] = await Promise.all([
            files.read(`${folder}/a`),
            files.rename(`${folder}/new`, `${folder}/a`),
          ]);
          assert.match(textOf(text), new RegExp(`^(${n - 1}|${n})$`));
        }
      }),
    );

    it(
      'renames a folder with all that is in it, over an empty one too',
      whileOpen(async (disk) => {
        const { files, folder } = disk;
        await furnish(disk);
        const { inode } = await files.facts(`${folder}/full`);
        await files.rename(`${folder}/full`, `${folder}/empty`);
        await files.rename(`${folder}/empty`, `${folder}/moved`);
        const expected = { file: 'text', moved: undefined, 'moved/inner': 'inside' };
        assert.deepEqual(await treeOf(files, folder), expected);
        assert.equal((await files.facts(`${folder}/moved`)).inode, inode);
      }),
    );

    it(
      'renames a file over itself, by whatever name, without an effect',
      whileOpen(async ({ files, folder }) => {
        await files.write(`${folder}/a`, bytesOf('text'));
        await files.link(`${folder}/a`, `${folder}/b`);
        await files.rename(`${folder}/a`, `${folder}/a`);
        await files.rename(`${folder}/a`, `${folder}/b`);
        assert.deepEqual(await treeOf(files, folder), { a: 'text', b: 'text' });
      }),
    );

    it(
      'gives a file a second name, which outlives the first',
      whileOpen(async ({ files, folder }) => {
        await files.write(`${folder}/a`, bytesOf('text'));
        await files.link(`${folder}/a`, `${folder}/b`);
        const [a, b] = [await files.facts(`${folder}/a`), await files.facts(`${folder}/b`)];
        assert.equal(a.inode, b.inode);
        await files.write(`${folder}/b`, bytesOf('changed'));
        assert.equal(textOf(await files.read(`${folder}/a`)), 'changed');
        await files.unlink(`${folder}/a`);
        assert.deepEqual(await treeOf(files, folder), { b: 'changed' });
      }),
    );

    it(
      'lets one of many have a name by a link',
      whileOpen(async ({ files, folder }) => {
        const numbers = Array.from({ length: 10 }, (_, n) => n);
        for (const n of numbers) await files.write(`${folder}/${n}`, bytesOf(`by ${n}`));
        const links = numbers.map(async (n) => {
          await files.link(`${folder}/${n}`, `${folder}/lock`);
          return n;
        });
        const winners = await winnersOf(links);
        assert.equal(winners.length, 1);
        assert.equal(textOf(await files.read(`${folder}/lock`)), `by ${winners[0]}`);
      }),
    );

    it(
      'tells apart all things that exist at once by their inodes',
      whileOpen(async (disk) => {
        await furnish(disk);
        const paths = ['', '/file', '/full', '/full/inner', '/empty'];
        const facts = paths.map((path) => disk.files.facts(`${disk.folder}${path}`));
        const inodes = (await Promise.all(facts)).map(({ inode }) => inode);
        assert.equal(new Set(inodes).size, paths.length);
      }),
    );

    it(
      'lists what is in one folder, not what is below it',
      whileOpen(async (disk) => {
        await furnish(disk);
        const byName = (left: { name: string }, right: { name: string }): number =>
          left.name < right.name ? -1 : 1;
        assert.deepEqual((await disk.files.list(disk.folder)).toSorted(byName), [
          { name: 'empty', isFolder: true, isFile: false },
          { name: 'file', isFolder: false, isFile: true },
          { name: 'full', isFolder: true, isFile: false },
        ]);
        assert.deepEqual(await disk.files.list(`${disk.folder}/empty`), []);
        const names = disk.files.listNow(disk.folder).toSorted();
        assert.deepEqual(names, ['empty', 'file', 'full']);
      }),
    );

    it(
      'removes an empty folder, and a tree whatever it is',
      whileOpen(async (disk) => {
        const { files, folder } = disk;
        await furnish(disk);
        await files.removeFolder(`${folder}/empty`);
        await files.makeFolder(`${folder}/full/deeper`);
        await files.write(`${folder}/full/deeper/x`, BYTES);
        await files.removeTree(`${folder}/full`);
        assert.deepEqual(await treeOf(files, folder), { file: 'text' });
        await files.removeTree(`${folder}/file`);
        await files.removeTree(`${folder}/file`);
        await files.removeTree(`${folder}/missing/x`);
        assert.deepEqual(await treeOf(files, folder), {});
      }),
    );

    it(
      'removes a file at once, and one that is not there',
      whileOpen(async ({ files, folder }) => {
        files.writeNow(`${folder}/a`, BYTES);
        files.removeNow(`${folder}/a`);
        files.removeNow(`${folder}/a`);
        files.removeNow(`${folder}/missing/x`);
        assert.deepEqual(files.listNow(folder), []);
      }),
    );
  });
}

/** What every Files does, whatever disk it is, with the codes of Linux. */
export function filesContract(name: string, onFiles: OnFiles): void {
  contentsContract(name, onFiles);
  namesContract(name, onFiles);
  filesWatchContract(name, onFiles);
  filesRefusalsContract(name, onFiles);
}
