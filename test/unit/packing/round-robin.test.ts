import assert from 'node:assert/strict';
import { test } from 'node:test';
import * as fc from 'fast-check';
import { EngineError } from '../../../src/base/errors.ts';
import type { ContainerPlan } from '../../../src/model/packing-plan.ts';
import { validatePackingPlan } from '../../../src/model/validate-packing-plan.ts';
import { packRoundRobin } from '../../../src/packing/round-robin.ts';
import { aSpout, aTopology } from '../../support/topologies.ts';

const MIB = 1024 ** 2;
const GIB = 1024 ** 3;

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

test('a task that gets just what it needs to live', () => {
  const [container] = pack({ 'topology.component.rammap': `sink:${16 * MIB}` });
  assert.equal(
    Math.min(...(container?.instances ?? []).map(({ resource }) => resource.ramBytes)),
    16 * MIB,
  );
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
    { 'topology.container.ram': String(2 * GIB + 50 * MIB) },
    /^container 1: a task of 'sink' gets 10485760 bytes of memory, it needs 16777216 \(/,
  ],
  [
    'a component that asks for less than a task can live on',
    { 'topology.component.rammap': 'count:1000' },
    /^container 1: a task of 'count' gets 1000 bytes of memory, it needs 16777216$/,
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

const demands = fc.option(fc.integer({ min: 1, max: 4096 }), { nil: undefined });
const limits = fc.option(fc.integer({ min: 1, max: 64 * 1024 }), { nil: undefined });

/** A topology with random numbers of tasks, containers, demands and limits, in MiB and cores. */
const topologies = fc
  .record({
    components: fc.array(
      fc.record({ parallelism: fc.integer({ min: 1, max: 9 }), mib: demands, cores: demands }),
      { minLength: 1, maxLength: 6 },
    ),
    containers: fc.integer({ min: 1, max: 9 }),
    limitMib: limits,
    limitCores: limits,
  })
  .map(({ components, containers, limitMib, limitCores }) => {
    const map = (amounts: readonly (number | undefined)[], unit: number): string =>
      amounts
        .flatMap((amount, i) => (amount === undefined ? [] : [`c${i}:${amount * unit}`]))
        .join(',');
    const entries = {
      'topology.stmgrs': String(containers),
      'topology.component.rammap': map(
        components.map(({ mib }) => mib),
        MIB,
      ),
      'topology.component.cpumap': map(
        components.map(({ cores }) => cores),
        0.001,
      ),
      'topology.container.ram': limitMib === undefined ? '' : String(limitMib * MIB),
      'topology.container.cpu': limitCores === undefined ? '' : String(limitCores / 1000),
    };
    const config = Object.fromEntries(Object.entries(entries).filter(([, text]) => text !== ''));
    const spouts = components.map(({ parallelism }, i) => aSpout(`c${i}`, { parallelism }));
    return aTopology(spouts, config);
  });

function sum(amounts: readonly number[]): number {
  return amounts.reduce((total, amount) => total + amount, 0);
}

test('each task once, evenly spread, and within the limits, or refused with a code', () => {
  fc.assert(
    fc.property(topologies, (topology) => {
      let containers: readonly ContainerPlan[];
      try {
        containers = packRoundRobin(topology).plan.containers;
      } catch (error) {
        assert.ok(error instanceof EngineError && error.code === 'INVALID_CONFIG');
        return;
      }
      const tasks = sum(topology.components.map(({ parallelism }) => parallelism));
      const sizes = containers.map(({ instances }) => instances.length);
      const limit = Number(topology.config.get('topology.container.ram') ?? Infinity);
      const plan = { id: topology.id, containers };
      assert.deepEqual(validatePackingPlan(plan, topology.components), []);
      assert.equal(containers.length, Number(topology.config.get('topology.stmgrs')));
      assert.deepEqual(
        containers
          .flatMap(({ instances }) => instances.map(({ task }) => Number(task)))
          .toSorted((left, right) => left - right),
        Array.from({ length: tasks }, (_, i) => i + 1),
      );
      assert.ok(Math.max(...sizes) - Math.min(...sizes) <= 1);
      for (const { instances, required } of containers) {
        const used = sum(instances.map(({ resource }) => resource.ramBytes));
        assert.ok(required.ramBytes <= limit);
        assert.ok(required.ramBytes <= used + 2 * GIB);
      }
    }),
    { numRuns: 500 },
  );
});

test('the same topology always gives the same plan', () => {
  fc.assert(
    fc.property(topologies, (topology) => {
      const attempt = (): unknown => {
        try {
          return packRoundRobin(topology);
        } catch (error) {
          return String(error);
        }
      };
      assert.deepEqual(attempt(), attempt());
    }),
  );
});
