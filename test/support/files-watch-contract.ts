import assert from 'node:assert/strict';
import { describe, it, type TestContext } from 'node:test';
import type { Files, FileWatch } from '../../src/base/files.ts';
import { bytesOf, type FilesUnderTest, furnish, type OnFiles } from './files-under-test.ts';

const BYTES = bytesOf('new');

/** A watch and all that it told. */
class Listener {
  readonly heard: (string | undefined)[] = [];
  readonly watch: FileWatch;

  constructor(files: Files, folder: string, t: TestContext) {
    this.watch = files.watch(folder, {
      onChange: (changed) => this.heard.push(changed),
      onLost: (error) => assert.fail(`the watch of ${folder} was lost: ${String(error)}`),
    });
    t.after(() => this.watch.close());
  }

  /** Forgets what it has heard before `change`; then something called `name` must have changed. */
  async hears(
    disk: FilesUnderTest,
    name: string | undefined,
    change: () => Promise<void>,
  ): Promise<void> {
    this.heard.length = 0;
    await change();
    await disk.eventually(() => assert.ok(this.heard.includes(name), `heard ${this.heard.join()}`));
  }
}

/** What the watches of a Files tell. */
export function filesWatchContract(name: string, onFiles: OnFiles): void {
  describe(`${name} tells watchers of a folder`, () => {
    it('what comes, changes and goes in it', (t) =>
      onFiles(t, async (disk) => {
        const { files, folder } = disk;
        const listener = new Listener(files, folder, t);
        await listener.hears(disk, 'a', () => files.write(`${folder}/a`, BYTES));
        await listener.hears(disk, 'a', () => files.write(`${folder}/a`, bytesOf('changed')));
        await listener.hears(disk, 'b', () => files.link(`${folder}/a`, `${folder}/b`));
        await listener.hears(disk, 'b', () => files.unlink(`${folder}/b`));
        await listener.hears(disk, 'c', () => files.copy(`${folder}/a`, `${folder}/c`));
        await listener.hears(disk, 'd', () => files.makeFolder(`${folder}/d`));
        await listener.hears(disk, 'd', () => files.removeFolder(`${folder}/d`));
        await listener.hears(disk, 'c', () => files.removeTree(`${folder}/c`));
        await listener.hears(disk, 'e', async () => files.writeNow(`${folder}/e`, BYTES));
        await listener.hears(disk, 'e', async () => files.removeNow(`${folder}/e`));
      }));

    it('that an entry was renamed over, moved in or moved away', (t) =>
      onFiles(t, async (disk) => {
        const { files, folder } = disk;
        await furnish(disk);
        const listener = new Listener(files, folder, t);
        await listener.hears(disk, 'file', () =>
          files.rename(`${folder}/full/inner`, `${folder}/file`),
        );
        await listener.hears(disk, 'file', () =>
          files.rename(`${folder}/file`, `${folder}/full/inner`),
        );
        await listener.hears(disk, 'new', () => files.rename(`${folder}/full`, `${folder}/new`));
        await disk.eventually(() => assert.ok(listener.heard.includes('full')));
      }));

    it('nothing of what is below', (t) =>
      onFiles(t, async (disk) => {
        const { files, folder } = disk;
        await furnish(disk);
        const listener = new Listener(files, folder, t);
        await files.write(`${folder}/full/inner`, bytesOf('changed'));
        await files.write(`${folder}/full/more`, BYTES);
        await files.unlink(`${folder}/full/inner`);
        await files.write(`${folder}/last`, BYTES);
        await disk.eventually(() => assert.ok(listener.heard.includes('last')));
        assert.deepEqual([...new Set(listener.heard)], ['last']);
      }));

    it('that it has gone; a folder that takes its name needs a watch of its own', (t) =>
      onFiles(t, async (disk) => {
        const { files } = disk;
        const folder = `${disk.folder}/watched`;
        await files.makeFolder(folder);
        const old = new Listener(files, folder, t);
        await old.hears(disk, undefined, () => files.removeFolder(folder));
        await files.makeFolder(folder);
        const listener = new Listener(files, folder, t);
        await listener.hears(disk, 'a', () => files.write(`${folder}/a`, BYTES));
        assert.ok(!old.heard.includes('a'));
      }));

    it('that it was moved away, and nothing of the folder that replaced it', (t) =>
      onFiles(t, async (disk) => {
        const { files } = disk;
        const folder = `${disk.folder}/watched`;
        await files.makeFolder(folder);
        await files.makeFolder(`${disk.folder}/new`);
        const old = new Listener(files, folder, t);
        const { inode } = await files.facts(folder);
        await old.hears(disk, undefined, () => files.rename(folder, `${disk.folder}/moved`));
        await files.rename(`${disk.folder}/new`, folder);
        assert.notEqual((await files.facts(folder)).inode, inode);
        const listener = new Listener(files, folder, t);
        await listener.hears(disk, 'a', () => files.write(`${folder}/a`, BYTES));
        assert.ok(!old.heard.includes('a'));
      }));

    it('each of them, until it is closed', (t) =>
      onFiles(t, async (disk) => {
        const { files, folder } = disk;
        const [staying, closing] = [new Listener(files, folder, t), new Listener(files, folder, t)];
        await closing.hears(disk, 'a', () => files.write(`${folder}/a`, BYTES));
        await disk.eventually(() => assert.ok(staying.heard.includes('a')));
        await files.write(`${folder}/b`, BYTES); // Perhaps on its way when the watch is closed.
        closing.watch.close();
        closing.watch.close();
        closing.heard.length = 0;
        await staying.hears(disk, 'c', () => files.write(`${folder}/c`, BYTES));
        assert.deepEqual(closing.heard, []);
      }));
  });
}
