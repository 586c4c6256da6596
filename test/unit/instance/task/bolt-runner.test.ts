import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { BasicBolt } from '../../../../src/api/basic-bolt.ts';
import { Bolt } from '../../../../src/api/bolt.ts';
import type { Tuple } from '../../../../src/api/tuple.ts';
import { LARGE_SET_MARKER } from '../../../../src/instance/ring-markers.ts';
import { TaskInTest } from '../../../support/task-in-test.ts';
import { aTuple, tupleSetBytes } from '../../../support/tuple-sets.ts';

type Word = Tuple<{ word: string }>;

/** Writes down its calls; `on` says what to do with a word. */
class Scripted extends BasicBolt.of({ default: ['word'], unread: ['word'] }) {
  readonly calls: string[] = [];
  on: (word: string, self: this) => void | Promise<void> = (word, self) => self.emit([word]);
  atEnd: () => void | Promise<void> = () => {};

  override execute(tuple: Word): void | Promise<void> {
    this.calls.push(tuple.get('word'));
    return this.on(tuple.get('word'), this);
  }
  override finish(): void | Promise<void> {
    this.calls.push('finish');
    return this.atEnd();
  }
  override cleanup(): void {
    this.calls.push('cleanup');
  }
}

class Strict extends Bolt.of({ default: ['word'], unread: ['word'] }) {
  override execute(tuple: Word): void | Promise<void> {
    assert.fail(`not ${tuple.get('word')}`);
  }
}

function aTask(on?: Scripted['on']) {
  const bolt = new Scripted();
  if (on !== undefined) bolt.on = on;
  return { bolt, task: new TaskInTest(bolt) };
}

const tuples = (...words: string[]) => ({ tuples: words.map((word) => aTuple(word)) });

describe('a bolt', () => {
  it('X3: executes all tuples in order, finishes once, and then its end follows', async () => {
    const { task, bolt } = aTask();
    bolt.atEnd = () => bolt.emit(['last']);
    task.feed(tuples('a', 'b'));
    task.feed({ task: 1, endOfInput: true });
    task.feed({ task: 1, endOfInput: true });
    task.feed({ task: 2, ...tuples('c') });
    task.feed({ task: 2, endOfInput: true });
    assert.equal(await task.drive(task.start()), 'ended');
    assert.deepEqual(bolt.calls, ['a', 'b', 'c', 'finish']);
    assert.deepEqual(task.takeFrames(), ['default: a b c last', 'marker 2']);
  });

  it('X3: goes on while one upstream task has not ended', async () => {
    const { task, bolt } = aTask();
    task.feed({ task: 1, endOfInput: true });
    void task.start();
    await task.turn();
    assert.deepEqual(bolt.calls, []);
    assert.deepEqual(task.takeFrames(), []);
    task.running.stop();
  });

  it('X3: its end waits for its asynchronous work', async () => {
    const gate = Promise.withResolvers<void>();
    const finishing = Promise.withResolvers<void>();
    const { task, bolt } = aTask(async (word, self) => {
      await gate.promise;
      self.emit([word]);
    });
    bolt.atEnd = async () => {
      await finishing.promise;
      bolt.emit(['last']);
    };
    task.feed(tuples('a'));
    task.feedEnds();
    const done = task.start();
    await task.turn();
    assert.deepEqual(bolt.calls, ['a']);
    gate.resolve();
    await task.turn();
    assert.deepEqual(bolt.calls, ['a', 'finish']);
    assert.deepEqual(task.takeFrames(), ['default: a']);
    finishing.resolve();
    await task.drive(done);
    assert.deepEqual(task.takeFrames(), ['default: last', 'marker 2']);
  });

  it('X1: executes one tuple at a time', async () => {
    let isRunning = false;
    const { task, bolt } = aTask(async (word, self) => {
      assert.ok(!isRunning);
      isRunning = true;
      for (let turns = 0; turns < 3; turns += 1) await Promise.resolve();
      self.emit([word]);
      isRunning = false;
    });
    task.feed(tuples('a', 'b', 'c'));
    task.feed({ task: 2, ...tuples('d') });
    task.feedEnds();
    await task.drive(task.start());
    assert.deepEqual(bolt.calls, ['a', 'b', 'c', 'd', 'finish']);
    assert.equal(
      task
        .takeFrames()
        .flatMap((frame) => frame.split(' ').slice(1))
        .join(' '),
      'a b c d 2',
    );
  });

  it('X2: credits a set when its last tuple is done', async () => {
    const gate = Promise.withResolvers<void>();
    const { task } = aTask(() => gate.promise);
    const [first, second] = [tuples('a'), tuples('b')];
    const bytes = (set: typeof first) =>
      tupleSetBytes({ task: 1, component: 'source', ...set }).length;
    task.feed(first);
    task.feed(second);
    void task.start();
    await task.turn();
    assert.equal(task.gateway.status.takeConsumed(), 0);
    gate.resolve();
    await task.turn();
    assert.equal(task.gateway.status.takeConsumed(), bytes(first) + bytes(second));
    task.running.stop();
  });

  it('X4: what it has emitted leaves when there is nothing to read', async () => {
    const { task } = aTask();
    task.feed(tuples('a', 'b'));
    void task.start();
    await task.turn();
    assert.deepEqual(task.takeFrames(), ['default: a b']);
    task.running.stop();
  });

  it('X4: what it has emitted leaves at the end of a time slice, however much comes', async () => {
    const { task } = aTask((word, self) => {
      task.clock.advance(10);
      self.emit([word]);
    });
    task.feed(tuples('a', 'b', 'c'));
    task.feedEnds();
    await task.drive(task.start());
    assert.deepEqual(task.takeFrames(), ['default: a', 'default: b', 'default: c', 'marker 2']);
  });

  it('X4: what it emits before and while it waits leaves at once', async () => {
    const gate = Promise.withResolvers<void>();
    const { task, bolt } = aTask((word, self) => {
      self.emit([word]);
      return gate.promise;
    });
    task.feed(tuples('a'));
    void task.start();
    await task.turn();
    assert.deepEqual(task.takeFrames(), ['default: a']);
    bolt.emit(['from a timer']);
    await task.turn();
    assert.deepEqual(task.takeFrames(), ['default: from a timer']);
    gate.resolve();
    task.running.stop();
  });

  it('X5: leaves a set that it has begun when it is told to stop', async () => {
    const { task, bolt } = aTask(() => {
      task.clock.advance(10);
    });
    task.feed(tuples(...Array.from({ length: 100 }, (_, index) => `${index}`)));
    const done = task.start();
    await task.turn();
    task.running.stop();
    const before = bolt.calls.length;
    assert.equal(await task.drive(done), 'stopped');
    assert.ok(before > 0 && bolt.calls.length <= before + 1, `${before} of 100`);
    await task.drive(task.running.close());
    assert.equal(bolt.calls.at(-1), 'cleanup');
  });

  it('cleans up when its last call is over', async () => {
    const gate = Promise.withResolvers<void>();
    const { task, bolt } = aTask(() => gate.promise);
    task.feed(tuples('a'));
    void task.start();
    await task.turn();
    task.running.stop();
    const closed = task.running.close();
    await task.turn();
    assert.deepEqual(bolt.calls, ['a']);
    gate.resolve();
    await task.drive(closed);
    assert.deepEqual(bolt.calls, ['a', 'cleanup']);
  });

  it('R15: reads a set that came by message where its marker stands', async () => {
    const { task, bolt } = aTask();
    task.feed(tuples('a'));
    task.gateway.dataIn.writeMarker(LARGE_SET_MARKER);
    task.feed(tuples('c'));
    task.feedEnds();
    const done = task.start();
    await task.turn();
    assert.deepEqual(bolt.calls, ['a']);
    const set = { task: 1, component: 'source', ...tuples('b') };
    task.ports.largeSets.put(tupleSetBytes(set));
    await task.drive(done);
    assert.deepEqual(bolt.calls, ['a', 'b', 'c', 'finish']);
    const all = ['a', 'b', 'c'].reduce(
      (sum, word) => sum + tupleSetBytes({ task: 1, component: 'source', ...tuples(word) }).length,
      0,
    );
    assert.equal(task.gateway.status.takeConsumed(), all);
  });

  it('R15: reads a set that came before there was a component', async () => {
    const { task, bolt } = aTask();
    task.ports.largeSets.put(tupleSetBytes({ task: 1, component: 'source', ...tuples('a') }));
    task.gateway.dataIn.writeMarker(LARGE_SET_MARKER);
    task.feedEnds();
    await task.drive(task.start());
    assert.deepEqual(bolt.calls, ['a', 'finish']);
  });

  it('K1: emits to a stream that nobody reads go no further', async () => {
    const { task } = aTask((word, self) => self.emit('unread', [word]));
    task.feed(tuples('a'));
    task.feedEnds();
    await task.drive(task.start());
    assert.deepEqual(task.takeFrames(), ['marker 2']);
  });

  it('K3: what it emits after its end is lost, and reported once', async () => {
    const { task, bolt } = aTask();
    task.feedEnds();
    await task.drive(task.start());
    bolt.emit(['late']);
    bolt.emit(['later']);
    await task.turn();
    assert.deepEqual(task.takeFrames(), ['marker 2']);
    assert.equal(task.exceptions.length, 1);
    assert.match(task.exceptions[0] ?? '', /emitted after the end of the task, and is lost/);
  });
});

describe('a BasicBolt that fails', () => {
  for (const [how, fail] of [
    ['throws', () => assert.fail('not that')],
    ['rejects', () => Promise.reject(new Error('not that'))],
  ] as const) {
    it(`goes on with the next tuple when it ${how}`, async () => {
      const { task, bolt } = aTask((word, self) => (word === 'b' ? fail() : self.emit([word])));
      task.feed(tuples('a', 'b', 'c'));
      task.feedEnds();
      await task.drive(task.start());
      assert.deepEqual(bolt.calls, ['a', 'b', 'c', 'finish']);
      assert.deepEqual(task.exceptions, [
        "execute of 'middle' (task 3) failed on the tuple [ 'b' ] of source/default (task 1): " +
          'not that',
      ]);
    });
  }

  it('goes on after a value that cannot be sent', async () => {
    const { task } = aTask((word, self) => self.emit([word === 'b' ? () => word : word]));
    task.feed(tuples('a', 'b', 'c'));
    task.feedEnds();
    await task.drive(task.start());
    assert.deepEqual(task.takeFrames(), ['default: a c', 'marker 2']);
    assert.equal(task.exceptions.length, 1);
  });

  it('ends its instance when it is finish that fails', async () => {
    const { task, bolt } = aTask();
    bolt.atEnd = () => assert.fail('disk is full');
    task.feedEnds();
    await assert.rejects(task.drive(task.start()), {
      message: "finish of 'middle' (task 3) failed: disk is full",
    });
  });
});

describe('a Bolt that fails', () => {
  it('ends its instance', async () => {
    const task = new TaskInTest(new Strict());
    task.feed(tuples('a', 'b'));
    await assert.rejects(task.drive(task.start()), {
      code: 'COMPONENT_FAILED',
      message:
        "execute of 'middle' (task 3) failed on the tuple [ 'a' ] of source/default (task 1): " +
        'not a',
    });
  });
});
