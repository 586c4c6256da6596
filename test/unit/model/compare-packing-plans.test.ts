import assert from 'node:assert/strict';
import { test } from 'node:test';
import { comparePackingPlans } from '../../../src/model/compare-packing-plans.ts';
import type { PackingPlan } from '../../../src/model/packing-plan.ts';
import { packingPlanOf } from '../../support/packing-plans.ts';

const NO_CHANGES = {
  containersAdded: [],
  containersRemoved: [],
  containersResized: [],
  tasksAdded: [],
  tasksRemoved: [],
  tasksMoved: [],
  tasksChanged: [],
};

const before = packingPlanOf({ 1: ['a:1', 'b:3'], 2: ['a:2'] });

/** `before` with one amount of its first task, and of its container, doubled. */
function withMoreMemory(): PackingPlan {
  const [first, ...others] = before.containers;
  assert.ok(first !== undefined);
  const double = ({ ramBytes, ...rest }: typeof first.required) => ({
    ...rest,
    ramBytes: ramBytes * 2,
  });
  const [task, ...tasks] = first.instances;
  assert.ok(task !== undefined);
  const instances = [{ ...task, resource: double(task.resource) }, ...tasks];
  return {
    ...before,
    containers: [{ ...first, instances, required: double(first.required) }, ...others],
  };
}

test('a plan does not differ from itself, in whatever order it is written', () => {
  assert.deepEqual(comparePackingPlans(before, before), NO_CHANGES);
  const reversed = { ...before, containers: before.containers.toReversed() };
  assert.deepEqual(comparePackingPlans(before, reversed), NO_CHANGES);
});

test('containers and tasks that come and go, in the order of their ids', () => {
  const after = packingPlanOf({ 4: ['b:6', 'a:5'], 3: ['b:4'], 1: ['a:1', 'b:3'] });
  assert.deepEqual(comparePackingPlans(before, after), {
    ...NO_CHANGES,
    containersAdded: [3, 4],
    containersRemoved: [2],
    tasksAdded: [
      { component: 'b', task: 4, container: 3 },
      { component: 'a', task: 5, container: 4 },
      { component: 'b', task: 6, container: 4 },
    ],
    tasksRemoved: [{ component: 'a', task: 2, container: 2 }],
    tasksChanged: [],
  });
});

test('a task that moves', () => {
  const after = packingPlanOf({ 1: ['a:1'], 2: ['a:2', 'b:3'] });
  assert.deepEqual(comparePackingPlans(before, after), {
    ...NO_CHANGES,
    tasksMoved: [{ component: 'b', task: 3, from: 1, to: 2 }],
  });
});

test('a number that another component takes over is another task', () => {
  const after = packingPlanOf({ 1: ['a:1', 'b:3'], 2: ['c:2'] });
  const { tasksAdded, tasksRemoved, tasksMoved } = comparePackingPlans(before, after);
  assert.deepEqual(tasksAdded, [{ component: 'c', task: 2, container: 2 }]);
  assert.deepEqual(tasksRemoved, [{ component: 'a', task: 2, container: 2 }]);
  assert.deepEqual(tasksMoved, []);
});

test('a task that stays with another index', () => {
  const after = packingPlanOf({ 1: ['b:3'], 2: ['a:2'] });
  const { tasksChanged, tasksRemoved } = comparePackingPlans(before, after);
  assert.deepEqual(
    tasksChanged.map((change) => [change.before.componentIndex, change.after.componentIndex]),
    [[1, 0]],
  );
  assert.equal(tasksRemoved.length, 1);
});

test('a task that moves is no task that stays, whatever else has changed', () => {
  const first = packingPlanOf({ 1: ['a:1', 'a:3'], 2: ['a:2'] });
  const { tasksMoved, tasksChanged } = comparePackingPlans(
    first,
    packingPlanOf({ 1: ['a:1'], 2: ['a:2', 'a:3'] }),
  );
  assert.deepEqual(tasksMoved, [{ component: 'a', task: 3, from: 1, to: 2 }]);
  assert.deepEqual(
    tasksChanged.map(({ after }) => after.task),
    [2],
  );
});

test('containers and tasks that get more', () => {
  const changes = comparePackingPlans(before, withMoreMemory());
  const { containersResized, tasksChanged, ...others } = changes;
  const amounts = [1024 ** 3, 2 * 1024 ** 3];
  assert.deepEqual(
    containersResized.map((change) => [
      change.container,
      change.before.ramBytes,
      change.after.ramBytes,
    ]),
    [[1, ...amounts]],
  );
  assert.deepEqual(
    tasksChanged.map(({ container, ...change }) => [
      container,
      change.before.resource.ramBytes,
      change.after.resource.ramBytes,
    ]),
    [[1, ...amounts]],
  );
  const { containersResized: _, tasksChanged: __, ...none } = NO_CHANGES;
  assert.deepEqual(others, none);
});
