import assert from 'node:assert/strict';
import { test } from 'node:test';
import * as fc from 'fast-check';
import type { LogicalTopology } from '../../../src/model/logical-topology.ts';
import { resourceCompliant as packing } from '../../../src/packing/resource-compliant.ts';
import {
  GIB,
  MIB,
  parallelismOf,
  type Places,
  placesIn,
  topologies,
  topologyOf,
  unlessRefused,
} from '../../support/packing-cases.ts';

/** Room for three tasks of the default size. */
const THREE_TASKS = { 'topology.container.ram': String(4 * GIB) };

const PLANS: readonly (readonly [
  string,
  Readonly<Record<string, number>>,
  Readonly<Record<string, string>>,
  Places,
])[] = [
  [
    'components in the order of their declaration, dealt in turn',
    { a: 2, b: 3 },
    { 'topology.stmgrs': '2', 'topology.component.rammap': `b:${2 * GIB}` },
    { 1: ['1 a[0]', '3 b[0]', '5 b[2]'], 2: ['2 a[1]', '4 b[1]'] },
  ],
  [
    'as many containers as the limits need',
    { a: 7 },
    THREE_TASKS,
    { 1: ['1 a[0]', '4 a[3]', '7 a[6]'], 2: ['2 a[1]', '5 a[4]'], 3: ['3 a[2]', '6 a[5]'] },
  ],
  [
    'never out of turn: a container more, and a new start',
    { big: 1, small: 3 },
    { 'topology.component.rammap': `big:${8 * GIB},small:${2 * GIB}` },
    { 1: ['1 big[0]'], 2: ['2 small[0]'], 3: ['3 small[1]'], 4: ['4 small[2]'] },
  ],
  [
    'more containers than tasks are not used',
    { a: 2 },
    { 'topology.stmgrs': '5' },
    { 1: ['1 a[0]'], 2: ['2 a[1]'] },
  ],
  [
    'a container without limits holds nine default tasks and the padding',
    { a: 10 },
    {},
    {
      1: ['1 a[0]', '3 a[2]', '5 a[4]', '7 a[6]', '9 a[8]'],
      2: ['2 a[1]', '4 a[3]', '6 a[5]', '8 a[7]', '10 a[9]'],
    },
  ],
];

for (const [name, components, config, places] of PLANS) {
  test(`packed: ${name}`, () => {
    assert.deepEqual(placesIn(packing.pack(topologyOf(components, config)).plan), places);
  });
}

test('a container asks for its tasks and the padding', () => {
  const config = {
    'topology.container.cpu': '40',
    'topology.container.ram': String(30 * GIB),
    'topology.component.cpumap': 'a:0.25',
  };
  const [container] = packing.pack(topologyOf({ a: 2, b: 1 }, config)).plan.containers;
  assert.deepEqual(container?.required, {
    // A tenth of 40 cores and of 30 GiB, and 1 GiB of disk, which is a tenth of the default too.
    cpuCores: 0.25 + 0.25 + 1 + 4,
    ramBytes: 3 * GIB + 3 * GIB,
    diskBytes: 3 * GIB + GIB,
  });
});

test('a number of containers that is not the one of the settings is said', () => {
  const warningsOf = (containers: string, config: Readonly<Record<string, string>>) =>
    packing.pack(topologyOf({ a: 7 }, { ...config, 'topology.stmgrs': containers })).warnings;
  assert.deepEqual(warningsOf('3', THREE_TASKS), []);
  assert.deepEqual(warningsOf('2', THREE_TASKS), [
    'topology.stmgrs asks for 2 containers; the limits of a container (topology.container.cpu, ' +
      '.ram and .disk) make it 3',
  ]);
  assert.deepEqual(warningsOf('9', {}), [
    'topology.stmgrs: 9 containers are more than the 7 tasks; 7 used',
  ]);
});

test('a small share of a core is enough, a small memory is not', () => {
  packing.pack(topologyOf({ a: 1 }, { 'topology.component.cpumap': 'a:0.01' }));
  const config = { 'topology.component.rammap': `a:${191 * MIB}` };
  assert.throws(() => packing.pack(topologyOf({ a: 1 }, config)), { code: 'INVALID_CONFIG' });
});

const REPACKS: readonly (readonly [
  string,
  Readonly<Record<string, number>>,
  Readonly<Record<string, string>>,
  Readonly<Record<string, number>>,
  Places,
])[] = [
  [
    'new tasks go round the containers from the first one',
    { a: 2, b: 3 },
    { 'topology.stmgrs': '2' },
    { a: 5 },
    {
      1: ['1 a[0]', '3 b[0]', '5 b[2]', '6 a[2]', '8 a[4]'],
      2: ['2 a[1]', '4 b[1]', '7 a[3]'],
    },
  ],
  [
    'a container without room is passed over, and one added when none has any',
    { a: 5 },
    { ...THREE_TASKS, 'topology.stmgrs': '2' },
    { a: 8 },
    {
      1: ['1 a[0]', '3 a[2]', '5 a[4]'],
      2: ['2 a[1]', '4 a[3]', '6 a[5]'],
      3: ['7 a[6]', '8 a[7]'],
    },
  ],
  [
    'tasks go where the scorers say, and those left are counted anew',
    { a: 2, b: 3 },
    { 'topology.stmgrs': '2' },
    { b: 2 },
    { 1: ['1 a[0]', '3 b[0]', '5 b[1]'], 2: ['2 a[1]'] },
  ],
  [
    'room that others leave is used, under new ids',
    { a: 3, b: 3 },
    { ...THREE_TASKS, 'topology.stmgrs': '2' },
    { a: 1, b: 5 },
    { 1: ['5 b[1]', '7 b[3]', '8 b[4]'], 2: ['2 a[0]', '4 b[0]', '6 b[2]'] },
  ],
  [
    'a container that is left empty goes',
    { a: 3 },
    { 'topology.stmgrs': '3' },
    { a: 1 },
    { 1: ['1 a[0]'] },
  ],
];

for (const [name, components, config, wanted, places] of REPACKS) {
  test(`repacked: ${name}`, () => {
    const topology = topologyOf(components, config);
    const before = packing.pack(topology).plan;
    const { plan, warnings } = packing.repack(topology, before, {
      parallelism: parallelismOf(wanted),
    });
    assert.deepEqual(placesIn(plan), places);
    assert.deepEqual(warnings, []);
    assert.equal(plan.id, before.id);
  });
}

test('a number of containers cannot be asked for', () => {
  const topology = topologyOf({ a: 2 });
  assert.throws(() => packing.repack(topology, packing.pack(topology).plan, { containers: 2 }), {
    code: 'INVALID_ARGUMENT',
    message: /^resource-compliant-round-robin packing works out/,
  });
});

/** Heron's way to the number of containers, one try after the other from topology.stmgrs. */
function containersByTrial({ components, config }: LogicalTopology, usable: number): number {
  const sizes = new Map(
    (config.get('topology.component.rammap') ?? '').split(',').map((pair) => {
      const [name = '', bytes] = pair.split(':');
      return [name, Number(bytes)] as const;
    }),
  );
  const tasks = components.flatMap(({ name, parallelism }) =>
    Array.from({ length: parallelism }, () => sizes.get(name) ?? GIB),
  );
  for (let count = Math.min(Number(config.get('topology.stmgrs')), tasks.length); ; count++) {
    const used = Array.from({ length: count }, () => 0);
    const fits = tasks.every((bytes, position) => {
      const container = position % count;
      used[container] = (used[container] ?? 0) + bytes;
      return (used[container] ?? 0) <= usable;
    });
    if (fits) return count;
  }
}

test('the number of containers is the first that works, from topology.stmgrs up', () => {
  fc.assert(
    fc.property(topologies, fc.integer({ min: 1, max: 5 }), (topology, containers) => {
      const ample = { 'topology.container.cpu': '1000', 'topology.container.disk': `${999 * GIB}` };
      const memory = {
        'topology.container.ram': `${9 * GIB}`,
        'topology.container.ram.padding': `${GIB}`,
      };
      const fixed = { 'topology.container.padding.percentage': '0' };
      const own = { 'topology.stmgrs': `${containers}`, ...ample, ...memory, ...fixed };
      const config = new Map([...topology.config, ...Object.entries(own)]);
      const plan = unlessRefused(() => packing.pack({ ...topology, config }).plan);
      const expected = containersByTrial({ ...topology, config }, 8 * GIB);
      assert.equal(plan?.containers.length, expected);
    }),
    { numRuns: 300 },
  );
});
