import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { CustomGrouping, GroupedStream } from '../../../../src/api/custom-grouping.ts';
import { Spout } from '../../../../src/api/spout.ts';
import { componentName, epoch, streamName } from '../../../../src/base/ids.ts';
import { PlanIndex } from '../../../../src/model/plan-index.ts';
import { decodeValue } from '../../../../src/wire/value-reader.ts';
import { aPlanOf } from '../../../support/planned-tasks.ts';
import { TaskInTest } from '../../../support/task-in-test.ts';
import { aBolt, anInput, anOutput, aSpout, aTopology } from '../../../support/topologies.ts';
import { readTupleSet } from '../../../support/tuple-sets.ts';

const COMPONENTS = [
  aSpout('source', { outputs: ['default', 'told', 'mixed'].map((s) => anOutput(['word'], s)) }),
  aBolt('chosen', [
    anInput('source', { kind: 'custom' }),
    anInput('source', { kind: 'custom' }, 'mixed'),
  ]),
  aBolt('other', [
    anInput('source', { kind: 'custom' }, 'mixed'),
    anInput('source', { kind: 'direct' }, 'told'),
  ]),
];

/** source is task 1, chosen are 2 and 3, other 4 and 5, and so on in turn. */
function aPlan(readers = 2) {
  const tasks = ['chosen', 'other'].flatMap((name) =>
    Array.from({ length: readers }, () => [name, 1] as const),
  );
  return aPlanOf(aTopology(COMPONENTS), ['source', 1], ...tasks);
}

class Source extends Spout.of({ default: ['word'], told: ['word'], mixed: ['word'] }) {
  override nextTuple(): void {}
}

/** Chooses what the word lists: `0 1` the first and the second of its tasks. */
class ByWord implements CustomGrouping {
  readonly prepared: GroupedStream[] = [];

  prepare(_context: unknown, stream: GroupedStream): void {
    this.prepared.push(stream);
  }

  chooseTasks([word]: readonly unknown[]): readonly number[] {
    const tasks = this.prepared.at(-1)?.targetTasks ?? [];
    const indexes = String(word).split(' ').filter(Boolean).map(Number);
    return indexes.map((index) => tasks[index] ?? index);
  }
}

async function aTask() {
  const source = new Source();
  const groupings: ByWord[] = [];
  const uses: readonly (readonly [stream: string, bolt: string])[] = [
    ['default', 'chosen'],
    ['mixed', 'chosen'],
    ['mixed', 'other'],
  ];
  const task = new TaskInTest(source, {
    component: 'source',
    plan: aPlan(),
    customGroupings: uses.map(([stream, bolt]) => ({
      component: componentName('source'),
      stream: streamName(stream),
      bolt: componentName(bolt),
      make: () => {
        const grouping = new ByWord();
        groupings.push(grouping);
        return grouping;
      },
    })),
  });
  await task.running.open();
  return { source, task, groupings };
}

/** `word → tasks` for each tuple that has been emitted. */
function destinations({ gateway }: TaskInTest): string[] {
  const found: string[] = [];
  while (gateway.dataOut.next()) {
    const { bytes, start, end } = gateway.dataOut;
    for (const { values, destTaskIds } of readTupleSet(bytes.subarray(start, end)).data?.tuples ??
      []) {
      const [word = new Uint8Array(0)] = values;
      found.push(`${String(decodeValue(word, 0, word.length))} → ${destTaskIds.join(' ')}`);
    }
    gateway.dataOut.release();
  }
  return found;
}

describe('tasks that the emitter chooses', () => {
  it('a custom grouping names any number of the tasks of its bolt', async () => {
    const { source, task } = await aTask();
    for (const word of ['0', '1 0', '']) source.emit({ word });
    await task.turn();
    assert.deepEqual(destinations(task), ['0 → 2', '1 0 → 3 2', ' → ']);
  });

  it('each bolt that reads a stream by a custom grouping has one of its own', async () => {
    const { source, task, groupings } = await aTask();
    assert.deepEqual(
      groupings.map(({ prepared }) => prepared),
      [
        [{ component: 'source', stream: 'default', targetTasks: [2, 3] }],
        [{ component: 'source', stream: 'mixed', targetTasks: [2, 3] }],
        [{ component: 'source', stream: 'mixed', targetTasks: [4, 5] }],
      ],
    );
    source.emit('mixed', ['1']);
    await task.turn();
    assert.deepEqual(destinations(task), ['1 → 3 5']);
  });

  it('a custom grouping hears of new tasks, and only then', async () => {
    const { source, task, groupings } = await aTask();
    const plan = aPlan(3);
    const topology = { ...plan.topology, config: new Map<string, string>() };
    task.running.handlePlan(new PlanIndex({ ...plan, topology, epoch: epoch(2) }));
    task.running.handlePlan(new PlanIndex({ ...plan, topology, epoch: epoch(3) }));
    void task.running.run(true);
    await task.turn();
    assert.deepEqual(
      groupings[0]?.prepared.map(({ targetTasks }) => targetTasks),
      [
        [2, 3],
        [2, 3, 4],
      ],
    );
    source.emit({ word: '2' });
    await task.turn();
    assert.deepEqual(destinations(task), ['2 → 4']);
    task.running.stop();
  });

  it('T1: refuses a choice that is no task of the bolt', async () => {
    const { source, task, groupings } = await aTask();
    assert.throws(() => source.emit({ word: '7' }), {
      code: 'INVALID_ARGUMENT',
      message:
        "stream 'default' of 'source': the custom grouping of 'chosen' chose task 7; its tasks " +
        'are 2, 3',
    });
    const [grouping] = groupings;
    assert.ok(grouping);
    Object.assign(grouping, { chooseTasks: () => 2 });
    assert.throws(() => source.emit({ word: '0' }), /has to return a list of tasks, not 2$/);
    await task.turn();
    assert.deepEqual(destinations(task), []);
  });

  it('emitDirect names one task of a bolt that reads directly', async () => {
    const { source, task } = await aTask();
    source.emitDirect(5, 'told', { word: 'a' });
    source.emitDirect(4, 'told', ['b'], 'id');
    await task.turn();
    assert.deepEqual(destinations(task), ['a → 5', 'b → 4']);
  });

  it('T1: emitDirect is refused for a task that does not read the stream directly', async () => {
    const { source, task } = await aTask();
    const refusals = [
      [() => source.emitDirect(3, 'told', ['a']), /is read not by task 3 by direct grouping, but/],
      [() => source.emitDirect(3, ['a']), /is read by no task by direct grouping$/],
      [() => source.emit('told', ['a']), /is read by a direct grouping: use emitDirect/],
    ] as const;
    for (const [call, message] of refusals) {
      assert.throws(call, { code: 'INVALID_ARGUMENT', message });
    }
    await task.turn();
    assert.deepEqual(destinations(task), []);
  });

  it('T2: emitDirect may name what any plan so far has shown, once it is there', async () => {
    const { source, task } = await aTask();
    const plan = aPlan(3);
    const given = (number: number, gone: readonly number[]): PlanIndex => {
      const topology = { ...plan.topology, config: new Map<string, string>() };
      const instances = plan.instances.filter((one) => !gone.includes(one.task));
      return new PlanIndex({ ...plan, topology, instances, epoch: epoch(number) });
    };
    assert.throws(() => source.emitDirect(7, 'told', ['a']), { code: 'INVALID_ARGUMENT' });
    task.running.handlePlan(given(2, []));
    source.emitDirect(7, 'told', ['a']);
    task.running.handlePlan(given(3, [7]));
    source.emitDirect(7, 'told', ['b']);
    assert.throws(() => source.emitDirect(8, 'told', ['c']), {
      message: /not by task 8 by direct grouping, but 5, 6$/,
    });
    await task.turn();
    assert.deepEqual(destinations(task), ['a → 7', 'b → 7']);
  });

  it('emitDirect needs a direct grouping', async () => {
    const source = new Source();
    const task = new TaskInTest(source, { component: 'source' });
    await task.running.open();
    assert.throws(() => source.emitDirect(3, ['a']), {
      code: 'INVALID_ARGUMENT',
      message:
        "stream 'default' of 'source' is not read by direct grouping: use emit, or wire a bolt " +
        'to it with directGrouping',
    });
  });

  it('a tuple that is too large for a set names its tasks, too', async () => {
    const { source, task } = await aTask();
    const word = 'x'.repeat(100_000);
    source.emitDirect(5, 'told', [word]);
    await task.turn();
    assert.deepEqual(destinations(task), [`${word} → 5`]);
  });
});
