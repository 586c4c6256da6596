import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { mkdir, readFile, rename, rm, stat, symlink, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { describe, it } from 'node:test';
import { systemClock } from '../../../src/base/clock.ts';
import { topologyId } from '../../../src/base/ids.ts';
import { systemFiles } from '../../../src/base/system-files.ts';
import { eventually } from '../../support/eventually.ts';
import { ManualClock } from '../../support/manual-clock.ts';
import {
  bytesOf,
  record,
  rejectsWith,
  stateManagerContract,
  textOf,
} from '../../support/state-manager-contract.ts';
import { stateRoot } from './state-root.ts';

const NODE = 'tmanagers/words';

stateManagerContract('the file state manager', async (t) => {
  const root = await stateRoot(t);
  return {
    connect: () => root.connect(),
    async connectDoomed() {
      const client = root.spawn();
      return {
        create: (path, bytes, options) => client.call('create', path, bytes, options),
        die: () => client.kill(),
      };
    },
  };
});

describe('the folder of a file state manager', () => {
  it("holds Heron's tree: raw bytes, and nothing else beside them", async (t) => {
    const root = await stateRoot(t);
    const manager = root.connect();
    await manager.create('topologies/words', bytesOf('raw'));
    await manager.create('tmanagers/words', bytesOf('owned'), { ephemeral: true });
    await manager.create('.heron-ts/tokens/words', bytesOf('secret'));
    assert.equal(await readFile(join(root.path, 'topologies/words'), 'utf8'), 'raw');
    assert.equal(await readFile(join(root.path, 'tmanagers/words'), 'utf8'), 'owned');
    const names = (await root.files()).filter((name) => !name.startsWith('.heron-ts/'));
    assert.deepEqual(names, ['tmanagers/words', 'topologies/words']);
  });

  it('is open to its user only', async (t) => {
    const root = await stateRoot(t);
    const manager = root.connect();
    await manager.create('.heron-ts/tokens/words', bytesOf('secret'));
    for (const folder of ['', '.heron-ts', '.heron-ts/tokens', '.heron-ts/locks']) {
      assert.equal((await stat(join(root.path, folder))).mode & 0o777, 0o700, folder);
    }
    assert.equal((await stat(join(root.path, '.heron-ts/tokens/words'))).mode & 0o777, 0o600);
  });

  it('holds no file at all after everything is deleted and closed', async (t) => {
    const root = await stateRoot(t);
    const manager = root.connect();
    await manager.create('tmanagers/words', bytesOf('owned'), { ephemeral: true });
    await manager.create('.heron-ts/containers/words/1', bytesOf('report'));
    await manager.delete('.heron-ts/containers/words/1');
    await manager.close();
    assert.deepEqual(await root.files(), []);
    assert.deepEqual(await root.names('.heron-ts/containers'), []);
  });

  it('reads what other programs put there, and writes nothing to do so', async (t) => {
    const root = await stateRoot(t);
    await mkdir(join(root.path, 'topologies'), { recursive: true });
    await writeFile(join(root.path, 'topologies/foreign'), 'theirs');
    const manager = root.connect();
    assert.equal(textOf(await manager.read('topologies/foreign')), 'theirs');
    assert.deepEqual(await manager.list('topologies'), ['foreign']);
    assert.deepEqual(await root.names(''), ['topologies']);
  });

  it('keeps its own files out of reach', async (t) => {
    const manager = (await stateRoot(t)).connect();
    const path = '.heron-ts/owners/tmanagers%2Fwords';
    await rejectsWith(manager.write(path, bytesOf('')), 'INVALID_ARGUMENT');
    await rejectsWith(manager.list('.heron-ts/locks'), 'INVALID_ARGUMENT');
  });

  it('may be removed under a live manager, which then makes it again', async (t) => {
    const root = await stateRoot(t);
    const manager = root.connect();
    const { told } = record(manager, NODE);
    await manager.write(NODE, bytesOf('before'));
    await eventually(() => assert.equal(told.at(-1), 'before'));
    await rm(root.path, { recursive: true });
    await eventually(() => assert.equal(told.at(-1), undefined));
    await manager.write(NODE, bytesOf('after'));
    await eventually(() => assert.equal(told.at(-1), 'after'));
  });
});

/** In one step: a watcher may look while a file is being written in place, and see it empty. */
async function writeWhole(file: string, text: string): Promise<void> {
  const written = `${dirname(dirname(file))}/written`;
  await writeFile(written, text);
  await rename(written, file);
}

describe('a watched folder of a state tree', () => {
  it('is not made again by those whom its removal wakes, only when they look again', async (t) => {
    const root = await stateRoot(t);
    const clock = new ManualClock();
    const { told } = record(root.connect({ clock }), NODE);
    await eventually(() => assert.deepEqual(told, [undefined]));
    await writeWhole(join(root.path, NODE), 'there');
    await eventually(() => assert.deepEqual(told, [undefined, 'there']));
    await rm(root.path, { recursive: true });
    await eventually(() => assert.deepEqual(told, [undefined, 'there', undefined]));
    assert.equal(existsSync(root.path), false);
    clock.advance(500);
    await eventually(() => assert.equal(existsSync(dirname(join(root.path, NODE))), true));
  });

  it('is watched anew when one takes its place, even with the inode of the old', async (t) => {
    const root = await stateRoot(t);
    const clock = new ManualClock();
    const folder = dirname(join(root.path, NODE));
    await mkdir(folder, { recursive: true });
    const same = await systemFiles.facts(folder);
    const manager = root.connect({ clock, files: { ...systemFiles, facts: async () => same } });
    const { told } = record(manager, NODE);
    await eventually(() => assert.deepEqual(told, [undefined]));
    await rename(folder, `${folder}-old`);
    await mkdir(folder);
    await writeWhole(join(root.path, NODE), 'a');
    await eventually(() => {
      clock.advance(500);
      assert.deepEqual(told, [undefined, 'a']);
    });
    // A look that is still under way may see one or two of them; who sees all is told by events.
    for (const value of ['b', 'c', 'd', 'e']) {
      await writeWhole(join(root.path, NODE), value);
      await eventually(() => assert.equal(told.at(-1), value));
    }
  });
});

describe('several processes on one state folder', () => {
  it('a watcher anywhere removes the node of a killed owner, within a second', async (t) => {
    const root = await stateRoot(t);
    const owner = root.spawn();
    const watcher = root.spawn();
    await owner.call('create', NODE, bytesOf('owned'), { ephemeral: true });
    await watcher.call('watch', NODE);
    await eventually(() => assert.deepEqual(watcher.told.map(textOf), ['owned']));
    await owner.kill();
    const killedAtMs = systemClock.now();
    assert.equal(await root.connect().read(NODE), undefined);
    await eventually(async () => assert.deepEqual(await root.names('tmanagers'), []));
    await eventually(() => assert.deepEqual(watcher.told.map(textOf), ['owned', undefined]));
    // One second, and as much again for a busy machine.
    assert.ok(systemClock.now() - killedAtMs < 2_000);
    await eventually(async () => assert.deepEqual(await root.names('.heron-ts/owners'), []));
  });

  it('exactly one of several creators wins, each time', async (t) => {
    const root = await stateRoot(t);
    const clients = [1, 2, 3].map(() => root.spawn());
    const manager = root.connect();
    for (let round = 0; round < 20; round += 1) {
      const path = `topologies/round-${round}`;
      const outcomes = await Promise.allSettled(
        clients.map((client) =>
          client.call('create', path, bytesOf(`${client.pid}`), { ephemeral: round % 2 === 0 }),
        ),
      );
      const winners = clients.filter((_, index) => outcomes[index]?.status === 'fulfilled');
      assert.equal(winners.length, 1);
      assert.equal(textOf(await manager.read(path)), `${winners[0]?.pid}`);
      const losers = outcomes.filter((outcome) => outcome.status === 'rejected');
      for (const { reason } of losers) {
        assert.equal((reason as { code: string }).code, 'STATE_EXISTS');
      }
    }
  });

  it('no replacement is lost between conflicting ones', async (t) => {
    const root = await stateRoot(t);
    const clients = [1, 2, 3].map(() => root.spawn());
    const manager = root.connect();
    await manager.write('pplans/words', bytesOf('0'));
    const perClient = 20;
    await Promise.all(
      clients.map(async (client) => {
        for (let done = 0; done < perClient; ) {
          const current = await manager.read('pplans/words');
          const next = bytesOf(`${Number(textOf(current)) + 1}`);
          const outcome = await client.call('replace', 'pplans/words', current, next).then(
            () => 'replaced',
            (error: { code: string }) => error.code,
          );
          if (outcome === 'replaced') done += 1;
          else assert.equal(outcome, 'STATE_CONFLICT');
        }
      }),
    );
    const total = `${clients.length * perClient}`;
    assert.equal(textOf(await manager.read('pplans/words')), total);
  });

  it('epochs are unique over four processes that hammer, and leave no gap', async (t) => {
    const root = await stateRoot(t);
    const clients = [1, 2, 3, 4].map(() => root.spawn());
    const counted = await Promise.all(
      clients.map((client) => client.call('epochs', topologyId('words-1'), 50)),
    );
    const epochs = counted.flat().toSorted((a, b) => a - b);
    assert.deepEqual(
      epochs,
      Array.from({ length: 200 }, (_, index) => index + 1),
    );
    for (const own of counted)
      assert.deepEqual(
        own,
        own.toSorted((a, b) => a - b),
      );
  });

  it('nobody sees half a node while another hammers it and is killed', async (t) => {
    const root = await stateRoot(t);
    const length = 300_000;
    const manager = root.connect();
    const seen: Uint8Array[] = [];
    manager.watch('pplans/words', (bytes) => bytes !== undefined && seen.push(bytes));
    for (let killed = 0; killed < 3; killed += 1) {
      const writer = root.spawn();
      void writer.call('hammer', 'pplans/words', length);
      const target = seen.length + 10;
      await eventually(async () => {
        seen.push((await manager.read('pplans/words')) ?? new Uint8Array(length));
        assert.ok(seen.length > target);
      });
      await writer.kill();
    }
    for (const bytes of seen) {
      assert.equal(bytes.length, length);
      assert.ok(bytes.every((byte) => byte === bytes[0]));
    }
    await manager.write('pplans/words', bytesOf('end'));
    await manager.close();
    assert.deepEqual(await root.files(), ['pplans/words']);
  });

  it('a watcher is told of changes at once, not only when it looks by itself', async (t) => {
    const root = await stateRoot(t);
    const timeStandsStill = new ManualClock();
    const { told } = record(root.connect({ clock: timeStandsStill }), 'packingplans/words');
    await eventually(() => assert.deepEqual(told, [undefined]));
    const writer = root.spawn();
    await writer.call('create', 'packingplans/words', bytesOf('a'), { ephemeral: false });
    await eventually(() => assert.deepEqual(told, [undefined, 'a']));
    await writer.call('replace', 'packingplans/words', bytesOf('a'), bytesOf('b'));
    await eventually(() => assert.deepEqual(told, [undefined, 'a', 'b']));
  });

  it('a watcher in another process is told every last value', async (t) => {
    const root = await stateRoot(t);
    const manager = root.connect();
    const watcher = root.spawn();
    await watcher.call('watch', 'packingplans/words');
    for (let value = 1; value <= 30; value += 1) {
      await manager.write('packingplans/words', bytesOf(`${value}`));
      if (value % 3 !== 0) continue;
      await eventually(() => assert.equal(textOf(watcher.told.at(-1)), `${value}`));
    }
  });
});

describe('a state folder in a bad state', () => {
  it('a damaged owner record counts as that of a dead owner, and heals', async (t) => {
    const root = await stateRoot(t);
    const owner = root.connect();
    for (const damage of ['', '{', '{"process":{"pid":"x"},"manager":"m"}', '[1]']) {
      await owner.create(NODE, bytesOf('owned'), { ephemeral: true });
      await writeFile(join(root.path, '.heron-ts/owners', encodeURIComponent(NODE)), damage);
      assert.equal(await owner.read(NODE), undefined);
      await owner.create(NODE, bytesOf('again'), { ephemeral: true });
      assert.equal(textOf(await owner.read(NODE)), 'again');
      await owner.delete(NODE);
    }
  });

  it('is swept of what dead processes left when the next one changes anything', async (t) => {
    const root = await stateRoot(t);
    const owner = root.spawn();
    await owner.call('create', NODE, bytesOf('owned'), { ephemeral: true });
    await owner.kill();
    const manager = root.connect();
    await manager.write('topologies/other', bytesOf('kept'));
    await manager.close();
    assert.deepEqual(await root.files(), ['topologies/other']);
  });

  it('that is no folder is named in the error', async (t) => {
    const root = await stateRoot(t);
    await writeFile(root.path, 'a file');
    const manager = root.connect();
    await assert.rejects(manager.write(NODE, bytesOf('')), {
      code: 'STATE_NOT_WRITABLE',
      message:
        `cannot write the state node ${NODE} under ${root.path}: ` +
        'a part of that path is a file, not a folder',
    });
    await rejectsWith(manager.read(NODE), 'STATE_UNAVAILABLE');
    await rejectsWith(manager.list('topologies'), 'STATE_UNAVAILABLE');
  });

  // The kernel's own trees refuse even root, as a read-only disk would.
  for (const path of ['/proc/heron-state', '/sys/heron-state']) {
    it(`${dirname(path)}: reads as empty and cannot be written`, async (t) => {
      const manager = (await stateRoot(t)).connect({ root: path });
      await rejectsWith(manager.create(NODE, bytesOf('')), 'STATE_NOT_WRITABLE');
      await rejectsWith(manager.nextEpoch(topologyId('words-1')), 'STATE_NOT_WRITABLE');
      assert.equal(await manager.read(NODE), undefined);
      const { told } = record(manager, NODE);
      await eventually(() => assert.deepEqual(told, [undefined]));
    });
  }

  it('that takes no more writes says so, and keeps the old node', async (t) => {
    const root = await stateRoot(t);
    const manager = root.connect();
    await manager.write(NODE, bytesOf('old'));
    await rm(join(root.path, '.heron-ts/temporary'), { recursive: true });
    await symlink('/proc', join(root.path, '.heron-ts/temporary'));
    await rejectsWith(manager.write(NODE, bytesOf('new')), 'STATE_NOT_WRITABLE');
    assert.equal(textOf(await manager.read(NODE)), 'old');
  });

  it('on a disk that fills up keeps the node as it was, and no part of the new one', async (t) => {
    const root = await stateRoot(t);
    await root.connect().write(NODE, bytesOf('old'));
    const full = root.connect({ files: { ...systemFiles, write: writeHalf } });
    await assert.rejects(full.write(NODE, bytesOf('new')), {
      code: 'STATE_NOT_WRITABLE',
      message: `cannot write the state node ${NODE} under ${root.path}: the disk is full`,
    });
    assert.equal(textOf(await full.read(NODE)), 'old');
    await full.close();
    const left = await root.names('.heron-ts/temporary');
    assert.equal(left.length, 1, 'the record of the other manager');
  });
});

async function writeHalf(file: string, bytes: Uint8Array): Promise<void> {
  await systemFiles.write(file, bytes.subarray(0, bytes.length / 2));
  throw Object.assign(new Error('ENOSPC: no space left on device'), { code: 'ENOSPC' });
}
