import assert from 'node:assert/strict';
import { test } from 'node:test';
import * as fc from 'fast-check';
import { comparePackingPlans } from '../../../src/model/compare-packing-plans.ts';
import type { LogicalTopology } from '../../../src/model/logical-topology.ts';
import { type PackingPlan, RESOURCE_UNITS } from '../../../src/model/packing-plan.ts';
import { validatePackingPlan } from '../../../src/model/validate-packing-plan.ts';
import { firstFitDecreasing } from '../../../src/packing/first-fit-decreasing.ts';
import type { Packing } from '../../../src/packing/packing.ts';
import { resourceCompliant } from '../../../src/packing/resource-compliant.ts';
import { roundRobin } from '../../../src/packing/round-robin.ts';
import { decodePackingPlan, encodePackingPlan } from '../../../src/wire/packing-plan.ts';
import {
  GIB,
  parallelisms,
  topologies,
  unlessRefused,
  wantedIn,
  withParallelism,
} from '../../support/packing-cases.ts';

/* What packing.ts promises of every algorithm (P1 to P6), over random topologies and requests. */

interface Algorithm {
  readonly name: string;
  readonly packing: Packing;
  /** Padding that no setting says anything of. */
  readonly padding: { readonly ramBytes: number; readonly diskBytes: number };
  readonly hasPercentage: boolean;
}

const ALGORITHMS: readonly Algorithm[] = [
  {
    name: 'round robin',
    packing: roundRobin,
    padding: { ramBytes: 2 * GIB, diskBytes: 12 * GIB },
    hasPercentage: false,
  },
  {
    name: 'resource-compliant round robin',
    packing: resourceCompliant,
    padding: { ramBytes: GIB, diskBytes: GIB },
    hasPercentage: true,
  },
  {
    name: 'first-fit decreasing',
    packing: firstFitDecreasing,
    padding: { ramBytes: GIB, diskBytes: GIB },
    hasPercentage: true,
  },
];

const LIMITS = {
  cpuCores: 'topology.container.cpu',
  ramBytes: 'topology.container.ram',
  diskBytes: 'topology.container.disk',
} as const;
const UNITS = { cpuCores: 1, ramBytes: GIB, diskBytes: GIB };
/** Sums of fractions of a core differ in their last bits by the order of their parts. */
const LAST_BITS = 1e-9;

/** P1, P2 and P4: whatever else a plan is, it is this. */
function assertSound(plan: PackingPlan, topology: LogicalTopology, algorithm: Algorithm): void {
  assert.deepEqual(validatePackingPlan(plan, topology.components), []);
  for (const { instances, required } of plan.containers) {
    for (const [key] of RESOURCE_UNITS) {
      const limit = settingOf(topology, LIMITS[key]);
      const used = instances.reduce((sum, { resource }) => sum + resource[key], 0);
      assert.ok(limit === undefined || required[key] <= limit, `${key} is above its limit`);
      const most = used + paddingOf(topology, algorithm, key);
      assert.ok(required[key] <= most + LAST_BITS, `${key} is above its tasks and padding`);
    }
  }
  const indexes = new Map<string, number>();
  const inOrder = plan.containers.flatMap(({ instances }) => instances);
  for (const { component, componentIndex } of inOrder.toSorted((a, b) => a.task - b.task)) {
    assert.equal(componentIndex, indexes.get(component) ?? 0);
    indexes.set(component, componentIndex + 1);
  }
}

function paddingOf(
  topology: LogicalTopology,
  { padding, hasPercentage }: Algorithm,
  key: 'cpuCores' | 'ramBytes' | 'diskBytes',
): number {
  const set = key === 'diskBytes' ? undefined : settingOf(topology, `${LIMITS[key]}.padding`);
  const fixed = set ?? { cpuCores: 1, ...padding }[key];
  if (!hasPercentage) return fixed;
  const tasks = settingOf(topology, 'topology.container.max.instances') ?? 10;
  const capacity = settingOf(topology, LIMITS[key]) ?? tasks * UNITS[key];
  const percentage = settingOf(topology, 'topology.container.padding.percentage') ?? 10;
  return Math.max(fixed, (capacity * percentage) / 100);
}

function settingOf({ config }: LogicalTopology, key: string): number | undefined {
  const text = config.get(key);
  return text === undefined ? undefined : Number(text);
}

function idsIn({ containers }: PackingPlan): {
  readonly tasks: readonly number[];
  readonly containers: readonly number[];
} {
  const tasks = containers.flatMap(({ instances }) => instances.map(({ task }) => Number(task)));
  return {
    tasks: tasks.toSorted((left, right) => left - right),
    containers: containers.map(({ id }) => Number(id)),
  };
}

function upTo(count: number): readonly number[] {
  return Array.from({ length: count }, (_, index) => index + 1);
}

for (const algorithm of ALGORITHMS) {
  const { name, packing } = algorithm;

  test(`${name}: a new plan is sound, or it is refused`, () => {
    let packed = 0;
    let runs = 0;
    fc.assert(
      fc.property(topologies, (topology) => {
        runs += 1;
        const plan = unlessRefused(() => packing.pack(topology).plan);
        if (plan === undefined) return;
        packed += 1;
        assertSound(plan, topology, algorithm);
        const { tasks, containers } = idsIn(plan);
        assert.deepEqual(tasks, upTo(tasks.length));
        assert.deepEqual(containers, upTo(containers.length));
        assert.deepEqual(decodePackingPlan(encodePackingPlan(plan)), plan);
        assert.deepEqual(packing.pack(topology).plan, plan);
      }),
      { numRuns: 300 },
    );
    assert.ok(packed * 4 > runs, `only ${packed} of ${runs} topologies could be packed`);
  });

  test(`${name}: a repack keeps ids and places, and gives what was asked for`, () => {
    let repacked = 0;
    fc.assert(
      fc.property(topologies, parallelisms, (topology, numbers) => {
        const before = unlessRefused(() => packing.pack(topology).plan);
        if (before === undefined) return;
        const parallelism = wantedIn(topology, numbers);
        const repack = (): PackingPlan => packing.repack(topology, before, { parallelism }).plan;
        const after = unlessRefused(repack);
        if (after === undefined) return;
        repacked += 1;
        assertSound(after, withParallelism(topology, parallelism), algorithm);
        const changes = comparePackingPlans(before, after);
        assert.deepEqual(changes.tasksMoved, []);
        const added = changes.tasksAdded.map(({ task }) => Number(task));
        const lastTask = Math.max(...idsIn(before).tasks);
        assert.deepEqual(
          added,
          upTo(added.length).map((position) => lastTask + position),
        );
        const gone = new Set(changes.tasksRemoved.map(({ component }) => component));
        assert.ok(changes.tasksAdded.every(({ component }) => !gone.has(component)));
        const lastContainer = Math.max(...idsIn(before).containers);
        assert.ok(changes.containersAdded.every((id) => id > lastContainer));
        assert.deepEqual(repack(), after);
      }),
      { numRuns: 300 },
    );
    assert.ok(repacked > 50, `only ${repacked} plans could be repacked`);
  });

  test(`${name}: a repack that asks for what is there gives the same plan`, () => {
    fc.assert(
      fc.property(topologies, (topology) => {
        const before = unlessRefused(() => packing.pack(topology).plan);
        if (before === undefined) return;
        const parallelism = new Map(
          topology.components.map((component) => [component.name, component.parallelism]),
        );
        assert.equal(packing.repack(topology, before, {}).plan, before);
        assert.equal(packing.repack(topology, before, { parallelism }).plan, before);
      }),
    );
  });

  test(`${name}: down and up again, what stays never moves`, () => {
    fc.assert(
      fc.property(topologies, parallelisms, (topology, numbers) => {
        const before = unlessRefused(() => packing.pack(topology).plan);
        if (before === undefined) return;
        const was = new Map(
          topology.components.map((component) => [component.name, component.parallelism]),
        );
        const less = new Map(
          [...wantedIn(topology, numbers)].filter(([component, tasks]) => {
            return tasks < (was.get(component) ?? 0);
          }),
        );
        // Fewer tasks always fit: a refusal fails the test.
        const down = packing.repack(topology, before, { parallelism: less }).plan;
        assertSound(down, withParallelism(topology, less), algorithm);
        const up = unlessRefused(() => packing.repack(topology, down, { parallelism: was }).plan);
        if (up === undefined) return;
        assertSound(up, topology, algorithm);
        const { tasksMoved, tasksAdded, tasksRemoved } = comparePackingPlans(down, up);
        assert.deepEqual([tasksMoved, tasksRemoved], [[], []]);
        assert.equal(tasksAdded.length, comparePackingPlans(before, down).tasksRemoved.length);
      }),
      { numRuns: 300 },
    );
  });
}

for (const { name, packing } of ALGORITHMS.slice(1)) {
  test(`${name}: a container that no task comes to or leaves stays as it is`, () => {
    fc.assert(
      fc.property(topologies, parallelisms, (topology, numbers) => {
        const before = unlessRefused(() => packing.pack(topology).plan);
        if (before === undefined) return;
        const parallelism = wantedIn(topology, numbers);
        // Room can always be made by more containers: a refusal fails the test.
        const after = packing.repack(topology, before, { parallelism }).plan;
        const { tasksAdded, tasksRemoved, containersResized } = comparePackingPlans(before, after);
        const touched = new Set([...tasksAdded, ...tasksRemoved].map(({ container }) => container));
        assert.ok(containersResized.every(({ container }) => touched.has(container)));
      }),
    );
  });
}
