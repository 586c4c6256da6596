import assert from 'node:assert/strict';
import { test } from 'node:test';
import { componentName, taskId } from '../../../src/base/ids.ts';
import { placesOf, type PlacedTask } from '../../../src/packing/assemble-plan.ts';
import {
  fillEvenly,
  type FillingContainer,
  toFill,
  trimTo,
} from '../../../src/packing/even-fill.ts';
import { packingPlanOf } from '../../support/packing-plans.ts';

function tasks(...ids: readonly number[]): readonly PlacedTask[] {
  return ids.map((id) => ({ component: componentName('a'), task: taskId(id) }));
}

function idsOf(containers: readonly FillingContainer[]): readonly (readonly number[])[] {
  return containers.map((container) => container.tasks.map(({ task }) => Number(task)));
}

test('tasks go to the emptiest containers first, then round', () => {
  const fill = toFill(placesOf(packingPlanOf({ 1: ['a:1', 'a:2', 'a:3'], 2: [], 3: ['a:4'] })));
  fillEvenly(fill, tasks(5, 6, 7, 8, 9, 10));
  assert.deepEqual(idsOf(fill), [
    [1, 2, 3, 10],
    [5, 6, 8],
    [4, 7, 9],
  ]);
});

test('nothing to fill in changes nothing', () => {
  const fill = toFill(placesOf(packingPlanOf({ 1: ['a:1'], 2: [] })));
  fillEvenly(fill, []);
  assert.deepEqual(idsOf(fill), [[1], []]);
});

test('what is above an even share is taken away, the newest first', () => {
  const fill = toFill(
    placesOf(packingPlanOf({ 1: ['a:4', 'a:1', 'a:3', 'a:2'], 2: ['a:7', 'a:6', 'a:5'], 3: [] })),
  );
  const surplus = trimTo(fill, 7);
  assert.deepEqual(idsOf(fill), [[1, 2, 3], [5, 6], []]);
  assert.deepEqual(
    surplus.map(({ task }) => Number(task)),
    [4, 7],
  );
});
