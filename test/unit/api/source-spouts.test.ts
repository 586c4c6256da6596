import assert from 'node:assert/strict';
import { PassThrough, Readable } from 'node:stream';
import { ReadableStream } from 'node:stream/web';
import { describe, it } from 'node:test';
import { fields, topology } from '../../../src/api/index.ts';
import {
  fromAsyncIterable,
  fromReadable,
  fromReadableStream,
  type SourceStart,
} from '../../../src/api/source-spouts.ts';
import { changedPlan, grown } from '../../support/changed-plans.ts';
import { TaskInTest } from '../../support/task-in-test.ts';

type Factory = () => ConstructorParameters<typeof TaskInTest>[0];

const SMALL_RING = { 'heron.instance.queue.bytes': '65536' };

function aTask(make: Factory, config: Readonly<Record<string, string>> = {}) {
  // A wait inside emit would never end: only the test reads what is emitted.
  const roomWait = () => ({ wait: () => false });
  const task = new TaskInTest(make(), { component: 'source', config, roomWait });
  /** What has been emitted, without the frames that it came in. */
  const take = (): string[] =>
    task.takeFrames().flatMap((frame) => frame.replace(/^default: /, '').split(' '));
  const end = async (): Promise<void> => {
    task.running.stop();
    await task.drive(task.running.close());
  };
  return { task, take, end };
}

async function* letters(log: string[], count = 3, onPull = () => {}): AsyncGenerator<string> {
  try {
    for (let index = 0; index < count; index += 1) {
      log.push(`pull ${index}`);
      onPull();
      yield String.fromCharCode(97 + (index % 26));
    }
  } finally {
    log.push('finally');
  }
}

describe('a spout of an async iterable', () => {
  it('emits all items, and its end is the end of input', async () => {
    const log: string[] = [];
    const { task, take } = aTask(fromAsyncIterable(() => letters(log)));
    assert.equal(await task.drive(task.start()), 'ended');
    assert.deepEqual(take(), ['a', 'b', 'c', 'marker', '2']);
    assert.deepEqual(log, ['pull 0', 'pull 1', 'pull 2', 'finally']);
    await task.drive(task.running.close());
    assert.equal(task.clock.pendingTimers, 0);
  });

  it('is told of an update, and its source goes on', async () => {
    const gate = Promise.withResolvers<string>();
    const seen: number[] = [];
    const { task, take } = aTask(
      fromAsyncIterable(
        async function* () {
          yield 'a';
          yield await gate.promise;
        },
        {
          update: async ({ parallelism }) => {
            await Promise.resolve();
            seen.push(parallelism);
          },
        },
      ),
    );
    const run = task.start();
    await task.turn();
    task.running.handlePlan(grown(changedPlan(2), 'source'));
    await task.turn();
    assert.deepEqual(seen, [3]);
    gate.resolve('b');
    assert.equal(await task.drive(run), 'ended');
    assert.deepEqual(take(), ['a', 'b', 'marker', '2']);
  });

  it('emits the items of a plain iterable', async () => {
    const { task, take } = aTask(fromAsyncIterable(() => ['a', 'b']));
    assert.equal(await task.drive(task.start()), 'ended');
    assert.deepEqual(take(), ['a', 'b', 'marker', '2']);
  });

  it('O11: asks for nothing while there is no room', async () => {
    let pulled = 0;
    const word = 'x'.repeat(1_000);
    const endless = {
      [Symbol.asyncIterator]: () => ({
        next: () => {
          pulled += 1;
          return Promise.resolve({ done: false as const, value: word });
        },
      }),
    };
    const { task, take, end } = aTask(
      fromAsyncIterable(() => endless),
      SMALL_RING,
    );
    void task.start();
    for (let turns = 0; turns < 20; turns += 1) await task.turn();
    const first = pulled;
    assert.ok(first > 10 && first < 100, `${first} of 64 KiB`);
    for (let turns = 0; turns < 20; turns += 1) await task.turn();
    assert.equal(pulled, first);
    take();
    for (let turns = 0; turns < 20; turns += 1) await task.turn();
    assert.ok(pulled > first);
    task.gateway.closeOutput();
    await end();
  });

  it('O11: is released when the task is stopped', async () => {
    const log: string[] = [];
    // Time slices have to end, so that the test gets its turn.
    const onPull = (): void => task.clock.advance(5);
    const { task, end } = aTask(fromAsyncIterable(() => letters(log, 1e9, onPull)));
    const done = task.start();
    await task.turn();
    task.running.stop();
    assert.equal(await task.drive(done), 'stopped');
    assert.equal(log.includes('finally'), false);
    await end();
    assert.equal(log.at(-1), 'finally');
    assert.equal(task.clock.pendingTimers, 0);
  });

  it('O11: is released while it waits for something, when it heeds the signal', async () => {
    const log: string[] = [];
    async function* waiting({ signal }: SourceStart): AsyncGenerator<string> {
      try {
        yield 'a';
        await new Promise((_, reject) => {
          signal.addEventListener('abort', () => reject(new Error('aborted')));
        });
      } finally {
        log.push('finally');
      }
    }
    const { task, take, end } = aTask(fromAsyncIterable(waiting));
    const done = task.start();
    await task.turn();
    assert.deepEqual(take(), ['a']);
    task.running.stop();
    assert.equal(await task.drive(done), 'stopped', 'nothing waits for the source');
    await end();
    assert.deepEqual(log, ['finally']);
  });

  it('the end does not wait for a source that does not let go', async () => {
    const never = { [Symbol.asyncIterator]: () => ({ next: () => new Promise<never>(() => {}) }) };
    const stuck = {
      [Symbol.asyncIterator]: () => ({
        ...never[Symbol.asyncIterator](),
        return: () => new Promise<never>(() => {}),
      }),
    };
    const { task } = aTask(fromAsyncIterable<string>(() => stuck));
    void task.start();
    await task.turn();
    task.running.stop();
    const closed = task.running.close();
    await task.turn();
    task.clock.advance(1_000);
    await task.drive(closed);
  });

  it('an item that comes late is emitted at once', async () => {
    const item = Promise.withResolvers<string>();
    async function* slow(): AsyncGenerator<string> {
      yield await item.promise;
    }
    const { task, take } = aTask(fromAsyncIterable(slow));
    const done = task.start();
    for (let turns = 0; turns < 10; turns += 1) {
      await task.turn();
      task.clock.advance(100);
    }
    assert.deepEqual(take(), []);
    item.resolve('a');
    assert.equal(await task.drive(done), 'ended');
    assert.deepEqual(take(), ['a', 'marker', '2']);
  });

  it('an error of the source is an error of the spout', async () => {
    async function* failing(): AsyncGenerator<string> {
      yield 'a';
      throw new RangeError('too far');
    }
    const { task, take } = aTask(fromAsyncIterable(failing));
    await assert.rejects(task.drive(task.start()), {
      code: 'COMPONENT_FAILED',
      message: "nextTuple of 'source' (task 1) failed: too far",
    });
    assert.deepEqual(take(), ['a']);
  });

  for (const [whenDeactivated, opened] of [
    ['hold', 1],
    ['release', 2],
  ] as const) {
    it(`${whenDeactivated}s its source while the topology is paused`, async () => {
      const log: string[] = [];
      let starts = 0;
      async function* numbers(): AsyncGenerator<string> {
        starts += 1;
        try {
          for (let n = 0; ; n += 1) {
            await gate.promise;
            yield `${starts}.${n}`;
          }
        } finally {
          log.push('finally');
        }
      }
      let gate = Promise.withResolvers<void>();
      const next = async (): Promise<void> => {
        const { resolve } = gate;
        gate = Promise.withResolvers<void>();
        resolve();
        await task.turn();
      };
      const { task, take, end } = aTask(fromAsyncIterable(numbers, { whenDeactivated }));
      void task.start();
      await task.turn();
      await next();
      assert.deepEqual(take(), ['1.0']);
      task.running.setActive(false);
      await next(); // The source is asked already.
      assert.deepEqual(take(), []);
      task.running.setActive(true);
      await task.turn();
      await next();
      assert.equal(starts, opened);
      assert.equal(log.length, opened - 1);
      gate.resolve();
      await end();
    });
  }

  it('emits tuples where it has fields, typed as they are', async () => {
    const pairs = fields<{ word: string; n: number }>()('word', 'n');
    const { task, take } = aTask(
      fromAsyncIterable(
        function* () {
          yield { n: 1, word: 'a' };
          yield ['b', 2] as const;
        },
        { fields: pairs },
      ),
    );
    // This plan's `source` has one field: it is the declaration of the spout that counts here.
    assert.equal(await task.drive(task.start()), 'ended');
    assert.deepEqual(take(), ['a', 'b', 'marker', '2']);
  });

  it('declares its streams', () => {
    const { topology: declared } = topology('sources', (builder) => {
      builder.setSpout(
        'values',
        fromAsyncIterable(() => ['a']),
      );
      builder.setSpout(
        'tuples',
        fromAsyncIterable(() => [['a', 1] as const], { fields: ['word', 'n'] }),
      );
    }).build();
    assert.deepEqual(
      declared.components.map(({ outputs }) => outputs),
      [[{ stream: 'default', fields: ['value'] }], [{ stream: 'default', fields: ['word', 'n'] }]],
    );
  });
});

describe('a spout of a Node stream', () => {
  it('emits its objects, and its end is the end of input', async () => {
    const { task, take } = aTask(fromReadable(() => Readable.from(['a', 'b'])));
    assert.equal(await task.drive(task.start()), 'ended');
    assert.deepEqual(take(), ['a', 'b', 'marker', '2']);
  });

  it('O11: destroys it when the task is stopped, also while it waits', async () => {
    const stream = new PassThrough({ objectMode: true });
    stream.write('a');
    const { task, take, end } = aTask(fromReadable(() => stream));
    const done = task.start();
    for (let turns = 0; turns < 5; turns += 1) await task.turn();
    assert.deepEqual(take(), ['a']);
    task.running.stop();
    await task.drive(done);
    assert.equal(stream.destroyed, false);
    await end();
    assert.equal(stream.destroyed, true);
  });

  it('an error of the stream is an error of the spout', async () => {
    const stream = new PassThrough();
    const { task } = aTask(fromReadable(() => stream));
    const failed = assert.rejects(task.drive(task.start()), { code: 'COMPONENT_FAILED' });
    stream.destroy(new RangeError('too far'));
    await failed;
  });
});

describe('a spout of a web stream', () => {
  it('emits its chunks, and its end is the end of input', async () => {
    const { task, take } = aTask(fromReadableStream(() => ReadableStream.from(['a', 'b'])));
    assert.equal(await task.drive(task.start()), 'ended');
    assert.deepEqual(take(), ['a', 'b', 'marker', '2']);
  });

  it('O11: cancels it when the task is stopped, also while it waits', async () => {
    let cancelled = false;
    const open = () =>
      new ReadableStream<string>({
        start: (controller) => controller.enqueue('a'),
        cancel: () => void (cancelled = true),
      });
    const { task, take, end } = aTask(fromReadableStream(open));
    const done = task.start();
    for (let turns = 0; turns < 3; turns += 1) await task.turn();
    assert.deepEqual(take(), ['a']);
    task.running.stop();
    await task.drive(done);
    await end();
    assert.equal(cancelled, true);
  });
});
