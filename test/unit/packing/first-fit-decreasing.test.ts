import assert from 'node:assert/strict';
import { test } from 'node:test';
import * as fc from 'fast-check';
import { firstFitDecreasing as packing } from '../../../src/packing/first-fit-decreasing.ts';
import {
  GIB,
  parallelismOf,
  type Places,
  placesIn,
  topologies,
  topologyOf,
  unlessRefused,
} from '../../support/packing-cases.ts';

const AMPLE = {
  'topology.container.cpu': '100',
  'topology.container.ram': String(100 * GIB),
  'topology.container.disk': String(100 * GIB),
};
const BIG_AND_SMALL = { 'topology.component.rammap': `big:${8 * GIB},small:${2 * GIB}` };

const PLANS: readonly (readonly [
  string,
  Readonly<Record<string, number>>,
  Readonly<Record<string, string>>,
  Places,
])[] = [
  [
    'the first container is filled before the next one, whatever topology.stmgrs says',
    { a: 4 },
    { 'topology.stmgrs': '3' },
    { 1: ['1 a[0]', '2 a[1]', '3 a[2]', '4 a[3]'] },
  ],
  [
    'the largest component first',
    { small: 3, big: 1 },
    BIG_AND_SMALL,
    { 1: ['1 big[0]'], 2: ['2 small[0]', '3 small[1]', '4 small[2]'] },
  ],
  [
    'smaller tasks into the room that larger ones leave',
    { mid: 3, small: 2 },
    { 'topology.component.rammap': `mid:${4 * GIB}` },
    { 1: ['1 mid[0]', '2 mid[1]', '4 small[0]'], 2: ['3 mid[2]', '5 small[1]'] },
  ],
  [
    'by cores among components of the same memory',
    { a: 1, b: 1 },
    { 'topology.component.cpumap': 'b:2' },
    { 1: ['1 b[0]', '2 a[0]'] },
  ],
  [
    'cores before memory where the strategy says so',
    { ram: 1, cpu: 1 },
    {
      'topology.component.rammap': `ram:${2 * GIB}`,
      'topology.component.cpumap': 'cpu:2',
      'topology.packing.ffd.sorting.strategy': 'CPU_FIRST',
    },
    { 1: ['1 cpu[0]', '2 ram[0]'] },
  ],
  [
    'memory before cores otherwise',
    { cpu: 1, ram: 1 },
    { 'topology.component.rammap': `ram:${2 * GIB}`, 'topology.component.cpumap': 'cpu:2' },
    { 1: ['1 ram[0]', '2 cpu[0]'] },
  ],
  [
    'no more tasks than the density allows, however much room there is',
    { a: 5 },
    { ...AMPLE, 'topology.container.max.instances': '2' },
    { 1: ['1 a[0]', '2 a[1]'], 2: ['3 a[2]', '4 a[3]'], 3: ['5 a[4]'] },
  ],
];

for (const [name, components, config, places] of PLANS) {
  test(`packed: ${name}`, () => {
    assert.deepEqual(placesIn(packing.pack(topologyOf(components, config)).plan), places);
  });
}

test('a container asks for its tasks and the padding', () => {
  const [container] = packing.pack(topologyOf({ a: 2 }, AMPLE)).plan.containers;
  assert.deepEqual(container?.required, {
    cpuCores: 2 + 10,
    ramBytes: 12 * GIB,
    diskBytes: 12 * GIB,
  });
});

test('a tenth of a core is the least for a task', () => {
  const withCores = (cores: string) =>
    packing.pack(topologyOf({ a: 1 }, { 'topology.component.cpumap': `a:${cores}` }));
  assert.equal(withCores('0.1').plan.containers.length, 1);
  assert.throws(() => withCores('0.09'), {
    code: 'INVALID_CONFIG',
    message: "a task of 'a' gets 0.09 cores of CPU, it needs 0.1; raise topology.component.cpumap",
  });
});

const REPACKS: readonly (readonly [
  string,
  Readonly<Record<string, number>>,
  Readonly<Record<string, number>>,
  Places,
])[] = [
  [
    'new tasks go to the first containers with room',
    { big: 1, small: 3 },
    { small: 5 },
    {
      1: ['1 big[0]'],
      2: ['2 small[0]', '3 small[1]', '4 small[2]', '5 small[3]'],
      3: ['6 small[4]'],
    },
  ],
  [
    'larger new tasks before smaller ones',
    { small: 3, big: 1 },
    { small: 4, big: 2 },
    {
      1: ['1 big[0]'],
      2: ['2 small[0]', '3 small[1]', '4 small[2]', '6 small[3]'],
      3: ['5 big[1]'],
    },
  ],
  [
    'a container that is left empty is used again by what comes',
    { big: 2, small: 1 },
    { big: 1, small: 3 },
    { 1: ['1 big[0]'], 2: ['4 small[1]', '5 small[2]'], 3: ['3 small[0]'] },
  ],
  [
    'tasks leave containers of their component alone first',
    { big: 1, small: 5 },
    { small: 3 },
    { 1: ['1 big[0]'], 2: ['2 small[0]', '3 small[1]', '4 small[2]'] },
  ],
];

for (const [name, components, wanted, places] of REPACKS) {
  test(`repacked: ${name}`, () => {
    const topology = topologyOf(components, BIG_AND_SMALL);
    const before = packing.pack(topology).plan;
    const { plan } = packing.repack(topology, before, { parallelism: parallelismOf(wanted) });
    assert.deepEqual(placesIn(plan), places);
  });
}

test('a number of containers cannot be asked for', () => {
  const topology = topologyOf({ a: 2 });
  assert.throws(() => packing.repack(topology, packing.pack(topology).plan, { containers: 2 }), {
    code: 'INVALID_ARGUMENT',
    message: /^first-fit-decreasing packing works out/,
  });
});

test('no task could have gone to an earlier container', () => {
  fc.assert(
    fc.property(topologies, (topology) => {
      const ample = Object.entries({ ...AMPLE, 'topology.container.max.instances': '1000' });
      const memory: readonly [string, string] = ['topology.container.ram', `${12 * GIB}`];
      const percentage: readonly [string, string] = ['topology.container.padding.percentage', '0'];
      const padding: readonly [string, string] = ['topology.container.ram.padding', `${GIB}`];
      const config = new Map([...topology.config, ...ample, memory, percentage, padding]);
      const plan = unlessRefused(() => packing.pack({ ...topology, config }).plan);
      assert.ok(plan !== undefined);
      const used = new Map<number, number>();
      const tasks = plan.containers.flatMap(({ id, instances }) =>
        instances.map((instance) => ({ id: Number(id), ...instance })),
      );
      for (const { id, resource } of tasks.toSorted((left, right) => left.task - right.task)) {
        for (let earlier = 1; earlier < id; earlier++) {
          assert.ok((used.get(earlier) ?? 0) + resource.ramBytes > 11 * GIB);
        }
        used.set(id, (used.get(id) ?? 0) + resource.ramBytes);
      }
    }),
    { numRuns: 300 },
  );
});
