import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { taskId } from '../../../src/base/ids.ts';
import { createSeededRandom } from '../../../src/base/random.ts';
import type { Component, Grouping } from '../../../src/model/logical-topology.ts';
import { PlanIndex } from '../../../src/model/plan-index.ts';
import { Destinations } from '../../../src/routing/destinations.ts';
import { StreamRouter } from '../../../src/routing/stream-router.ts';
import { aPlanOf } from '../../support/planned-tasks.ts';
import { aBolt, anInput, anOutput, aSpout, aTopology } from '../../support/topologies.ts';
import { updated } from '../../support/updated-plans.ts';
import { aTuple, headerOf, openTuple, type TestTuple } from '../../support/tuple-sets.ts';

function aRouter(
  components: readonly Component[],
  tasks: Parameters<typeof aPlanOf>[1][],
  localTasks: readonly number[] = [],
) {
  const plan = new PlanIndex(aPlanOf(aTopology(components), ...tasks));
  return new StreamRouter(plan, {
    keyGroups: 16,
    random: createSeededRandom(1),
    localTasks: localTasks.map(taskId),
  });
}

function routed(router: StreamRouter, tuple: TestTuple, stream = 'default') {
  const into = new Destinations();
  const unknown = router.streamOf(headerOf('word', stream))?.route(openTuple(tuple), into);
  return { tasks: [...into.tasks.subarray(0, into.count)], unknown };
}

const word = aSpout('word', {
  outputs: [anOutput(['word']), anOutput(['word', 'size'], 'sizes')],
});

describe('StreamRouter', () => {
  it('serves the consumers in the order of the topology', () => {
    const router = aRouter(
      [
        word,
        aBolt('all', [anInput('word', { kind: 'all' })]),
        aBolt('one', [anInput('word', { kind: 'global' }), anInput('word', { kind: 'all' })]),
      ],
      [
        ['word', 1],
        ['one', 1],
        ['all', 2],
        ['one', 2],
        ['all', 1],
      ],
    );
    assert.deepEqual(routed(router, aTuple('x')), { tasks: [3, 5, 2, 2, 4], unknown: 0 });
  });

  it('knows streams apart, and those that nobody reads', () => {
    const router = aRouter(
      [word, aBolt('sizes', [anInput('word', { kind: 'all' }, 'sizes')])],
      [
        ['word', 1],
        ['sizes', 1],
      ],
    );
    assert.deepEqual(routed(router, aTuple('x', 1), 'sizes').tasks, [2]);
    assert.equal(router.streamOf(headerOf('word')), undefined);
    assert.equal(router.streamOf(headerOf('word', 'undeclared')), undefined);
    assert.equal(router.streamOf(headerOf('stranger')), undefined);
  });

  it('knows when all tuples go to the same tasks, which none needs to be looked into for', () => {
    const fields: Grouping = { kind: 'fields', fields: ['word'] };
    const fixedTasks = (grouping: Grouping, tasks: number) => {
      const counts = Array.from({ length: tasks }, () => ['count', 1] as const);
      const router = aRouter(
        [word, aBolt('count', [anInput('word', grouping)])],
        [['word', 1], ...counts],
      );
      return router.streamOf(headerOf('word'))?.fixedTasks;
    };
    assert.deepEqual(fixedTasks(fields, 1), [2]);
    assert.deepEqual(fixedTasks({ kind: 'shuffle' }, 1), [2]);
    assert.deepEqual(fixedTasks({ kind: 'global' }, 3), [2]);
    assert.deepEqual(fixedTasks({ kind: 'all' }, 3), [2, 3, 4]);
    assert.deepEqual(fixedTasks({ kind: 'direct' }, 1), []);
    assert.equal(fixedTasks(fields, 2), undefined);
    assert.equal(fixedTasks({ kind: 'shuffle' }, 2), undefined);
  });

  it('takes none as shuffle', () => {
    const router = aRouter(
      [word, aBolt('any', [anInput('word', { kind: 'none' })])],
      [
        ['word', 1],
        ['any', 1],
        ['any', 1],
      ],
    );
    const first = routed(router, aTuple('x')).tasks;
    const second = routed(router, aTuple('x')).tasks;
    assert.deepEqual(
      [...first, ...second].toSorted((a, b) => a - b),
      [2, 3],
    );
  });

  for (const { name, localTasks, expected } of [
    { name: 'shares among those of its own container', localTasks: [1, 3, 4], expected: [3, 4] },
    { name: 'gives all to the only one of its own container', localTasks: [1, 4], expected: [4] },
    { name: 'shares among all where its container has none', localTasks: [1], expected: [2, 3, 4] },
  ]) {
    it(`local or shuffle: ${name}`, () => {
      const bolt = aBolt('count', [anInput('word', { kind: 'local-or-shuffle' })]);
      const router = aRouter(
        [word, bolt],
        [
          ['word', 1],
          ['count', 2],
          ['count', 1],
          ['count', 1],
        ],
        localTasks,
      );
      const got = Array.from({ length: 6 }, () => routed(router, aTuple('x')).tasks[0]);
      const even = expected.flatMap((task) =>
        Array.from({ length: 6 / expected.length }, () => task),
      );
      assert.deepEqual(
        got.toSorted((a = 0, b = 0) => a - b),
        even,
      );
    });
  }

  for (const kind of ['direct', 'custom'] as const) {
    it(`leaves a ${kind} grouping to the emitting instance`, () => {
      const router = aRouter(
        [
          { ...word, language: 'python' },
          aBolt('told', [anInput('word', { kind })]),
          aBolt('all', [anInput('word', { kind: 'all' })]),
        ],
        [
          ['word', 1],
          ['told', 1],
          ['told', 2],
          ['all', 1],
        ],
      );
      const tuple = { ...aTuple('x'), destinations: [3, 99, -5, 3] };
      assert.deepEqual(routed(router, tuple), { tasks: [4, 3, 3], unknown: 2 });
    });
  }

  it("hashes a foreign producer's fields by Heron's rule and its own by key groups", () => {
    const bolts = [aBolt('count', [anInput('word', { kind: 'fields', fields: ['word'] })])];
    const tasks: Parameters<typeof aPlanOf>[1][] = [
      ['word', 1],
      ...Array.from({ length: 8 }, () => ['count', 1] as const),
    ];
    const own = aRouter([word, ...bolts], tasks);
    const foreign = aRouter([{ ...word, language: 'java' }, ...bolts], tasks);
    const javaHello = Buffer.concat([Buffer.from('aced0005740005', 'hex'), Buffer.from('hello')]);
    // 100264140, the remainder of Java's "hello", is 4 modulo 8: the fifth of tasks 2 to 9.
    assert.deepEqual(routed(foreign, { values: [javaHello] }).tasks, [6]);
    const owners = new Set(
      Array.from({ length: 200 }, (_, index) => routed(own, aTuple(`w${index}`)).tasks[0]),
    );
    assert.equal(owners.size, 8);
  });

  it('gives nothing to tasks that retire, whatever the grouping', () => {
    const groupings: readonly Grouping[] = [
      { kind: 'shuffle' },
      { kind: 'none' },
      { kind: 'local-or-shuffle' },
      { kind: 'all' },
      { kind: 'global' },
      { kind: 'fields', fields: ['word'] },
    ];
    for (const grouping of groupings) {
      const topology = aTopology([word, aBolt('count', [anInput('word', grouping)])]);
      const before = aPlanOf(topology, ['word', 1], ['count', 1], ['count', 1], ['count', 2]);
      const after = updated(before, { add: [['count', 2]], retire: [2, 3] });
      const options = { keyGroups: 16, random: createSeededRandom(1), localTasks: [1, 2, 3] };
      const router = new StreamRouter(new PlanIndex(after), {
        ...options,
        localTasks: options.localTasks.map(taskId),
      });
      const got = new Set(
        Array.from({ length: 64 }, (_, index) => routed(router, aTuple(`w${index}`)).tasks).flat(),
      );
      const all = new Set(grouping.kind === 'global' ? [4] : [4, 5]);
      assert.deepEqual(got, all, grouping.kind);
    }
  });

  it('does not let a tuple name a task that retires, and says which one it was', () => {
    const topology = aTopology([word, aBolt('count', [anInput('word', { kind: 'direct' })])]);
    const before = aPlanOf(topology, ['word', 1], ['count', 1], ['count', 1]);
    const plan = new PlanIndex(updated(before, { retire: [2] }));
    const random = createSeededRandom(1);
    const router = new StreamRouter(plan, { keyGroups: 16, random, localTasks: [] });
    const into = new Destinations();
    const tuple = openTuple({ ...aTuple('x'), destinations: [3, 2] });
    assert.equal(router.streamOf(headerOf('word'))?.route(tuple, into), 1);
    assert.deepEqual([...into.tasks.subarray(0, into.count)], [3]);
    assert.equal(into.misdirected, 2);
  });
});
