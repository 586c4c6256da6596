import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { BasicBolt } from '../../../../src/api/basic-bolt.ts';
import { Bolt } from '../../../../src/api/bolt.ts';
import { Spout } from '../../../../src/api/spout.ts';
import type { TaskHook } from '../../../../src/api/topology-context.ts';
import type { TopologyContext } from '../../../../src/api/topology-context.ts';
import type { Tuple } from '../../../../src/api/tuple.ts';
import { type LogFields, type Logger, silentLogger } from '../../../../src/base/logger.ts';
import { TaskInTest } from '../../../support/task-in-test.ts';
import { aTuple } from '../../../support/tuple-sets.ts';

type Word = Tuple<{ word: string }>;
const STREAMS = { default: ['word'], unread: ['word'] } as const;

/** Writes down all that it hears. */
function aHook(log: string[]): TaskHook {
  const word = (tuple: { values: readonly unknown[] }) => String(tuple.values[0]);
  return {
    prepare: ({ componentName, taskId }) => void log.push(`prepare ${componentName} ${taskId}`),
    emit: ({ stream, values, task }) => void log.push(`emit ${stream} ${String(values)} ${task}`),
    spoutAck: ({ messageId, task }) => void log.push(`spoutAck ${String(messageId)} ${task}`),
    boltExecute: ({ tuple, task, executeLatencyMs }) =>
      void log.push(`boltExecute ${word(tuple)} ${task} ${executeLatencyMs}`),
    boltAck: ({ tuple, task, processLatencyMs }) =>
      void log.push(`boltAck ${word(tuple)} ${task} ${processLatencyMs}`),
    boltFail: ({ tuple, task, reason, failLatencyMs }) =>
      void log.push(`boltFail ${word(tuple)} ${task} ${String(reason)} ${failLatencyMs}`),
    cleanup: () => void log.push('cleanup'),
  };
}

class Words extends Spout.of({ default: ['word'] }) {
  override nextTuple(): void {
    this.emit(['a'], 'id-1');
    this.endOfInput();
  }
}

class Basic extends BasicBolt.of(STREAMS) {
  on: (word: string) => void | Promise<void> = () => {};

  override execute(tuple: Word): void | Promise<void> {
    this.emit('unread', [tuple.get('word')]);
    return this.on(tuple.get('word'));
  }
}

async function runToEnd(task: TaskInTest, ...words: readonly string[]): Promise<void> {
  for (const word of words) task.feed({ tuples: [aTuple(word)] });
  task.feedEnds();
  await task.drive(task.start());
  await task.drive(task.running.close());
}

describe('the hooks of a task', () => {
  it('hear of what a spout does', async () => {
    const log: string[] = [];
    const task = new TaskInTest(new Words(), {
      component: 'source',
      taskHooks: [() => aHook(log)],
    });
    await task.drive(task.start());
    await task.drive(task.running.close());
    assert.deepEqual(log, ['prepare source 1', 'emit default a 1', 'spoutAck id-1 1', 'cleanup']);
  });

  it('hear of what a BasicBolt does, also later and when it fails', async () => {
    const log: string[] = [];
    const bolt = new Basic();
    const task = new TaskInTest(bolt, { taskHooks: [() => aHook(log)] });
    bolt.on = async (word) => {
      task.clock.advance(5);
      await Promise.resolve();
      if (word === 'bad') throw new RangeError('too far');
    };
    await runToEnd(task, 'good', 'bad');
    assert.deepEqual(log, [
      'prepare middle 3',
      'emit unread good 3',
      'boltExecute good 3 5',
      'boltAck good 3 5',
      'emit unread bad 3',
      'boltExecute bad 3 5',
      'boltFail bad 3 RangeError: too far 5',
      'cleanup',
    ]);
    assert.equal(task.exceptions.length, 1);
  });

  it('hear of what a Bolt acks and fails, whenever it does', async () => {
    const log: string[] = [];
    class Later extends Bolt.of(STREAMS) {
      #first: Word | undefined;
      override execute(tuple: Word): void {
        if (this.#first === undefined) {
          this.#first = tuple;
          return;
        }
        task.clock.advance(20);
        this.ack(this.#first);
        this.fail(tuple, 'no match');
      }
    }
    const task = new TaskInTest(new Later(), { taskHooks: [() => aHook(log)] });
    await runToEnd(task, 'a', 'b');
    assert.deepEqual(log, [
      'prepare middle 3',
      'boltExecute a 3 0',
      'boltAck a 3 20',
      'boltFail b 3 no match 20',
      'boltExecute b 3 20',
      'cleanup',
    ]);
  });

  it('may be added by the component', async () => {
    const log: string[] = [];
    class Own extends Basic {
      override prepare(context: TopologyContext): void {
        context.addHook(aHook(log));
      }
    }
    await runToEnd(new TaskInTest(new Own()), 'a');
    assert.deepEqual(log, [
      'prepare middle 3',
      'emit unread a 3',
      'boltExecute a 3 0',
      'boltAck a 3 0',
      'cleanup',
    ]);
  });

  it('are told nothing of ticks', async () => {
    const log: string[] = [];
    class Ticked extends Bolt.of(STREAMS) {
      override execute(): void {}
      override tick(tick: Tuple<{ intervalMs: number }>): void {
        this.ack(tick);
        log.push('tick');
      }
    }
    const task = new TaskInTest(new Ticked(), {
      config: { 'topology.tick.tuple.freq.ms': '10' },
      taskHooks: [() => aHook(log)],
    });
    void task.start();
    await task.turn();
    task.clock.advance(10);
    await task.turn();
    assert.deepEqual(log, ['prepare middle 3', 'tick']);
    task.running.stop();
  });

  it('fail the call that they hear of', async () => {
    const bolt = new Basic();
    const taskHooks = [
      () => ({
        emit(): void {
          throw new RangeError('too far');
        },
      }),
    ];
    const task = new TaskInTest(bolt, { taskHooks });
    await runToEnd(task, 'a');
    assert.match(task.exceptions.join(), /execute of 'middle' \(task 3\) failed .*too far/);
  });
});

it('topology.debug logs every emit', async () => {
  const lines: (readonly [string, LogFields | undefined])[] = [];
  const logger: Logger = {
    ...silentLogger,
    info: (message, fields) => void lines.push([message, fields]),
  };
  const config = { 'topology.debug': 'true' };
  await runToEnd(new TaskInTest(new Basic(), { config, logger }), 'a', 'b');
  assert.deepEqual(
    lines.filter(([message]) => message === 'emitted').map(([, fields]) => fields),
    [
      { stream: 'unread', values: "[ 'a' ]" },
      { stream: 'unread', values: "[ 'b' ]" },
    ],
  );
  lines.length = 0;
  await runToEnd(new TaskInTest(new Basic(), { logger }), 'a');
  assert.ok(lines.every(([message]) => message !== 'emitted'));
});
