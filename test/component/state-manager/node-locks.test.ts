import assert from 'node:assert/strict';
import { readdir, rename, writeFile } from 'node:fs/promises';
import { describe, it, type TestContext } from 'node:test';
import { type Clock, systemClock } from '../../../src/base/clock.ts';
import type { Files } from '../../../src/base/files.ts';
import { systemProcessIdentities } from '../../../src/base/process-identities.ts';
import { createSeededRandom } from '../../../src/base/random.ts';
import { systemFiles } from '../../../src/base/system-files.ts';
import { DiskLayout } from '../../../src/state-manager/file/disk-layout.ts';
import { encodeHolder, fingerprintOf } from '../../../src/state-manager/file/holder-record.ts';
import { NodeLocks } from '../../../src/state-manager/file/node-locks.ts';
import { TemporaryFiles } from '../../../src/state-manager/file/temporary-files.ts';
import { eventually } from '../../support/eventually.ts';
import { ManualClock } from '../../support/manual-clock.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';

const NAME = 'tmanagers%2Fwords';

/** The record of a process that had this process's pid and is gone. */
function deadRecord(manager: string): Uint8Array {
  const process = { ...systemProcessIdentities.own(), startTicks: 1 };
  return encodeHolder({ process, manager });
}

/** Several holders that compete for the locks of one folder. */
class LockFolder {
  readonly layout: DiskLayout;
  #holders = 0;

  constructor(root: string) {
    this.layout = new DiskLayout(root);
  }

  async holder(clock: Clock = systemClock, files: Files = systemFiles): Promise<NodeLocks> {
    this.#holders += 1;
    const random = createSeededRandom(this.#holders);
    const ports = { files, processes: systemProcessIdentities, clock, random };
    const temporary = new TemporaryFiles(this.layout.temporaryFolder, ports);
    const process = systemProcessIdentities.own();
    const record = encodeHolder({ process, manager: `holder-${this.#holders}` });
    const locks = new NodeLocks(this.layout, temporary, { ...ports, record });
    await locks.open();
    return locks;
  }

  leave(name: string, record: Uint8Array): Promise<void> {
    return writeFile(this.layout.lockFile(name), record);
  }

  names(): Promise<readonly string[]> {
    return readdir(this.layout.locksFolder);
  }
}

async function lockFolder(t: TestContext): Promise<LockFolder> {
  return new LockFolder((await temporaryFolder(t)).path);
}

describe('locks between state managers', () => {
  it('wait for a live holder and pass on when it releases', async (t) => {
    const folder = await lockFolder(t);
    const [first, second] = [await folder.holder(), await folder.holder()];
    const order: string[] = [];
    const lock = await first.acquire(NAME);
    const waiting = second.acquire(NAME).then((next) => {
      order.push('acquired');
      return next.release();
    });
    order.push('released');
    await lock.release();
    await waiting;
    assert.deepEqual(order, ['released', 'acquired']);
    assert.deepEqual(await folder.names(), []);
  });

  it('give up on a holder that never releases, and name it', async (t) => {
    const folder = await lockFolder(t);
    const clock = new ManualClock();
    await (await folder.holder()).acquire(NAME);
    const waiting = (await folder.holder(clock)).acquire(NAME);
    let outcome: unknown;
    waiting.catch((error: unknown) => {
      outcome = error;
    });
    await eventually(() => {
      clock.advance(100);
      assert.ok(outcome instanceof Error);
    });
    await assert.rejects(waiting, {
      code: 'STATE_UNAVAILABLE',
      retryable: true,
      message: `waited 10000 ms for the lock ${NAME}, which is held by process ${process.pid}`,
    });
  });

  it('of a dead holder go to the next', async (t) => {
    const folder = await lockFolder(t);
    const locks = await folder.holder();
    await folder.leave(NAME, deadRecord('dead'));
    await (await locks.acquire(NAME)).release();
    assert.deepEqual(await folder.names(), []);
  });

  it('survive successors that die while they take over, to any depth', async (t) => {
    const folder = await lockFolder(t);
    const locks = await folder.holder();
    let name = NAME;
    for (const manager of ['first', 'second', 'third']) {
      const record = deadRecord(manager);
      await folder.leave(name, record);
      name += `+${fingerprintOf(record)}`;
    }
    await (await locks.acquire(NAME)).release();
    assert.deepEqual(await folder.names(), []);
  });

  it('whose records a crash of the machine emptied are free', async (t) => {
    const folder = await lockFolder(t);
    const locks = await folder.holder();
    const empty = new Uint8Array();
    await folder.leave(NAME, empty);
    await folder.leave(`${NAME}+${fingerprintOf(empty)}`, empty);
    await (await locks.acquire(NAME)).release();
    assert.deepEqual(await folder.names(), []);
  });

  it('are swept when their holders are dead, and only then', async (t) => {
    const folder = await lockFolder(t);
    const [live, sweeping] = [await folder.holder(), await folder.holder()];
    await live.acquire('live');
    await folder.leave('dead', deadRecord('a'));
    await folder.leave(`other+${fingerprintOf(deadRecord('a'))}`, deadRecord('b'));
    await sweeping.sweep();
    assert.deepEqual(await folder.names(), ['live']);
  });

  it('never have two holders while many take over from the dead', async (t) => {
    const folder = await lockFolder(t);
    const holders = await Promise.all(Array.from({ length: 6 }, () => folder.holder()));
    let inside = 0;
    let turns = 0;
    const visit = async (locks: NodeLocks): Promise<void> => {
      for (let round = 0; round < 40; round += 1) {
        const lock = await locks.acquire(NAME);
        inside += 1;
        turns += 1;
        assert.equal(inside, 1);
        const dies = turns % 2 === 0;
        // Others look at the lock while this one still counts as inside.
        if (dies) await folder.leave('bystander', deadRecord(`${turns}`));
        inside -= 1;
        // A dead holder's record in place of the release: the next one has to take over.
        if (dies) await replaceAsDead(folder, `${turns}`);
        else await lock.release();
      }
    };
    await Promise.all(holders.map(visit));
    assert.equal(turns, 240);
  });

  it('that cannot be removed go as soon as the disk is well', async (t) => {
    const folder = await lockFolder(t);
    const disk = new DiskThatKeeps(folder.layout.lockFile(NAME));
    const locks = await folder.holder(systemClock, disk.files);
    await (await locks.acquire(NAME)).release();
    assert.deepEqual(await folder.names(), [NAME], 'the removal has failed');
    disk.isIll = false;
    await (await (await folder.holder()).acquire(NAME)).release();
    assert.deepEqual(await folder.names(), []);
  });

  it('that cannot be removed are taken up again by their own holder', async (t) => {
    const folder = await lockFolder(t);
    const disk = new DiskThatKeeps(folder.layout.lockFile(NAME));
    const clock = new ManualClock();
    const locks = await folder.holder(clock, disk.files);
    await (await locks.acquire(NAME)).release();
    const again = await locks.acquire(NAME);
    disk.isIll = false;
    await again.release();
    assert.deepEqual(await folder.names(), []);
    assert.equal(clock.pendingTimers, 0);
  });

  it('that cannot be looked at when they are taken up again are not forgotten', async (t) => {
    const folder = await lockFolder(t);
    const disk = new DiskThatKeeps(folder.layout.lockFile(NAME));
    const clock = new ManualClock();
    const locks = await folder.holder(clock, disk.files);
    await (await locks.acquire(NAME)).release();
    disk.isUnreadable = true;
    await assert.rejects(locks.acquire(NAME), { code: 'EIO' });
    disk.isUnreadable = false;
    await (await locks.acquire(NAME)).release();
    disk.isIll = false;
    await locks.close();
    assert.deepEqual(await folder.names(), []);
  });

  it('that were removed whatever the disk said belong to their new holder', async (t) => {
    const folder = await lockFolder(t);
    const disk = new DiskThatKeeps(folder.layout.lockFile(NAME), { removesAllTheSame: true });
    const clock = new ManualClock();
    const locks = await folder.holder(clock, disk.files);
    await (await locks.acquire(NAME)).release();
    const other = await (await folder.holder()).acquire(NAME);
    disk.isIll = false;
    const looksBefore = disk.looks;
    clock.advance(1_000);
    await eventually(() => assert.ok(disk.looks > looksBefore, 'it has looked whose the lock is'));
    await locks.close();
    assert.deepEqual(await folder.names(), [NAME]);
    await other.release();
  });

  it('let a close pass when its own files cannot be removed', async (t) => {
    const folder = await lockFolder(t);
    const unlink = (): Promise<void> => Promise.reject(ioError());
    const locks = await folder.holder(systemClock, { ...systemFiles, unlink });
    await (await locks.acquire(NAME)).release();
    await locks.close();
    assert.deepEqual(await folder.names(), [NAME]);
  });

  it('that cannot be removed are tried once more by a close', async (t) => {
    const folder = await lockFolder(t);
    const disk = new DiskThatKeeps(folder.layout.lockFile(NAME));
    const clock = new ManualClock();
    const locks = await folder.holder(clock, disk.files);
    await (await locks.acquire(NAME)).release();
    disk.isIll = false;
    await locks.close();
    assert.deepEqual(await folder.names(), []);
    assert.equal(clock.pendingTimers, 0);
  });
});

/** A disk that fails to remove one file while it is ill. */
class DiskThatKeeps {
  isIll = true;
  isUnreadable = false;
  looks = 0;
  readonly files: Files;

  constructor(kept: string, { removesAllTheSame = false } = {}) {
    this.files = {
      ...systemFiles,
      read: async (file) => {
        if (file === kept) this.looks += 1;
        if (file === kept && this.isUnreadable) throw ioError();
        return systemFiles.read(file);
      },
      unlink: async (file) => {
        if (file !== kept || !this.isIll) return systemFiles.unlink(file);
        if (removesAllTheSame) await systemFiles.unlink(file);
        throw ioError();
      },
    };
  }
}

function ioError(): Error {
  return Object.assign(new Error('EIO: i/o error'), { code: 'EIO' });
}

async function replaceAsDead(folder: LockFolder, manager: string): Promise<void> {
  await folder.leave(`prepared-${manager}`, deadRecord(manager));
  await rename(folder.layout.lockFile(`prepared-${manager}`), folder.layout.lockFile(NAME));
}
