import assert from 'node:assert/strict';
import { test } from 'node:test';
import { componentName } from '../../../src/base/ids.ts';
import { placesOf } from '../../../src/packing/assemble-plan.ts';
import {
  refuseNumberOfContainers,
  removeTasks,
  startRepack,
} from '../../../src/packing/repack-changes.ts';
import { packRoundRobin } from '../../../src/packing/round-robin.ts';
import { parallelismOf, topologyOf } from '../../support/packing-cases.ts';
import { packingPlanOf } from '../../support/packing-plans.ts';

/** Each case has the tasks of `a` that go, one after the other. */
const REMOVALS: readonly (readonly [
  string,
  Readonly<Record<number, readonly string[]>>,
  readonly number[],
])[] = [
  [
    'a container of this component alone before a smaller one',
    { 1: ['a:1', 'b:2'], 2: ['a:3', 'a:4', 'a:5'] },
    [5, 4, 3, 1],
  ],
  ['the container with fewer tasks', { 1: ['a:1', 'b:2'], 2: ['a:3', 'b:4', 'b:5'] }, [1, 3]],
  [
    'the larger share of this component, among as many tasks',
    { 1: ['a:1', 'a:2', 'b:3'], 2: ['a:4', 'b:5', 'b:6'] },
    [2, 1, 4],
  ],
  ['the higher id, all else being equal', { 1: ['a:1', 'b:2'], 2: ['a:3', 'b:4'] }, [3, 1]],
  [
    'the smallest of the containers of this component alone',
    { 1: ['a:1'], 2: ['a:2', 'a:3'] },
    [1, 3, 2],
  ],
  ['containers without a task of it are left alone', { 1: ['b:1'], 2: ['a:2', 'b:3'] }, [2]],
];

for (const [name, containers, gone] of REMOVALS) {
  test(`the next task to go is from: ${name}`, () => {
    const places = placesOf(packingPlanOf(containers));
    const tasksOf = (left: typeof places): readonly number[] =>
      left.flatMap(({ tasks }) => tasks.map(({ task }) => Number(task)));
    gone.forEach((_, position) => {
      const left = tasksOf(removeTasks(places, componentName('a'), position + 1));
      const expected = tasksOf(places).filter(
        (task) => !gone.slice(0, position + 1).includes(task),
      );
      assert.deepEqual(left, expected);
    });
  });
}

const topology = topologyOf({ split: 2, count: 1 });
const plan = packRoundRobin(topology).plan;

test('a request that makes no sense is refused', () => {
  const repack = (wanted: Readonly<Record<string, number>>) => () =>
    startRepack(topology, plan, { parallelism: parallelismOf(wanted) });
  assert.throws(repack({ splitt: 3 }), {
    code: 'INVALID_ARGUMENT',
    message: "there is no component 'splitt' in topology 'words'; did you mean 'split'?",
  });
  for (const tasks of [0, -1, 1.5, Number.NaN]) {
    assert.throws(repack({ split: tasks }), {
      code: 'INVALID_ARGUMENT',
      message: `component 'split': its parallelism must be a whole number from 1, not ${tasks}`,
    });
  }
  assert.throws(repack({ split: 100_000 }), {
    code: 'INVALID_CONFIG',
    message: /has 100001 tasks, more than 100000/,
  });
});

test('what is there already is no change', () => {
  const same = { parallelism: parallelismOf({ split: 2 }), containers: 1 };
  assert.equal(startRepack(topology, plan, same), undefined);
  assert.notEqual(startRepack(topology, plan, { containers: 2 }), undefined);
});

test('new ids are above all ids of the plan before, also of what has gone', () => {
  const before = packingPlanOf({ 2: ['split:4'], 7: ['split:9', 'count:3'] });
  const parallelism = parallelismOf({ split: 1, count: 3 });
  const started = startRepack(topology, before, { parallelism });
  assert.ok(started !== undefined);
  assert.deepEqual(started.containers[0], { id: 2, tasks: [] });
  assert.deepEqual([...started.missing], [['count', 2]]);
  assert.equal(started.tasks, 4);
  assert.deepEqual([started.nextTask(), started.nextTask()], [10, 11]);
  assert.deepEqual([started.nextContainer().id, started.nextContainer().id], [8, 9]);
});

test('an algorithm that counts the containers itself takes no number', () => {
  refuseNumberOfContainers('first-fit-decreasing', {});
  assert.throws(
    () => {
      refuseNumberOfContainers('first-fit-decreasing', { containers: 3 });
    },
    { code: 'INVALID_ARGUMENT', message: /^first-fit-decreasing packing works out .* for 3;/ },
  );
});
