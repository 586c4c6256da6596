import assert from 'node:assert/strict';
import { test } from 'node:test';
import { containerId } from '../../../src/base/ids.ts';
import type { PackingPlan } from '../../../src/model/packing-plan.ts';
import {
  packingInForce,
  packingThatRuns,
  settledPacking,
} from '../../../src/model/settled-packing.ts';
import { placesIn } from '../../support/packing-cases.ts';
import { packingPlanOf } from '../../support/packing-plans.ts';
import { aPhysicalPlan, aTopology } from '../../support/topologies.ts';

const topology = aTopology();
const plan = packingPlanOf({ 1: ['a:1', 'b:3'], 2: ['a:2'] });

/** With these tasks marked as retiring. */
function retiring(from: PackingPlan, ...tasks: readonly number[]): PackingPlan {
  const containers = from.containers.map((container) => ({
    ...container,
    instances: container.instances.map((instance) =>
      tasks.includes(instance.task) ? { ...instance, isRetiring: true } : instance,
    ),
  }));
  return { ...from, containers };
}

test('without retiring tasks, containers that are left empty go', () => {
  assert.equal(settledPacking(plan), plan);
  assert.deepEqual(placesIn(settledPacking(retiring(plan, 2))), { 1: ['1 a[0]', '3 b[0]'] });
});

test('a container asks for less by what has gone, and never for less than what is left', () => {
  const [first] = settledPacking(retiring(plan, 3)).containers;
  // `packingPlanOf` gives a container as much as one task.
  assert.deepEqual(first?.required, plan.containers[0]?.instances[0]?.resource);
});

test('what a physical plan does not have is not in force, and nothing is marked', () => {
  const stored = retiring(packingPlanOf({ 1: ['a:1', 'b:3', 'b:4'], 2: ['a:2'], 3: ['b:5'] }), 2);
  const inForce = packingInForce(stored, aPhysicalPlan(topology, plan));
  assert.deepEqual(placesIn(inForce), placesIn(plan));
  assert.ok(
    inForce.containers.every(({ instances }) => instances.every((i) => !('isRetiring' in i))),
  );
  assert.equal(packingInForce(plan, aPhysicalPlan(topology, plan)), plan);
});

test('what retires by the physical plan runs, and does not stay', () => {
  const physicalPlan = aPhysicalPlan(topology, retiring(plan, 2));
  assert.deepEqual(placesIn(packingThatRuns(plan, physicalPlan)), placesIn(plan));
  assert.deepEqual(placesIn(packingInForce(plan, physicalPlan)), { 1: ['1 a[0]', '3 b[0]'] });
});

test('indexes are those in force', () => {
  const physicalPlan = aPhysicalPlan(topology, plan);
  const instances = physicalPlan.instances.map((one) => ({ ...one, componentIndex: 7 }));
  const inForce = packingInForce(plan, { ...physicalPlan, instances });
  assert.deepEqual(placesIn(inForce), { 1: ['1 a[7]', '3 b[7]'], 2: ['2 a[7]'] });
});

test('a number in another container, or of another component, is another task', () => {
  const [first, second] = plan.containers;
  assert.ok(first !== undefined && second !== undefined);
  const moved = { ...plan, containers: [first, { ...second, id: containerId(3) }] };
  assert.deepEqual(placesIn(packingInForce(moved, aPhysicalPlan(topology, plan))), {
    1: ['1 a[0]', '3 b[0]'],
  });
  const renamed = packingPlanOf({ 1: ['a:1', 'a:3'], 2: ['a:2'] });
  const inForce = packingInForce(renamed, aPhysicalPlan(topology, plan));
  assert.deepEqual(Object.values(placesIn(inForce)).flat().length, 2);
});
