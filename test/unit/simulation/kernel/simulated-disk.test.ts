import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Files } from '../../../../src/base/files.ts';
import { Kernel } from '../../../../src/simulation/kernel/kernel.ts';
import { SimulatedDisk } from '../../../../src/simulation/kernel/simulated-disk.ts';
import type { SimulatedThread } from '../../../../src/simulation/kernel/simulated-thread.ts';
import { filesContract } from '../../../support/files-contract.ts';
import { bytesOf, isSystemError, textOf } from '../../../support/files-under-test.ts';
import { inThread, untilIdle } from '../../../support/in-simulated-thread.ts';

interface World {
  readonly kernel: Kernel;
  readonly disk: SimulatedDisk;
  readonly thread: SimulatedThread;
  readonly files: Files;
  readonly run: <T>(body: () => T | Promise<T>) => Promise<T>;
}

function aWorld(seed = 1): World {
  const kernel = new Kernel({ seed });
  const disk = new SimulatedDisk(kernel);
  disk.tree.makeFolders('/data/state');
  const thread = kernel.createThread('t');
  const run = <T>(body: () => T | Promise<T>): Promise<T> => inThread(kernel, thread, body);
  return { kernel, disk, thread, files: disk.filesOf(thread), run };
}

filesContract('a simulated disk', async (_t, body) => {
  const { thread, files, run } = aWorld();
  const eventually = async (check: () => void): Promise<void> => {
    for (let look = 0; look < 100; look += 1) {
      try {
        return check();
      } catch {
        await new Promise<void>((resolve) => {
          thread.clock.after(1, resolve);
        });
      }
    }
    check();
  };
  await run(() => body({ files, folder: '/data/state', eventually }));
});

describe('a simulated disk', () => {
  it('takes time, which the seed decides', async () => {
    const timeOf = async (seed: number): Promise<number> => {
      const { run, files, kernel } = aWorld(seed);
      await run(() => files.write('/data/a', bytesOf('x'), { durable: true }));
      return kernel.nowMs;
    };
    const [one, again, other] = [await timeOf(1), await timeOf(1), await timeOf(2)];
    assert.ok(one > 0.1 && one === again && one !== other, `${one} ${again} ${other}`);
  });

  it('lets operations that were asked for together happen in any order', async () => {
    const orders = new Set<string>();
    for (let seed = 1; seed <= 20; seed += 1) {
      const { run, files } = aWorld(seed);
      const order: string[] = [];
      const make = async (name: string): Promise<void> => {
        await files.makeFolder(`/data/${name}`);
        order.push(name);
      };
      await run(() => Promise.all(['a', 'b', 'c'].map(make)));
      orders.add(order.join(''));
    }
    assert.ok(orders.size > 3, [...orders].join(' '));
  });

  it('keeps an effect of which a killed thread never heard', async () => {
    const states = new Set<string>();
    for (let seed = 1; seed <= 40; seed += 1) {
      const { kernel, disk, thread, files } = aWorld(seed);
      disk.tree.put('/data/a', bytesOf('old'));
      let isHeard = false;
      thread.post(0, () => {
        void files.write('/data/a', bytesOf('new')).then(() => {
          isHeard = true;
        });
      });
      kernel.at(0.05 + seed / 100, () => thread.kill());
      await untilIdle(kernel);
      states.add(`${textOf(disk.tree.read('/data/a'))} ${isHeard ? 'heard' : 'unheard'}`);
    }
    const expected = [' unheard', 'new heard', 'new unheard', 'old unheard'];
    assert.deepEqual([...states].toSorted(), expected);
  });

  it('does nothing for a dead thread', async () => {
    const { kernel, disk, thread, files } = aWorld();
    let settled = 0;
    thread.kill();
    const count = (): number => (settled += 1);
    files.write('/data/a', bytesOf('x')).then(count, count);
    files.writeNow('/data/b', bytesOf('x'));
    files.removeNow('/data/state');
    files.watch('/data', { onChange: count, onLost: count });
    disk.tree.put('/data/c', bytesOf('x'));
    await untilIdle(kernel);
    assert.deepEqual([settled, disk.tree.paths('/data')], [0, ['/data/c', '/data/state/']]);
  });

  it('goes with a time of its threads for what they wait for on the spot', async () => {
    const { run, files, thread } = aWorld();
    const tookMs = await run(() => {
      const startMs = thread.clock.now();
      files.writeNow('/data/a', bytesOf('x'));
      return thread.clock.now() - startMs;
    });
    assert.ok(tookMs >= 0.03);
  });

  it('is furnished and looked at from outside', () => {
    const { disk } = aWorld();
    disk.tree.put('/data/deep/er/file', bytesOf('x'));
    assert.deepEqual(disk.tree.paths(), ['/data/deep/er/file', '/data/state/']);
    assert.deepEqual(disk.tree.paths('/data/deep'), ['/data/deep/er/file']);
    assert.deepEqual(disk.tree.paths('/missing'), []);
    assert.equal(disk.tree.exists('/data/deep/er/file/x'), false);
    assert.equal(disk.tree.exists('/'), true);
  });
});

describe('faults of a simulated disk', () => {
  it('make it slow, where they lie', async () => {
    const { disk, files, kernel, run } = aWorld();
    const fault = disk.faults.slow({ delayMs: 500, below: '/data/state' });
    await run(() => files.write('/data/a', bytesOf('x')));
    assert.ok(kernel.nowMs < 100);
    await run(() => files.makeFolder('/data/state/a'));
    assert.ok(kernel.nowMs >= 500 && kernel.nowMs < 600, `${kernel.nowMs}`);
    await run(() => files.writeNow('/data/state/b', bytesOf('x')));
    await run(() => {});
    assert.ok(kernel.nowMs >= 1000, `${kernel.nowMs}`);
    fault.heal();
    await run(() => files.makeFolder('/data/state/c'));
    assert.ok(kernel.nowMs < 1100);
  });

  it('fill it: what adds is refused, what replaces loses a part, what frees works', async () => {
    const { disk, files, run } = aWorld();
    disk.tree.put('/data/a', bytesOf('a long old text'));
    const fault = disk.faults.full();
    const isFull = isSystemError('ENOSPC');
    await assert.rejects(
      run(() => files.write('/data/new', bytesOf('x'))),
      isFull,
    );
    await assert.rejects(
      run(() => files.copy('/data/a', '/data/new')),
      isFull,
    );
    await assert.rejects(
      run(() => files.makeFolder('/data/new')),
      isFull,
    );
    await assert.rejects(
      run(() => files.link('/data/a', '/data/new')),
      isFull,
    );
    await assert.rejects(
      run(() => files.writeNow('/data/new', bytesOf('x'))),
      isFull,
    );
    await assert.rejects(
      run(() => files.append('/data/new', bytesOf('x'))),
      isFull,
    );
    await assert.rejects(
      run(() => files.append('/data/a', bytesOf(' and more'))),
      isFull,
    );
    await run(() => files.date('/data/a', 1)); // Needs no room.
    const added = textOf(disk.tree.read('/data/a'));
    assert.ok('a long old text and more'.startsWith(added), added);
    assert.ok(added.startsWith('a long old text') && !added.endsWith('more'), added);
    await assert.rejects(
      run(() => files.write('/data/a', bytesOf('a newer text'))),
      isFull,
    );
    assert.ok('a newer text'.startsWith(textOf(disk.tree.read('/data/a'))));
    assert.notEqual(textOf(disk.tree.read('/data/a')), 'a newer text');
    await assert.rejects(
      run(() => files.makeFolder('/data/state')),
      isSystemError('EEXIST'),
    );
    await run(() => files.rename('/data/a', '/data/b'));
    await run(() => files.write('/data/b', new Uint8Array()));
    await run(() => files.unlink('/data/b'));
    fault.heal();
    await run(() => files.write('/data/new', bytesOf('x')));
  });

  it('let operations below a path fail', async () => {
    const { disk, files, run } = aWorld();
    const fault = disk.faults.outage({ kind: 'failing', below: '/data/state' });
    const isBroken = isSystemError('EIO');
    await assert.rejects(
      run(() => files.write('/data/state/a', bytesOf('x'))),
      isBroken,
    );
    await assert.rejects(
      run(() => files.list('/data/state')),
      isBroken,
    );
    await assert.rejects(
      run(() => files.rename('/data/state', '/data/moved')),
      isBroken,
    );
    await assert.rejects(
      run(() => files.listNow('/data/state')),
      isBroken,
    );
    await run(() => files.write('/data/states', bytesOf('x')));
    fault.heal();
    await run(() => files.write('/data/state/a', bytesOf('x')));
  });

  it('let operations below a path hang until it is over, and what cannot wait fail', async () => {
    const { disk, files, kernel, run } = aWorld();
    const fault = disk.faults.outage({ kind: 'hanging', below: '/data/state' });
    const other = disk.faults.slow({ delayMs: 1 });
    await assert.rejects(
      run(() => files.readNow('/data/state/a')),
      isSystemError('EIO'),
    );
    kernel.at(500, () => other.heal()); // Changes nothing for those that hang.
    kernel.at(1000, () => fault.heal());
    await run(() => files.write('/data/state/a', bytesOf('x')));
    assert.ok(kernel.nowMs >= 1000 && kernel.nowMs < 1100, `${kernel.nowMs}`);
    disk.faults.outage({ kind: 'hanging', below: '/data/state' });
    disk.faults.full();
    kernel.at(1000, () => disk.faults.clear());
    await run(() => files.write('/data/state/b', bytesOf('x')));
    assert.ok(kernel.nowMs >= 2000 && kernel.nowMs < 2100, `${kernel.nowMs}`);
  });

  it('do not wake operations of the dead', async () => {
    const { disk, files, kernel, thread } = aWorld();
    const fault = disk.faults.outage({ kind: 'hanging', below: '/data' });
    thread.post(0, () => void files.makeFolder('/data/x'));
    kernel.at(10, () => thread.kill());
    kernel.at(20, () => fault.heal());
    await untilIdle(kernel);
    assert.equal(disk.tree.exists('/data/x'), false);
  });
});

describe('a watch on a simulated disk', () => {
  it('ends with its thread', async () => {
    const { disk, files, kernel, thread, run } = aWorld();
    const heard: unknown[] = [];
    const events = { onChange: (name?: string) => heard.push(name), onLost: () => {} };
    await run(() => void files.watch('/data', events));
    disk.tree.put('/data/a', bytesOf('x'));
    await untilIdle(kernel);
    assert.ok(heard.includes('a'));
    heard.length = 0;
    thread.kill();
    disk.tree.put('/data/b', bytesOf('x'));
    await untilIdle(kernel);
    assert.deepEqual(heard, []);
    assert.equal(disk.tree.folder('/data', 'test').watchers.size, 0);
  });
});
