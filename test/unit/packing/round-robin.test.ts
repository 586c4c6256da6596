import assert from 'node:assert/strict';
import { test } from 'node:test';
import * as fc from 'fast-check';
import { comparePackingPlans } from '../../../src/model/compare-packing-plans.ts';
import type { ContainerPlan } from '../../../src/model/packing-plan.ts';
import { packRoundRobin, roundRobin } from '../../../src/packing/round-robin.ts';
import {
  GIB,
  MIB,
  parallelismOf,
  parallelisms,
  type Places,
  placesIn,
  topologies,
  topologyOf,
  unlessRefused,
  wantedIn,
} from '../../support/packing-cases.ts';
import { aSpout, aTopology } from '../../support/topologies.ts';

/** Components in the order in which Heron's hash map gave them for its own word count. */
const WORD_COUNT = [
  aSpout('sink'),
  aSpout('count', { parallelism: 2 }),
  aSpout('word', { parallelism: 2 }),
];

function pack(
  config: Readonly<Record<string, string>>,
  components = WORD_COUNT,
): readonly ContainerPlan[] {
  return packRoundRobin(aTopology(components, config)).plan.containers;
}

/** `component[index]` by task, container by container. */
function placed(containers: readonly ContainerPlan[]): readonly (readonly string[])[] {
  return containers.map(({ instances }) =>
    instances.map((task) => `${task.task} ${task.component}[${task.componentIndex}]`),
  );
}

function memory(containers: readonly ContainerPlan[]): readonly (readonly number[])[] {
  return containers.map(({ instances, required }) => [
    ...instances.map(({ resource }) => resource.ramBytes),
    required.ramBytes,
  ]);
}

test('tasks are numbered by component and dealt to the containers in turn', () => {
  assert.deepEqual(placed(pack({ 'topology.stmgrs': '2' })), [
    ['1 sink[0]', '3 count[1]', '5 word[1]'],
    ['2 count[0]', '4 word[0]'],
  ]);
});

test('components that ask for more memory come first', () => {
  const config = { 'topology.component.rammap': `word:${2 * GIB},count:${GIB}` };
  assert.deepEqual(placed(pack(config)), [
    ['1 word[0]', '2 word[1]', '3 count[0]', '4 count[1]', '5 sink[0]'],
  ]);
});

test('one container gets the numbers that Heron wrote for the same topology', () => {
  const [container] = pack({});
  assert.deepEqual(container?.required, {
    cpuCores: 6,
    ramBytes: 7_516_192_768,
    diskBytes: 18_253_611_008,
  });
  const task = { cpuCores: 1, ramBytes: 1_073_741_824, diskBytes: 1_073_741_824 };
  for (const { resource } of container?.instances ?? []) assert.deepEqual(resource, task);
});

test('a smaller container asks for less than a larger one', () => {
  const [large, small] = pack({ 'topology.stmgrs': '2' });
  assert.deepEqual(large?.required, { cpuCores: 4, ramBytes: 5 * GIB, diskBytes: 15 * GIB });
  assert.deepEqual(small?.required, { cpuCores: 3, ramBytes: 4 * GIB, diskBytes: 14 * GIB });
});

test('tasks of components that ask for nothing share what the limit leaves', () => {
  const containers = pack({
    'topology.stmgrs': '2',
    'topology.container.ram': String(5 * GIB),
    'topology.component.rammap': `sink:${GIB / 2}`,
  });
  const share = (3 * GIB - GIB / 2) / 2;
  assert.deepEqual(memory(containers), [
    [GIB / 2, share, share, 5 * GIB],
    [1.5 * GIB, 1.5 * GIB, 5 * GIB],
  ]);
});

test('a limit above what everybody asks for is not used up', () => {
  const config = {
    'topology.container.ram': String(100 * GIB),
    'topology.component.rammap': `sink:${GIB},count:${GIB},word:${GIB}`,
  };
  assert.deepEqual(memory(pack(config)), [[GIB, GIB, GIB, GIB, GIB, 7 * GIB]]);
});

test('padding comes from the settings, or from the processes that need it', () => {
  const own = { 'topology.stmgr.ram': String(MIB), 'topology.metricsmgr.ram': String(2 * MIB) };
  assert.equal(pack(own)[0]?.required.ramBytes, 5 * GIB + 3 * MIB);
  const set = { ...own, 'topology.container.ram.padding': String(4 * MIB) };
  assert.equal(pack(set)[0]?.required.ramBytes, 5 * GIB + 4 * MIB);
  assert.equal(pack({ 'topology.container.cpu.padding': '0.5' })[0]?.required.cpuCores, 5.5);
});

test('cores and disk follow the maps by component and the limits too', () => {
  const [container] = pack({
    'topology.component.cpumap': 'word:0.25',
    'topology.container.cpu': '3',
    'topology.component.diskmap': `word:${2 * GIB}`,
  });
  assert.deepEqual(
    container?.instances.map(({ resource }) => resource.cpuCores),
    [0.5, 0.5, 0.5, 0.25, 0.25],
  );
  assert.equal(container?.required.cpuCores, 3);
  assert.equal(container?.required.diskBytes, (3 + 4 + 12) * GIB);
});

test('padding that does not fit gives way, with a warning', () => {
  const { plan, warnings } = packRoundRobin(
    aTopology([aSpout('a')], {
      'topology.container.ram': String(3 * GIB),
      'topology.component.rammap': `a:${2 * GIB}`,
    }),
  );
  assert.equal(plan.containers[0]?.required.ramBytes, 3 * GIB);
  assert.deepEqual(warnings, [
    `container 1: topology.container.ram leaves ${GIB} of ${2 * GIB} bytes of memory ` +
      "for the engine's own processes",
  ]);
});

test('a limit that is met to the byte', () => {
  const config = {
    'topology.container.ram': String(5 * GIB),
    'topology.component.rammap': `word:${GIB},count:${GIB},sink:${GIB}`,
  };
  const tight = packRoundRobin(aTopology(WORD_COUNT, config));
  assert.equal(tight.plan.containers[0]?.required.ramBytes, 5 * GIB);
  assert.match(tight.warnings[0] ?? '', /leaves 0 of 2147483648 bytes/);
  const roomy = { ...config, 'topology.container.ram': String(7 * GIB) };
  assert.deepEqual(packRoundRobin(aTopology(WORD_COUNT, roomy)).warnings, []);
});

test('fractions of a core that meet the limit but for their last bits', () => {
  assert.ok(0.1 + 0.1 + 0.1 > 0.3);
  const { plan, warnings } = packRoundRobin(
    topologyOf(
      { a: 3 },
      {
        'topology.container.cpu': '0.3',
        'topology.container.cpu.padding': '0',
        'topology.component.cpumap': 'a:0.1',
      },
    ),
  );
  assert.equal(plan.containers[0]?.required.cpuCores, 0.3);
  assert.deepEqual(warnings, []);
});

test('a task that gets just what it needs to live', () => {
  const [container] = pack({ 'topology.component.rammap': `sink:${16 * MIB}` });
  assert.equal(
    Math.min(...(container?.instances ?? []).map(({ resource }) => resource.ramBytes)),
    16 * MIB,
  );
});

test('padding gives way too when no task could live on what it leaves', () => {
  const ram = 2 * GIB + 50 * MIB;
  const { plan, warnings } = packRoundRobin(
    topologyOf({ a: 5 }, { 'topology.container.ram': String(ram) }),
  );
  const [container] = plan.containers;
  const each = Math.floor(ram / 5);
  assert.deepEqual(
    container?.instances.map(({ resource }) => resource.ramBytes),
    [each, each, each, each, each],
  );
  assert.match(warnings[0] ?? '', /leaves \d of 2147483648 bytes/);
});

const IMPOSSIBLE: readonly (readonly [string, Readonly<Record<string, string>>, RegExp])[] = [
  [
    'more containers than tasks',
    { 'topology.stmgrs': '6' },
    /^topology\.stmgrs: 6 containers are more than the 5 tasks of the topology$/,
  ],
  [
    'components that ask for more than the limit',
    { 'topology.container.ram': '1000', 'topology.component.rammap': 'word:600' },
    /^container 1: its components ask for 1200 bytes of memory, topology\.container\.ram is 1000/,
  ],
  [
    'nothing left for the others',
    { 'topology.container.cpu': '2', 'topology.component.cpumap': 'word:1' },
    /ask for 2 cores of CPU, topology\.container\.cpu is 2, and nothing is left for 3 other tasks;/,
  ],
  [
    'a share that no task can live on',
    { 'topology.container.ram': String(50 * MIB) },
    /^container 1: a task of 'sink' gets 10485760 bytes of memory, it needs 16777216 \(/,
  ],
  [
    'a component that asks for less than a task can live on',
    { 'topology.component.rammap': 'count:1000' },
    /^container 1: a task of 'count' gets 1000 bytes of memory, it needs 16777216$/,
  ],
  [
    'more than can be written down',
    { 'topology.component.rammap': `count:${Number.MAX_SAFE_INTEGER}` },
    /^container 1: 18014\d+ bytes of memory are more than any machine has; ask for less$/,
  ],
];

for (const [name, config, message] of IMPOSSIBLE) {
  test(`refused with the numbers: ${name}`, () => {
    assert.throws(() => pack(config), { code: 'INVALID_CONFIG', message });
  });
}

test('more tasks than any topology master can lead are refused before memory is full', () => {
  const components = [aSpout('a', { parallelism: 1e9 })];
  assert.throws(() => pack({}, components), { message: /has 1000000000 tasks, more than 100000/ });
});

function sum(amounts: readonly number[]): number {
  return amounts.reduce((total, amount) => total + amount, 0);
}

test('as many containers as the settings say, evenly filled', () => {
  fc.assert(
    fc.property(topologies, (topology) => {
      const plan = unlessRefused(() => packRoundRobin(topology).plan);
      if (plan === undefined) return;
      const sizes = plan.containers.map(({ instances }) => instances.length);
      assert.equal(sizes.length, Number(topology.config.get('topology.stmgrs') ?? 1));
      assert.ok(Math.max(...sizes) - Math.min(...sizes) <= 1);
    }),
    { numRuns: 300 },
  );
});

const TWO_CONTAINERS = topologyOf({ sink: 1, count: 2, word: 2 }, { 'topology.stmgrs': '2' });

const REPACKS: readonly (readonly [
  string,
  Readonly<Record<string, number>>,
  number | undefined,
  Places,
])[] = [
  [
    'what grows keeps the submitted ratio of tasks to containers',
    { count: 4 },
    undefined,
    {
      1: ['1 sink[0]', '3 count[1]', '5 word[1]'],
      2: ['2 count[0]', '4 word[0]'],
      3: ['6 count[2]', '7 count[3]'],
    },
  ],
  [
    'what shrinks loses tasks as the scorers say, and no container that is in use',
    { word: 1 },
    undefined,
    { 1: ['1 sink[0]', '3 count[1]', '5 word[0]'], 2: ['2 count[0]'] },
  ],
  [
    'new tasks go where fewest are',
    { word: 1, count: 3 },
    undefined,
    { 1: ['1 sink[0]', '3 count[1]', '5 word[0]'], 2: ['2 count[0]', '6 count[2]'] },
  ],
  [
    'one more container takes what is above an even share',
    {},
    3,
    { 1: ['1 sink[0]', '3 count[1]'], 2: ['2 count[0]', '4 word[0]'], 3: ['5 word[1]'] },
  ],
  [
    'one container less',
    {},
    1,
    { 1: ['1 sink[0]', '2 count[0]', '3 count[1]', '4 word[0]', '5 word[1]'] },
  ],
  [
    'tasks and containers at once',
    { word: 1, count: 4 },
    3,
    {
      1: ['1 sink[0]', '3 count[1]'],
      2: ['2 count[0]', '6 count[2]'],
      3: ['5 word[0]', '7 count[3]'],
    },
  ],
];

for (const [name, wanted, number, places] of REPACKS) {
  test(`repacked: ${name}`, () => {
    const before = packRoundRobin(TWO_CONTAINERS).plan;
    const request = { parallelism: parallelismOf(wanted) };
    const { plan } = roundRobin.repack(
      TWO_CONTAINERS,
      before,
      number === undefined ? request : { ...request, containers: number },
    );
    assert.deepEqual(placesIn(plan), places);
  });
}

test('the tasks of a container share its limit anew', () => {
  const topology = topologyOf({ a: 2 }, { 'topology.container.ram': String(5 * GIB) });
  const { plan } = roundRobin.repack(topology, packRoundRobin(topology).plan, {
    parallelism: parallelismOf({ a: 3 }),
  });
  const [first] = plan.containers;
  assert.deepEqual(memory(first === undefined ? [] : [first]), [[1.5 * GIB, 1.5 * GIB, 5 * GIB]]);
});

test('a container that asks for the same keeps what the scheduler gave it', () => {
  const before = packRoundRobin(TWO_CONTAINERS).plan;
  const scheduled = { cpuCores: 8, ramBytes: 64 * GIB, diskBytes: 99 * GIB };
  const given = before.containers.map((container) => ({ ...container, scheduled }));
  const { plan } = roundRobin.repack(
    TWO_CONTAINERS,
    { ...before, containers: given },
    { parallelism: parallelismOf({ word: 1 }) },
  );
  assert.deepEqual(
    plan.containers.map((container) => container.scheduled),
    [scheduled, undefined],
  );
});

test('a number of containers that the tasks cannot fill is refused', () => {
  const before = packRoundRobin(TWO_CONTAINERS).plan;
  for (const number of [0, 6, 1.5, Number.NaN]) {
    assert.throws(() => roundRobin.repack(TWO_CONTAINERS, before, { containers: number }), {
      code: 'INVALID_ARGUMENT',
      message:
        'the number of containers must be a whole number from 1 to the 5 tasks of the topology, ' +
        `not ${number}`,
    });
  }
});

test('as many containers as asked for, evenly filled, with the fewest moves', () => {
  let checked = 0;
  fc.assert(
    fc.property(
      topologies,
      parallelisms,
      fc.integer({ min: 1, max: 9 }),
      (topology, numbers, number) => {
        const packed = unlessRefused(() => packRoundRobin(topology).plan);
        if (packed === undefined) return;
        // Uneven plans come of repacks that take tasks away.
        const parallelism = wantedIn(topology, numbers);
        const before = unlessRefused(
          () => roundRobin.repack(topology, packed, { parallelism }).plan,
        );
        const sizes = (before?.containers ?? []).map(({ instances }) => instances.length);
        const tasks = sum(sizes);
        if (before === undefined || number > tasks) return;
        const after = unlessRefused(
          () => roundRobin.repack(topology, before, { containers: number }).plan,
        );
        if (after === undefined) return;
        checked += 1;
        const newSizes = after.containers.map(({ instances }) => instances.length);
        assert.equal(newSizes.length, number);
        assert.ok(number === sizes.length || Math.max(...newSizes) - Math.min(...newSizes) <= 1);
        const ids = after.containers.map(({ id }) => Number(id));
        assert.deepEqual(
          ids,
          ids.toSorted((left, right) => left - right),
        );
        const changes = comparePackingPlans(before, after);
        assert.deepEqual([changes.tasksAdded, changes.tasksRemoved], [[], []]);
        if (number === sizes.length) return;
        const most = sizes.toSorted((left, right) => right - left).slice(0, number);
        const share = (position: number): number =>
          Math.floor(tasks / number) + (position < tasks % number ? 1 : 0);
        const staying = sum(most.map((size, position) => Math.min(size, share(position))));
        assert.equal(changes.tasksMoved.length, tasks - staying);
      },
    ),
    { numRuns: 500 },
  );
  assert.ok(checked > 50, `only ${checked} plans were checked`);
});
