import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { FileSourceOptions } from '../../../src/api/index.ts';
import { createSeededRandom } from '../../../src/base/random.ts';
import {
  FileSourceTasks,
  type FileTask,
  type PlannedTask,
  tasksInOrder,
} from '../../support/file-source-tasks.ts';

/*
  What becomes of the files of a file source when an update changes its tasks (rows S13 to S16 over
  a change of parallelism).
*/

/** Two files of six lines, `a1` to `a6` and `b1` to `b6`, read by task 1 up to `b2`. */
async function oneTask(
  options: FileSourceOptions = {},
): Promise<{ tasks: FileSourceTasks; first: FileTask }> {
  const tasks = new FileSourceTasks(['/a', '/b'], options);
  for (const name of ['a', 'b']) tasks.disk.put(`/${name}`, sixLines(name));
  await tasks.plan(tasksInOrder(1));
  const first = await tasks.open(1);
  await tasks.until(() => first.lines.includes('b2'));
  return { tasks, first };
}

function sixLines(name: string): string {
  return [1, 2, 3, 4, 5, 6].map((number) => `${name}${number}\n`).join('');
}

describe('a file source whose parallelism grows', () => {
  it('H1: gives a file up when what was read of it is committed, and not before', async () => {
    const { tasks, first } = await oneTask();
    await tasks.plan(tasksInOrder(1, 2));
    const second = await tasks.open(2);
    await tasks.rounds(40);
    assert.deepEqual(first.lines.slice(-1), ['b2'], 'H2: it reads no further');
    assert.deepEqual(second.lines, [], 'it waits');
    first.ack('a1', 'a2', 'a3', 'a4', 'a5', 'a6', 'b1');
    await tasks.rounds(40);
    assert.deepEqual(second.lines, [], 'one line is not settled yet');
    first.ack('b2');
    await tasks.rounds(40);
    assert.deepEqual(second.lines, ['b3', 'b4', 'b5', 'b6']);
    assert.equal(first.hasEnded, false, 'H3: the other one may still need it');
    second.ack();
    await tasks.rounds(40, 50);
    assert.ok(first.hasEnded && second.hasEnded);
    assert.equal(tasks.disk.openFiles, 0);
  });

  it('hands over within a few commits, which come without their pause', async () => {
    const { tasks, first } = await oneTask();
    await tasks.plan(tasksInOrder(1, 2));
    const second = await tasks.open(2);
    first.ack();
    const startedAt = tasks.clock.now();
    await tasks.until(() => second.lines.length > 0);
    assert.ok(tasks.clock.now() - startedAt < 500, `${tasks.clock.now() - startedAt} ms`);
  });

  it('S13: emits what fails again before it gives the file up', async () => {
    const { tasks, first } = await oneTask();
    await tasks.plan(tasksInOrder(1, 2));
    const second = await tasks.open(2);
    first.ack('a1', 'a2', 'a3', 'a4', 'a5', 'a6', 'b1');
    first.fail('b2');
    await tasks.rounds(30);
    assert.deepEqual(first.lines.slice(-2), ['b2', 'b2']);
    assert.deepEqual(second.lines, []);
    first.ack('b2');
    await tasks.rounds(40);
    assert.deepEqual(second.lines[0], 'b3');
  });

  it('keeps a file that the plan gives back before it was handed over', async () => {
    const { tasks, first } = await oneTask();
    await tasks.plan(tasksInOrder(1, 2));
    await tasks.rounds(4);
    assert.equal(first.lines.at(-1), 'b2');
    await tasks.plan(tasksInOrder(1));
    await tasks.rounds(12);
    assert.deepEqual(first.lines.slice(6), ['b1', 'b2', 'b3', 'b4', 'b5', 'b6']);
  });

  it('F2: a file of a process that died is free when the next one has another share', async () => {
    const { tasks } = await oneTask();
    tasks.running.delete(1); // It is gone, with what was not committed.
    await tasks.plan(tasksInOrder(1, 2));
    const second = await tasks.open(2);
    await tasks.rounds(40);
    assert.deepEqual(second.lines, []);
    const again = await tasks.open(1);
    await tasks.rounds(40);
    assert.deepEqual(second.lines, ['b1', 'b2', 'b3', 'b4', 'b5', 'b6']);
    assert.deepEqual(again.lines, ['a1', 'a2', 'a3', 'a4', 'a5', 'a6']);
  });

  it('F3, S41: a process whose task another one runs commits nothing more', async () => {
    const { tasks, first } = await oneTask();
    const next = await tasks.open(1);
    first.ack();
    tasks.clock.advance(2_000);
    await first.step();
    assert.match(String(first.collector.errors), /the source cannot be committed/);
    await tasks.until(() => next.lines.length === 12);
    next.ack();
    await tasks.until(() => next.hasEnded);
  });
});

describe('a file source whose parallelism shrinks', () => {
  /** Tasks 1 and 2 with one file each, of which task 1 has processed its own. */
  const twoTasks = async () => {
    const tasks = new FileSourceTasks(['/a', '/b']);
    for (const name of ['a', 'b']) tasks.disk.put(`/${name}`, sixLines(name));
    await tasks.plan(tasksInOrder(1, 2));
    const stays = await tasks.open(1);
    const leaves = await tasks.open(2);
    await tasks.until(() => leaves.lines.length === 4);
    return { tasks, stays, leaves };
  };
  const shrunk: readonly PlannedTask[] = [
    { task: 1, index: 0 },
    { task: 2, index: 1, isRetiring: true },
  ];

  it('H3: leaves nothing behind, though the one that stays had nothing left to read', async () => {
    const { tasks, stays, leaves } = await twoTasks();
    await tasks.rounds(20);
    stays.ack();
    leaves.ack('b1', 'b2', 'b3');
    await tasks.rounds(200);
    assert.equal(stays.hasEnded, false);
    // It dies with b4 to b6 under way.
    tasks.running.delete(2);
    await tasks.plan(tasksInOrder(1));
    await tasks.rounds(40);
    assert.deepEqual(stays.lines.slice(6), ['b4', 'b5', 'b6']);
    stays.ack();
    await tasks.rounds(40, 50);
    assert.equal(stays.hasEnded, true);
  });

  it('H1: takes over from a task that is drained, as soon as that is through', async () => {
    const { tasks, stays, leaves } = await twoTasks();
    leaves.spout.endOfInput();
    await tasks.plan(shrunk);
    await tasks.rounds(40);
    assert.equal(leaves.lines.length, 4);
    assert.ok(!stays.lines.includes('b5'));
    leaves.ack();
    await tasks.rounds(40);
    assert.deepEqual(stays.lines.slice(6), ['b5', 'b6'], 'although that process still runs');
    stays.ack();
    await tasks.rounds(40, 50);
    assert.equal(stays.hasEnded, true);
  });

  it('ends without the others where their folder is another one, and says so', async () => {
    const tasks = new FileSourceTasks(['/a', '/b']);
    for (const name of ['a', 'b']) tasks.disk.put(`/${name}`, sixLines(name));
    await tasks.plan(tasksInOrder(1, 2));
    const only = await tasks.open(1);
    await tasks.rounds(10);
    only.ack();
    await tasks.rounds(100, 500);
    assert.equal(only.hasEnded, false);
    await tasks.rounds(100, 500);
    assert.equal(only.hasEnded, true);
    assert.match(tasks.warnings.join(), /nothing is seen of task 2 in the folder of positions/);
  });
});

describe('a file source whose tasks have a folder each', () => {
  const apart: readonly PlannedTask[] = [
    { task: 1, index: 0 },
    { task: 2, index: 1, container: 2 },
  ];

  it('says which file begins anew elsewhere, and ends by itself', async () => {
    const { tasks, first } = await oneTask({ positions: undefined as never });
    await tasks.plan(apart);
    await tasks.rounds(4);
    const [error, ...others] = first.collector.errors as Error[];
    assert.equal(others.length, 0);
    assert.match(
      error?.message ?? '',
      /^\/b, read up to byte 6, goes to task 2 in container 2, which does not see that/,
    );
    first.ack();
    await tasks.until(() => first.hasEnded);
  });

  it('says nothing within one container, where the folder is one', async () => {
    const { tasks, first } = await oneTask({ positions: undefined as never });
    await tasks.plan(tasksInOrder(1, 2));
    await tasks.rounds(4);
    assert.deepEqual(first.collector.errors, []);
  });
});

describe('a file source that follows', () => {
  it('hands over a file that grows, and ends no task for want of files', async () => {
    const tasks = new FileSourceTasks(['/a', '/b'], { follow: true });
    for (const name of ['a', 'b']) tasks.disk.put(`/${name}`, `${name}1\n`);
    await tasks.plan(tasksInOrder(1, 2, 3));
    const all = [await tasks.open(1), await tasks.open(2), await tasks.open(3)];
    await tasks.rounds(20);
    const [first, second, third] = all;
    assert.ok(first && second && third);
    assert.deepEqual([first.lines, second.lines, third.lines], [['a1'], ['b1'], []]);
    await tasks.plan([
      { task: 1, index: 0, isRetiring: true },
      { task: 2, index: 0 },
      { task: 3, index: 1 },
    ]);
    first.spout.endOfInput();
    tasks.disk.append('/a', 'a2\n');
    tasks.disk.append('/b', 'b2\n');
    for (const task of all) task.ack();
    await tasks.rounds(60);
    assert.deepEqual([first.lines, second.lines, third.lines], [['a1'], ['b1', 'a2'], ['b2']]);
    assert.ok(!second.hasEnded && !third.hasEnded);
  });
});

describe('S13 to S16 over changes of parallelism', () => {
  for (let seed = 1; seed <= 30; seed += 1) {
    it(`every line is processed and no file has two readers, seed ${seed}`, async () => {
      await new RandomLife(seed).run();
    });
  }
});

const FILES = ['/a', '/b', '/c', '/d', '/e'];
const LINES = 30;

/** Tasks that come, go, die and fail lines, until everything has been processed. */
class RandomLife {
  readonly #random;
  readonly #tasks = new FileSourceTasks(FILES);
  readonly #acked = new Set<string>();
  readonly #wanted: readonly string[];
  #planned: readonly PlannedTask[] = [];
  #lastTask = 0;

  constructor(seed: number) {
    this.#random = createSeededRandom(seed);
    this.#wanted = FILES.flatMap((path) =>
      Array.from({ length: LINES }, (_, number) => `${path}${number}`),
    );
    for (const path of FILES) {
      const lines = this.#wanted.filter((line) => line.startsWith(path));
      this.#tasks.disk.put(path, lines.map((line) => `${line}\n`).join(''));
    }
  }

  async run(): Promise<void> {
    await this.#scale(1 + this.#random.below(3));
    for (let round = 0; round < 400; round += 1) {
      await this.#tasks.round(20);
      for (const task of this.#tasks.running.values()) this.#settle(task);
      this.#checkReaders();
      if (this.#random.below(15) === 0) await this.#change();
    }
    this.#planned.forEach(({ task }) => this.#revive(task));
    for (let round = 0; round < 300 && !this.#isOver; round += 1) {
      await this.#tasks.round(50);
      for (const task of this.#tasks.running.values()) this.#settle(task, true);
    }
    assert.deepEqual(
      this.#wanted.filter((line) => !this.#acked.has(line)),
      [],
    );
    assert.equal(this.#isOver, true, 'all inputs end');
  }

  get #isOver(): boolean {
    return [...this.#tasks.running.values()].every(({ hasEnded }) => hasEnded);
  }

  #settle(task: FileTask, always = false): void {
    for (const line of task.pending.keys()) {
      const chance = always ? 0 : this.#random.below(10);
      if (chance > 6) continue;
      if (chance === 6) task.fail(line);
      else {
        task.ack(line);
        this.#acked.add(line);
      }
    }
  }

  /** What two tasks have under way are never lines of one file. */
  #checkReaders(): void {
    const readers = new Map<string, FileTask>();
    for (const task of this.#tasks.running.values()) {
      for (const line of task.pending.keys()) {
        const path = line.slice(0, 2);
        assert.ok((readers.get(path) ?? task) === task, `${path} has two readers`);
        readers.set(path, task);
      }
    }
  }

  async #change(): Promise<void> {
    const alive = [...this.#tasks.running.keys()];
    const victim = alive[this.#random.below(alive.length)];
    if (this.#random.below(3) > 0 || victim === undefined) {
      await this.#scale(1 + this.#random.below(5));
    } else if (!this.#tasks.running.get(victim)?.hasEnded) await this.#tasks.open(victim);
  }

  /** As an update does: the first tasks stay, others retire and leave when they have ended. */
  async #scale(parallelism: number): Promise<void> {
    const stay = this.#planned.slice(0, parallelism);
    const retire = this.#planned.slice(parallelism);
    const added = Array.from({ length: parallelism - stay.length }, () => {
      this.#lastTask += 1;
      return this.#lastTask;
    });
    const target = tasksInOrder(...stay.map(({ task }) => task), ...added);
    await this.#tasks.plan([...target, ...retire.map((one) => ({ ...one, isRetiring: true }))]);
    for (const { task } of retire) this.#tasks.running.get(task)?.spout.endOfInput();
    for (const task of added) await this.#tasks.open(task);
    for (let round = 0; round < 100 && retire.some(({ task }) => this.#isBusy(task)); round += 1) {
      await this.#tasks.round(20);
      for (const task of this.#tasks.running.values()) this.#settle(task, true);
      this.#checkReaders();
    }
    for (const { task } of retire) {
      await this.#tasks.running.get(task)?.spout.close();
      this.#tasks.running.delete(task);
    }
    this.#planned = target;
    await this.#tasks.plan(target);
  }

  #isBusy(task: number): boolean {
    const one = this.#tasks.running.get(task);
    return one !== undefined && (one.pending.size > 0 || one.spout.holdsMessages());
  }

  #revive(task: number): void {
    assert.ok(this.#tasks.running.has(task));
  }
}
