import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { GivenUpMessage, LetterToReplay } from '../../../../src/api/component-runtime.ts';
import { componentName, taskId, topologyName } from '../../../../src/base/ids.ts';
import { createSeededRandom } from '../../../../src/base/random.ts';
import { DeadLetters } from '../../../../src/instance/task/dead-letters.ts';
import { DueEvents } from '../../../../src/instance/task/due-events.ts';
import { SentValues } from '../../../../src/instance/task/sent-values.ts';
import { MetricsRegistry } from '../../../../src/metrics/metrics-registry.ts';
import {
  type DeadLetterAnswer,
  type DeadLetterRequest,
  encodeDeadLetterRequest,
  parseDeadLetterAnswer,
  parseDeadLetterFile,
} from '../../../../src/model/dead-letter.ts';
import { Settings } from '../../../../src/model/settings.ts';
import { Kernel } from '../../../../src/simulation/kernel/kernel.ts';
import { SimulatedDisk } from '../../../../src/simulation/kernel/simulated-disk.ts';
import { inThread } from '../../../support/in-simulated-thread.ts';
import { anOutput } from '../../../support/topologies.ts';

const FOLDER = '/work/dead-letters';
const FILE = `${FOLDER}/lines-1.jsonl`;

function givenUp(value: unknown, change: Partial<GivenUpMessage> = {}): GivenUpMessage {
  return {
    streamIndex: 0,
    values: [value],
    messageId: undefined,
    position: '7',
    attempts: 6,
    reason: {
      kind: 'thrown',
      component: 'split',
      task: 3,
      message: 'no JSON',
      stack: 'Error: no JSON\n    at split',
    },
    isEmitted: false,
    ...change,
  };
}

/** One task of `lines` with its letters, on a simulated disk; the test runs what is due. */
class World {
  readonly kernel = new Kernel({ seed: 1 });
  readonly disk = new SimulatedDisk(this.kernel);
  readonly errors: unknown[] = [];
  readonly due = new DueEvents(() => {});
  readonly registry = new MetricsRegistry();
  readonly replayed: LetterToReplay[] = [];
  readonly thread = this.kernel.createThread('task');
  readonly letters: DeadLetters;

  constructor(config: Readonly<Record<string, string>> = {}) {
    this.disk.tree.makeFolders('/work');
    const output = anOutput(['word']);
    const stream = {
      output,
      sentValues: new SentValues(componentName('lines'), output, undefined),
    };
    this.letters = new DeadLetters({
      identity: {
        topologyName: topologyName('words'),
        component: componentName('lines'),
        task: taskId(1),
      },
      settings: new Settings(new Map(Object.entries(config))),
      files: this.disk.filesOf(this.thread),
      workingDirectory: '/work',
      clock: this.thread.clock,
      random: createSeededRandom(1),
      registry: this.registry,
      streams: [stream as never],
      serializer: undefined,
      due: this.due,
      onError: (error) => void this.errors.push(error),
    });
  }

  start(spout: { replay?: (letter: LetterToReplay) => void } = this.replaying): Promise<void> {
    return this.run(() => this.letters.start(spout));
  }

  readonly replaying = {
    replay: (letter: LetterToReplay): void => void this.replayed.push(letter),
  };

  run<T>(body: () => Promise<T>): Promise<T> {
    return inThread(this.kernel, this.thread, body);
  }

  give(message: GivenUpMessage): Promise<void> {
    return this.run(() => this.letters.give(message));
  }

  /** Lets time go by, and calls what is due for the spout meanwhile. */
  async advance(ms: number): Promise<void> {
    await this.run(
      () =>
        new Promise<void>((resolve) => {
          this.thread.clock.after(ms, resolve);
        }),
    );
    await this.due.runRound(
      { call: async (_: unknown, run: () => unknown) => run() } as never,
      () => true,
    );
  }

  get words(): readonly string[] {
    return parseDeadLetterFile(this.disk.tree.read(FILE)).letters.map(({ values = [] }) =>
      Buffer.from(values[0] ?? '', 'base64')
        .toString()
        .slice(1),
    );
  }

  get ids(): readonly string[] {
    return parseDeadLetterFile(this.disk.tree.read(FILE)).letters.map(({ id }) => id);
  }

  /** As a command does. */
  async ask(request: Partial<DeadLetterRequest>): Promise<DeadLetterAnswer | undefined> {
    const whole = {
      id: 'r1',
      action: 'replay' as const,
      letters: 'all' as const,
      wantsAnswer: true,
      ...request,
    };
    this.disk.tree.put(`${FOLDER}/lines-1.r1.request.json`, encodeDeadLetterRequest(whole));
    await this.advance(1_100);
    assert.ok(!this.disk.tree.exists(`${FOLDER}/lines-1.r1.request.json`), 'it was taken up');
    const answer = `${FOLDER}/lines-1.r1.answer.json`;
    if (!this.disk.tree.exists(answer)) return undefined;
    const bytes = this.disk.tree.read(answer);
    this.disk.tree.unlink(answer);
    return parseDeadLetterAnswer(bytes);
  }
}

describe('the dead letters of a task', () => {
  it('are kept, counted by their reason and reported', async () => {
    const world = new World();
    await world.start();
    await world.give(givenUp('lost'));
    const [letter] = parseDeadLetterFile(world.disk.tree.read(FILE)).letters;
    assert.match(letter?.id ?? '', /^1-[0-9a-f]{16}$/);
    assert.deepEqual(
      [letter?.topology, letter?.component, letter?.task, letter?.position, letter?.attempts],
      ['words', 'lines', 1, '7', 6],
    );
    const ageMs = world.thread.clock.wallNow() - (letter?.atMs ?? 0);
    assert.ok(ageMs >= 0 && ageMs < 1_000, `${ageMs} ms old`);
    assert.deepEqual(world.words, ['lost']);
    assert.equal(world.registry.counter('__dead-letter-count/thrown').value, 1);
    const [error] = world.errors as Error[];
    assert.equal(error?.message, 'a message (7) was given up after 6 tries: thrown: no JSON');
    assert.match(error?.stack ?? '', /at split/);
  });

  it('touch no file before there is one', async () => {
    const world = new World();
    await world.start();
    await world.advance(10_000);
    assert.deepEqual(world.disk.tree.paths('/work'), ['/work/']);
  });

  it('are only counted and reported with the setting none, or where they are emitted', async () => {
    const world = new World({ 'topology.dead.letters': 'none' });
    await world.start();
    await world.give(givenUp('lost'));
    assert.equal(world.errors.length, 1);
    assert.equal(world.registry.counter('__dead-letter-count/thrown').value, 1);
    assert.deepEqual(world.disk.tree.paths('/work'), ['/work/']);
    const emitting = new World();
    await emitting.start();
    await emitting.give(givenUp('lost', { isEmitted: true }));
    assert.equal(emitting.registry.counter('__dead-letter-count/thrown').value, 1);
    assert.deepEqual(emitting.disk.tree.paths('/work'), ['/work/']);
  });

  it('that make room for others are counted', async () => {
    const world = new World({ 'topology.dead.letters.file.bytes': String(64 * 1024) });
    await world.start();
    for (let n = 0; n < 20; n += 1) await world.give(givenUp('x'.repeat(5_000)));
    const dropped = world.registry.counter('__dead-letter-dropped-count').value;
    assert.equal(dropped + world.ids.length, 20);
    assert.ok(world.ids.length >= 6, `${world.ids.length} are left`);
    assert.ok(world.errors.some((error) => /have made room/.test((error as Error).message)));
  });

  it('are given to the spout again when a command asks, and removed when it says so', async () => {
    const world = new World();
    await world.start();
    for (const word of ['a', 'b', 'c']) await world.give(givenUp(word));
    const [first, , third] = world.ids;
    assert.deepEqual(await world.ask({ letters: [first ?? '', third ?? '', '1-unknown'] }), {
      count: 2,
      refusal: undefined,
    });
    assert.deepEqual(
      world.replayed.map(({ values }) => values),
      [['a'], ['c']],
    );
    assert.deepEqual(world.words, ['a', 'b', 'c'], 'not processed yet');
    assert.equal((await world.ask({}))?.count, 1, 'those under way are not given twice');
    await world.run(async () => world.replayed[0]?.remove());
    assert.deepEqual(world.words, ['b', 'c']);
    await world.run(async () => world.replayed[0]?.remove());
    world.replayed[1]?.keep();
    assert.deepEqual(world.words, ['b', 'c']);
    assert.equal(
      (await world.ask({ letters: [third ?? ''] }))?.count,
      1,
      'it may be asked for again',
    );
  });

  it('of an earlier process are found by a request', async () => {
    const world = new World();
    await world.start();
    await world.give(givenUp('a'));
    const next = new World();
    next.disk.tree.put(FILE, world.disk.tree.read(FILE));
    await next.start();
    assert.equal((await next.ask({}))?.count, 1);
    assert.deepEqual(
      next.replayed.map(({ values }) => values),
      [['a']],
    );
  });

  it('are given a limited number at a time', async () => {
    const world = new World();
    await world.start();
    await world.run(async () => {
      await Promise.all(Array.from({ length: 250 }, (_, n) => world.letters.give(givenUp(`${n}`))));
    });
    assert.equal((await world.ask({}))?.count, 250);
    assert.equal(world.replayed.length, 100);
    for (let done = 0; done < 250; done += 1) {
      await world.run(async () => world.replayed[done]?.remove());
      await world.due.runRound(
        { call: async (_: unknown, run: () => unknown) => run() } as never,
        () => true,
      );
    }
    assert.deepEqual(world.ids, []);
    assert.equal(new Set(world.replayed.map(({ id }) => id)).size, 250);
  });

  it('of records that could not be read are given without values', async () => {
    const world = new World();
    await world.start();
    const reason = { ...givenUp('').reason, kind: 'unreadable' as const };
    const bytes = new Uint8Array([0xff]);
    await world.give(givenUp(bytes, { streamIndex: undefined, reason }));
    await world.ask({});
    assert.deepEqual(
      world.replayed.map(({ values, position }) => [values, position]),
      [[undefined, '7']],
    );
  });

  it('are removed for good when a command asks', async () => {
    const world = new World();
    await world.start();
    for (const word of ['a', 'b', 'c']) await world.give(givenUp(word));
    const some = await world.ask({ action: 'purge', letters: world.ids.slice(0, 1) });
    assert.deepEqual(some, { count: 1, refusal: undefined });
    assert.deepEqual(world.words, ['b', 'c']);
    assert.equal(await world.ask({ action: 'purge', wantsAnswer: false }), undefined);
    assert.deepEqual(world.words, []);
    assert.equal(world.disk.tree.read(FILE).length, 0);
  });

  it('say why they are not emitted again', async () => {
    const cannot = new World();
    await cannot.start({});
    await cannot.give(givenUp('a'));
    assert.deepEqual(await cannot.ask({}), {
      count: 0,
      refusal: "the spout 'lines' has no method replay",
    });
    const ended = new World();
    await ended.start();
    await ended.give(givenUp('a'));
    ended.letters.end();
    assert.match((await ended.ask({}))?.refusal ?? '', /input of the task has ended/);
    assert.equal((await ended.ask({ action: 'purge' }))?.count, 1);
  });

  it('survive a request that is none', async () => {
    const world = new World();
    await world.start();
    await world.give(givenUp('a'));
    world.disk.tree.put(`${FOLDER}/lines-1.r1.request.json`, new TextEncoder().encode('{'));
    await world.advance(1_100);
    const answer = parseDeadLetterAnswer(world.disk.tree.read(`${FOLDER}/lines-1.r1.answer.json`));
    assert.equal(answer?.refusal, 'the request cannot be read');
    assert.ok(!world.disk.tree.exists(`${FOLDER}/lines-1.r1.request.json`));
  });

  it('wait while the disk cannot be used, and nothing is passed over', async () => {
    const world = new World();
    await world.start();
    const fault = world.disk.faults.outage({ kind: 'failing', below: '/work' });
    let isKept = false;
    await world.run(async () => {
      void world.letters.give(givenUp('a')).then(() => (isKept = true));
    });
    await world.advance(5_000);
    assert.equal(isKept, false);
    assert.ok(world.errors.some((error) => /cannot be used, trying again/.test(String(error))));
    fault.heal();
    await world.advance(10_000);
    assert.equal(isKept, true);
    assert.deepEqual(world.words, ['a']);
    await world.run(() => world.letters.close());
  });
});
