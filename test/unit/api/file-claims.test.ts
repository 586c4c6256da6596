import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { FileClaims } from '../../../src/api/file-claims.ts';
import { taskId } from '../../../src/base/ids.ts';
import { createSeededRandom, type Random } from '../../../src/base/random.ts';
import { SourceDisk } from '../../support/source-disk.ts';

/** A disk whose answers take their time, each another one. */
class SlowDisk extends SourceDisk {
  readonly #random: Random;
  writes = 0;
  isFull = false;

  constructor(seed: number) {
    super();
    this.#random = createSeededRandom(seed);
  }

  override async read(path: string): Promise<Uint8Array | undefined> {
    await this.#pass();
    const bytes = await super.read(path);
    await this.#pass();
    return bytes;
  }

  override async replace(path: string, bytes: Uint8Array): Promise<void> {
    await this.#pass();
    if (this.isFull) throw Object.assign(new Error('ENOSPC: no space left'), { code: 'ENOSPC' });
    await super.replace(path, bytes);
    this.writes += 1;
    await this.#pass();
  }

  async #pass(): Promise<void> {
    for (let turns = this.#random.below(6); turns > 0; turns -= 1) await Promise.resolve();
  }
}

class ClaimsInTest {
  readonly disk: SlowDisk;
  readonly warnings: string[] = [];
  /** Those in the plan. */
  tasks = [1, 2].map(taskId);

  constructor(seed = 1) {
    this.disk = new SlowDisk(seed);
  }

  of(task: number, { nonce = `process of ${task}`, topologyId = 'words-1' } = {}): FileClaims {
    return new FileClaims({
      files: this.disk,
      folder: '/positions',
      component: 'lines',
      task: taskId(task),
      topologyId,
      nonce,
      tasks: () => this.tasks,
      onWarning: (text) => this.warnings.push(text),
    });
  }
}

describe('claims of files', () => {
  it('F1: never have two holders, however their steps interleave', async () => {
    let contested = 0;
    for (let seed = 1; seed <= 300; seed += 1) {
      const claims = new ClaimsInTest(seed);
      const [first, second] = [claims.of(1), claims.of(2)];
      const [mine, others] = await Promise.all([first.acquire(['/a']), second.acquire(['/a'])]);
      assert.ok(mine.length + others.length < 2, `seed ${seed}`);
      if (mine.length + others.length === 0) contested += 1;
      // One of them comes again.
      const again = [...mine, ...others, ...(await first.acquire(['/a']))];
      assert.ok(again.length > 0, `seed ${seed}`);
    }
    assert.ok(contested > 0, 'some of them have met');
  });

  it('F1: what another task holds is not announced', async () => {
    const claims = new ClaimsInTest();
    assert.deepEqual(await claims.of(1).acquire(['/a', '/b']), ['/a', '/b']);
    const second = claims.of(2);
    assert.deepEqual(await second.acquire(['/b', '/c']), ['/c']);
    const { writes } = claims.disk;
    assert.deepEqual(await second.acquire(['/b']), []);
    assert.equal(claims.disk.writes, writes);
  });

  it('are given to the next when they are released', async () => {
    const claims = new ClaimsInTest();
    const first = claims.of(1);
    await first.acquire(['/a', '/b']);
    await first.release(['/b', '/unknown']);
    assert.deepEqual(await claims.of(2).acquire(['/a', '/b']), ['/b']);
    assert.deepEqual(await first.acquire(['/a', '/b']), ['/a']);
  });

  it('F2: count as long as their task is in the plan', async () => {
    const claims = new ClaimsInTest();
    await claims.of(1).acquire(['/a']);
    const second = claims.of(2);
    assert.deepEqual(await second.acquire(['/a']), []);
    claims.tasks = [taskId(2)];
    assert.deepEqual(await second.acquire(['/a']), ['/a']);
  });

  it('F2: of a process that died are free when the next one of its task has begun', async () => {
    const claims = new ClaimsInTest();
    await claims.of(1).acquire(['/a']);
    const second = claims.of(2);
    const next = claims.of(1, { nonce: 'next' });
    await next.announce();
    assert.deepEqual(await second.acquire(['/a']), ['/a']);
    const { writes } = claims.disk;
    await next.announce();
    assert.equal(claims.disk.writes, writes, 'once');
  });

  it('F3, S41: a process that has been replaced is refused', async () => {
    const claims = new ClaimsInTest();
    const first = claims.of(1);
    await first.check();
    await first.acquire(['/a']);
    await first.check();
    await claims.of(1, { nonce: 'next' }).announce();
    await assert.rejects(first.check(), {
      code: 'DUPLICATE_PEER',
      message: "another process of 'lines' (task 1) reads its files now",
    });
    await assert.rejects(first.release(['/a']), { code: 'DUPLICATE_PEER' });
    await assert.rejects(first.acquire(['/b']), { code: 'DUPLICATE_PEER' });
  });

  it('F4: of an earlier submit, and lists that cannot be read, count for nothing', async () => {
    const claims = new ClaimsInTest();
    await claims.of(1, { topologyId: 'words-0' }).acquire(['/a']);
    const second = claims.of(2);
    assert.deepEqual(await second.acquire(['/a']), ['/a']);
    for (const damage of ['', '{"topology":"words-1"}', 'null', '[]', '{"files":[1]}']) {
      claims.disk.put('/positions/lines-task-1.json', damage);
      assert.deepEqual(await second.acquire(['/a', '/b']), ['/a', '/b'], damage);
    }
    assert.deepEqual(await second.unseenTasks(), [1]);
  });

  it('F5: of a task that is alone need no disk, until another one comes', async () => {
    const claims = new ClaimsInTest();
    claims.tasks = [taskId(1)];
    claims.disk.isFull = true;
    const only = claims.of(1);
    assert.deepEqual(await only.acquire(['/a']), ['/a']);
    assert.match(claims.warnings.join(), /cannot be written: ENOSPC/);
    claims.tasks = [1, 2].map(taskId);
    await assert.rejects(only.announce(), { code: 'ENOSPC' });
    claims.disk.isFull = false;
    await only.announce();
    assert.deepEqual(await claims.of(2).acquire(['/a']), []);
  });
});
