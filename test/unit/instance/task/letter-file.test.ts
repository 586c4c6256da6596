import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { createSeededRandom } from '../../../../src/base/random.ts';
import { LetterFile } from '../../../../src/instance/task/letter-file.ts';
import { encodeDeadLetter, parseDeadLetterFile } from '../../../../src/model/dead-letter.ts';
import { Kernel } from '../../../../src/simulation/kernel/kernel.ts';
import { SimulatedDisk } from '../../../../src/simulation/kernel/simulated-disk.ts';
import { aLetter } from '../../../support/task-letters.ts';
import { inThread } from '../../../support/in-simulated-thread.ts';

const PATH = '/work/dead-letters/source-1.jsonl';
const LETTER_BYTES = encodeDeadLetter(aLetter('1-0000')).length;
const nameOf = (n: number): string => `1-${String(n).padStart(4, '0')}`;

/** A disk, and one process after the other that writes letters there. */
class World {
  readonly kernel = new Kernel({ seed: 1 });
  readonly disk = new SimulatedDisk(this.kernel);
  readonly failures: unknown[] = [];
  dropped = 0;
  thread = this.kernel.createThread('task');
  file = this.#newFile(64 * 1024);

  constructor() {
    this.disk.tree.makeFolders('/work');
  }

  restart(bytesMax = 64 * 1024): void {
    this.thread.kill();
    this.thread = this.kernel.createThread('task');
    this.file = this.#newFile(bytesMax);
  }

  run<T>(body: () => Promise<T>): Promise<T> {
    return inThread(this.kernel, this.thread, body);
  }

  get bytes(): Uint8Array {
    return this.disk.tree.read(PATH);
  }

  get ids(): readonly string[] {
    return parseDeadLetterFile(this.bytes).letters.map(({ id }) => id);
  }

  #newFile(bytesMax: number): LetterFile {
    return new LetterFile({
      files: this.disk.filesOf(this.thread),
      folder: '/work/dead-letters',
      name: 'source-1.jsonl',
      bytesMax,
      clock: this.thread.clock,
      random: createSeededRandom(1),
      onFailure: (error) => void this.failures.push(error),
      onDropped: (letters) => void (this.dropped += letters),
    });
  }
}

describe('the file of dead letters', () => {
  it('F1: has a letter when `add` has resolved, in the order of the calls', async () => {
    const world = new World();
    assert.equal(await world.run(() => world.file.exists()), false);
    const idsWhenWritten: number[] = [];
    await world.run(async () => {
      const added = Array.from({ length: 20 }, async (_, n) => {
        await world.file.add(aLetter(nameOf(n)));
        assert.ok(world.ids.includes(nameOf(n)));
        idsWhenWritten.push(n);
      });
      await Promise.all(added);
    });
    assert.deepEqual(
      world.ids,
      Array.from({ length: 20 }, (_, n) => nameOf(n)),
    );
    assert.deepEqual(
      idsWhenWritten,
      idsWhenWritten.toSorted((a, b) => a - b),
    );
    assert.equal(await world.run(() => world.file.exists()), true);
    assert.ok(world.kernel.nowMs < 20, 'batches, and not a wait for the disk for each letter');
  });

  it('keeps what processes before it have written, without what was removed', async () => {
    const world = new World();
    await world.run(() => world.file.add(aLetter('1-a')));
    world.restart();
    await world.run(() => world.file.add(aLetter('1-b')));
    await world.run(() => world.file.remove(['1-a']));
    world.restart();
    const { letters, skippedLines } = await world.run(() => world.file.read());
    assert.deepEqual(
      letters.map(({ id }) => id),
      ['1-b'],
    );
    assert.equal(skippedLines, 0);
  });

  it('D3: begins a new line behind one that a crash has cut off', async () => {
    const world = new World();
    await world.run(() => world.file.add(aLetter('1-a')));
    const torn = Buffer.concat([world.bytes, encodeDeadLetter(aLetter('1-b')).subarray(0, 50)]);
    world.disk.tree.put(PATH, torn);
    world.restart();
    await world.run(() => world.file.add(aLetter('1-c')));
    assert.deepEqual(world.ids, ['1-a', '1-c']);
    assert.equal(parseDeadLetterFile(world.bytes).skippedLines, 1);
  });

  it('F2: writes when a full disk has room again, and tells of it once', async () => {
    const world = new World();
    await world.run(() => world.file.add(aLetter('1-a')));
    const full = world.disk.faults.full();
    let written = 0;
    const count = (): void => void (written += 1);
    await world.run(async () => {
      void world.file.add(aLetter('1-b')).then(count);
      void world.file.add(aLetter('1-c')).then(count);
      await new Promise<void>((resolve) => {
        world.thread.clock.after(3_000, resolve);
      });
    });
    assert.equal(written, 0);
    assert.equal(world.failures.length, 1);
    full.heal();
    await world.run(() => world.file.add(aLetter('1-d')));
    assert.equal(written, 2);
    assert.deepEqual(world.ids, ['1-a', '1-b', '1-c', '1-d']);
    assert.equal(world.failures.length, 1);
  });

  it('F2: lets its owner end while nothing can be written', async () => {
    const world = new World();
    world.disk.faults.outage({ kind: 'failing', below: '/work' });
    let isWritten = false;
    await world.run(async () => {
      void world.file.add(aLetter('1-a')).then(() => (isWritten = true));
      await new Promise<void>((resolve) => {
        world.thread.clock.after(1_000, resolve);
      });
      const startedAtMs = world.thread.clock.now();
      await world.file.close();
      assert.ok(world.thread.clock.now() - startedAtMs < 10, 'it does not wait for the disk');
    });
    assert.equal(isWritten, false);
  });

  it('F3: never grows beyond its limit; the oldest letters make room', async () => {
    const world = new World();
    world.restart(20 * LETTER_BYTES);
    for (let n = 0; n < 100; n += 1) {
      await world.run(() => world.file.add(aLetter(nameOf(n))));
      assert.ok(world.bytes.length <= 20 * LETTER_BYTES, `${world.bytes.length} bytes`);
    }
    const { ids } = world;
    assert.ok(ids.length >= 14, `${ids.length} letters`);
    assert.deepEqual(
      ids,
      Array.from({ length: ids.length }, (_, n) => nameOf(100 - ids.length + n)),
    );
    assert.equal(world.dropped, 100 - ids.length);
  });

  it('F3: drops what was removed before it drops any letter', async () => {
    const world = new World();
    world.restart(20 * LETTER_BYTES);
    for (let n = 0; n < 100; n += 1) {
      await world.run(() => world.file.add(aLetter(nameOf(n))));
      if (n > 0) await world.run(() => world.file.remove([nameOf(n)]));
    }
    assert.deepEqual(world.ids, [nameOf(0)]);
    assert.equal(world.dropped, 0);
  });

  it('F3: takes more at once than fits, a batch at a time', async () => {
    const world = new World();
    world.restart(20 * LETTER_BYTES);
    await world.run(async () => {
      await Promise.all(Array.from({ length: 100 }, (_, n) => world.file.add(aLetter(nameOf(n)))));
    });
    assert.ok(world.bytes.length <= 20 * LETTER_BYTES, `${world.bytes.length} bytes`);
    assert.equal(world.ids.at(-1), nameOf(99));
    assert.equal(world.dropped + world.ids.length, 100);
  });

  it('takes letters out with their bytes', async () => {
    const world = new World();
    for (const id of ['1-a', '1-b', '1-c']) await world.run(() => world.file.add(aLetter(id)));
    assert.equal(await world.run(() => world.file.purge(({ id }) => id !== '1-b')), 2);
    assert.deepEqual(world.ids, ['1-b']);
    assert.equal(Buffer.from(world.bytes).includes('1-a'), false);
    assert.equal(await world.run(() => world.file.purge(() => false)), 0);
    await world.run(() => world.file.add(aLetter('1-d')));
    assert.deepEqual(world.ids, ['1-b', '1-d']);
  });

  it('F4: reads and takes out what was added before, although it is not written yet', async () => {
    const world = new World();
    const [read, count] = await world.run(() => {
      void world.file.add(aLetter('1-a'));
      const first = world.file.read();
      void world.file.add(aLetter('1-b'));
      return Promise.all([first, world.file.purge(() => true)]);
    });
    // Lines go as one batch: there may be more of them than there were at the call.
    assert.equal(read.letters[0]?.id, '1-a');
    assert.equal(count, 2);
  });
});
