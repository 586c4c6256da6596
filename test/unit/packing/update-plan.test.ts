import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import * as fc from 'fast-check';
import { messageOf } from '../../../src/base/errors.ts';
import { epoch } from '../../../src/base/ids.ts';
import { comparePackingPlans } from '../../../src/model/compare-packing-plans.ts';
import type { LogicalTopology } from '../../../src/model/logical-topology.ts';
import { isWithin, type PackingPlan, RESOURCE_UNITS } from '../../../src/model/packing-plan.ts';
import { settledPacking } from '../../../src/model/settled-packing.ts';
import { validatePackingPlan } from '../../../src/model/validate-packing-plan.ts';
import { createPacking } from '../../../src/packing/create.ts';
import type { RepackRequest } from '../../../src/packing/packing.ts';
import { lastTaskOf, type PlannedUpdate, updatedPlan } from '../../../src/packing/update-plan.ts';
import { decodePackingPlan, encodePackingPlan } from '../../../src/wire/packing-plan.ts';
import {
  parallelismOf,
  parallelisms,
  placesIn,
  topologies,
  topologyOf,
  unlessRefused,
  wantedIn,
} from '../../support/packing-cases.ts';
import { aPhysicalPlan } from '../../support/topologies.ts';

/* What update-plan.ts promises (U1 to U4), by examples and over random sequences of updates. */

const topology = topologyOf({ a: 2, b: 1 }, { 'topology.stmgrs': '2' });
/** 1 a[0], 3 b[0] | 2 a[1] */
const stored = createPacking(topology.config).pack(topology).plan;

/** Plans an update of a topology of which everything stored is in force. */
function planned(request: RepackRequest, packingPlan: PackingPlan = stored): PlannedUpdate {
  const physicalPlan = aPhysicalPlan(topology, packingPlan);
  return updatedPlan({ topology, packingPlan, physicalPlan, request });
}

function retiringIn({ containers }: PackingPlan): readonly string[] {
  return containers.flatMap(({ id, instances }) =>
    instances
      .filter(({ isRetiring }) => isRetiring === true)
      .map(
        ({ component, task, componentIndex }) => `${id}: ${task} ${component}[${componentIndex}]`,
      ),
  );
}

describe('one update', () => {
  test('more tasks: nothing retires, what is there stays', () => {
    const { target, union } = planned({ parallelism: parallelismOf({ a: 4 }) });
    assert.deepEqual(placesIn(union), {
      1: ['1 a[0]', '3 b[0]'],
      2: ['2 a[1]'],
      3: ['4 a[2]'],
      4: ['5 a[3]'],
    });
    assert.deepEqual(retiringIn(union), []);
    assert.deepEqual(union, target);
    assert.equal(union.lastTask, 5);
  });

  test('fewer tasks: what goes retires where it is, with its index', () => {
    const { target, union } = planned({ parallelism: parallelismOf({ a: 1 }) });
    assert.deepEqual(placesIn(target), { 1: ['1 a[0]', '3 b[0]'] });
    assert.deepEqual(retiringIn(union), ['2: 2 a[1]']);
    assert.deepEqual(placesIn(union), { 1: ['1 a[0]', '3 b[0]'], 2: ['2 a[1]'] });
    assert.equal(union.lastTask, 3, 'its number is not free again');
  });

  test('a task that a repack moves retires, and a new one takes its place (U1)', () => {
    const { target, union, changes } = planned({ containers: 1 });
    assert.deepEqual(placesIn(target), { 1: ['1 a[0]', '3 b[0]', '4 a[1]'] });
    assert.deepEqual(retiringIn(union), ['2: 2 a[1]']);
    assert.deepEqual(changes.tasksMoved, []);
    assert.deepEqual(changes.tasksAdded, [{ component: 'a', task: 4, container: 1 }]);
    assert.deepEqual(changes.tasksRemoved, [{ component: 'a', task: 2, container: 2 }]);
  });

  test('an index of the target is counted without what retires, which keeps its own', () => {
    const wide = planned({ parallelism: parallelismOf({ a: 3 }), containers: 2 }).union;
    assert.deepEqual(placesIn(wide), { 1: ['1 a[0]', '3 b[0]'], 2: ['2 a[1]', '4 a[2]'] });
    const { union } = planned({ containers: 1 }, wide);
    assert.deepEqual(placesIn(union)[1], ['1 a[0]', '3 b[0]', '5 a[1]', '6 a[2]']);
    assert.deepEqual(retiringIn(union), ['2: 2 a[1]', '2: 4 a[2]']);
  });

  test('a container has room for what retires in it beside what stays (U4)', () => {
    const wide = planned({ parallelism: parallelismOf({ a: 3 }), containers: 2 }).union;
    const { base, target, union } = planned({ parallelism: parallelismOf({ a: 2 }) }, wide);
    assert.deepEqual(retiringIn(union), ['2: 4 a[2]']);
    const required = ({ containers }: PackingPlan) => containers.map((one) => one.required);
    assert.deepEqual(required(union), required(base));
    assert.notDeepEqual(required(target), required(base));
    assert.deepEqual(required(settledPacking(union)), required(target));
  });

  test('what is there already changes nothing', () => {
    const same = { parallelism: parallelismOf({ a: 2 }), containers: 2 };
    assert.equal(planned(same).union, stored);
  });
});

describe('an update that is not in force', () => {
  const first = planned({ parallelism: parallelismOf({ a: 4, b: 2 }) });
  const physicalPlan = aPhysicalPlan(topology, stored);
  const next = (request: RepackRequest): PlannedUpdate =>
    updatedPlan({ topology, packingPlan: first.union, physicalPlan, request });

  test('is given up by the old numbers, and its task ids are not used again (U2)', () => {
    const { union, changes } = next({ parallelism: parallelismOf({ a: 2, b: 1 }) });
    assert.deepEqual(placesIn(union), placesIn(stored));
    assert.deepEqual(changes.tasksAdded, []);
    assert.equal(union.lastTask, 6);
  });

  test('leaves no trace in what containers and tasks ask for', () => {
    const limited = topologyOf({ a: 2 }, { 'topology.container.cpu': '3' });
    const packed = createPacking(limited.config).pack(limited).plan;
    const ask = (packingPlan: PackingPlan, a: number): PackingPlan =>
      updatedPlan({
        topology: limited,
        packingPlan,
        physicalPlan: aPhysicalPlan(limited, packed),
        request: { parallelism: parallelismOf({ a }), containers: 1 },
      }).union;
    const wider = ask(packed, 4);
    assert.equal(wider.containers[0]?.instances[0]?.resource.cpuCores, 0.5);
    assert.deepEqual(ask(wider, 2).containers, packed.containers);
  });

  test('gives way to another one, which begins at what is in force', () => {
    const { union } = next({ parallelism: parallelismOf({ a: 3 }) });
    assert.deepEqual(placesIn(union), {
      1: ['1 a[0]', '3 b[0]'],
      2: ['2 a[1]'],
      3: ['7 a[2]'],
    });
  });

  test('marks nothing of what the next one keeps', () => {
    const down = planned({ parallelism: parallelismOf({ a: 1 }) });
    const { union } = updatedPlan({
      topology,
      packingPlan: down.union,
      physicalPlan,
      request: { parallelism: parallelismOf({ a: 2 }) },
    });
    assert.deepEqual(retiringIn(union), []);
    assert.deepEqual(placesIn(union), placesIn(stored));
    assert.deepEqual(
      union.containers.map(({ required }) => required),
      stored.containers.map(({ required }) => required),
    );
  });
});

test('while tasks retire no update is planned', () => {
  const { union } = planned({ parallelism: parallelismOf({ a: 1 }) });
  assert.throws(() => planned({ containers: 1 }, union), /waits until/);
});

const LIMITS = [
  ['cpuCores', 'topology.container.cpu'],
  ['ramBytes', 'topology.container.ram'],
  ['diskBytes', 'topology.container.disk'],
] as const;

/** What may happen after an update was stored. */
type Fate = 'settled' | 'never in force';

const steps = fc.array(
  fc.record({
    numbers: parallelisms,
    containers: fc.option(fc.integer({ min: 1, max: 8 }), { nil: undefined }),
    fate: fc.constantFrom<Fate>('settled', 'settled', 'never in force'),
  }),
  { minLength: 1, maxLength: 8 },
);

const algorithms = fc.constantFrom(
  'round-robin',
  'resource-compliant-round-robin',
  'first-fit-decreasing',
);

test('over any updates: sound plans, nothing left out, no task twice, no id again', () => {
  let updates = 0;
  const property = fc.property(topologies, algorithms, steps, (drawn, algorithm, requests) => {
    const config = new Map([...drawn.config, ['heron.packing.algorithm', algorithm]]);
    const drawnTopology: LogicalTopology = { ...drawn, config };
    const packed = unlessRefused(() => createPacking(config).pack(drawnTopology).plan);
    if (packed === undefined) return;
    let packingPlan = packed;
    let inForce = packed;
    const places = new Map<number, string>();
    notePlaces(packed, places);
    for (const { numbers, containers, fate } of requests) {
      const request = requestOf(drawnTopology, algorithm, numbers, containers);
      const physicalPlan = aPhysicalPlan(drawnTopology, inForce);
      const input = { topology: drawnTopology, packingPlan, physicalPlan, request };
      const update = unlessUnfit(() => updatedPlan(input));
      if (update === undefined) continue;
      updates += 1;
      assertSound(update, drawnTopology, request);
      assert.deepEqual(updatedPlan(input), update);
      const known = new Set(places.keys());
      for (const { task } of update.changes.tasksAdded) {
        assert.ok(!known.has(task) && task > lastTaskOf(packingPlan), `${task} is used again`);
      }
      notePlaces(update.union, places);
      packingPlan = { ...update.union, epoch: epoch(updates) };
      assert.deepEqual(decodePackingPlan(encodePackingPlan(packingPlan)), packingPlan);
      if (fate === 'never in force') continue;
      packingPlan = settledPacking(packingPlan);
      inForce = packingPlan;
      assert.deepEqual(placesIn(packingPlan), placesIn(update.target));
    }
  });
  fc.assert(property, { numRuns: 300 });
  assert.ok(updates > 300, `only ${updates} updates could be planned`);
});

/** Small limits refuse many requests, and so does a number of containers above that of tasks. */
function unlessUnfit<Result>(attempt: () => Result): Result | undefined {
  try {
    return unlessRefused(attempt);
  } catch (error) {
    const isTooMany = messageOf(error).startsWith('the number of containers must be');
    if (isTooMany) return undefined;
    throw error;
  }
}

function requestOf(
  drawn: LogicalTopology,
  algorithm: string,
  numbers: readonly (number | undefined)[],
  containers: number | undefined,
): RepackRequest {
  const parallelism = wantedIn(drawn, numbers);
  const isAsked = containers !== undefined && algorithm === 'round-robin';
  return isAsked ? { parallelism, containers } : { parallelism };
}

/** A task id is in one container, of one component, in all plans. */
function notePlaces({ containers }: PackingPlan, places: Map<number, string>): void {
  for (const { id, instances } of containers) {
    for (const { task, component } of instances) {
      const place = `${component} in ${id}`;
      assert.equal(places.get(task) ?? place, place, `task ${task}`);
      places.set(task, place);
    }
  }
}

function assertSound(
  { base, target, union }: PlannedUpdate,
  drawn: LogicalTopology,
  { parallelism, containers }: RepackRequest,
): void {
  assert.deepEqual(validatePackingPlan({ ...union, epoch: epoch(1) }, drawn.components), []);
  assert.deepEqual(validatePackingPlan({ ...target, epoch: epoch(1) }, drawn.components), []);
  const tasks = target.containers.flatMap(({ instances }) => instances);
  const counts = new Map<string, number>();
  for (const { component, componentIndex } of tasks.toSorted((a, b) => a.task - b.task)) {
    assert.equal(componentIndex, counts.get(component) ?? 0); // P4
    counts.set(component, componentIndex + 1);
  }
  for (const [component, wanted] of parallelism ?? []) {
    assert.equal(tasks.filter((task) => task.component === component).length, wanted);
  }
  if (containers !== undefined) assert.equal(target.containers.length, containers);
  assert.deepEqual(placesIn(settledPacking(union)), placesIn(target));
  const { tasksRemoved, tasksMoved, containersRemoved } = comparePackingPlans(base, union);
  assert.deepEqual([tasksRemoved, tasksMoved, containersRemoved], [[], [], []]);
  const inBase = new Set(base.containers.flatMap(({ instances }) => instances.map((i) => i.task)));
  for (const { instances } of union.containers) {
    for (const { task, isRetiring } of instances) assert.ok(!isRetiring || inBase.has(task));
  }
  for (const container of target.containers) {
    for (const [key, limit] of LIMITS) {
      const most = Number(drawn.config.get(limit) ?? Number.POSITIVE_INFINITY);
      assert.ok(container.required[key] <= most, `${key} is above its limit`); // P2
    }
    const found = union.containers.find(({ id }) => id === container.id);
    for (const [key] of RESOURCE_UNITS) {
      assert.ok(isWithin(found?.required[key] ?? 0, container.required[key]));
    }
  }
}
