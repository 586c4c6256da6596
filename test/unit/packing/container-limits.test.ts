import assert from 'node:assert/strict';
import { test } from 'node:test';
import { componentName, containerId, taskId } from '../../../src/base/ids.ts';
import type { PlacedTask } from '../../../src/packing/assemble-plan.ts';
import {
  type AlgorithmRules,
  COMPLIANT_TASK_RAM_BYTES_MIN,
  ContainerLimits,
  OpenContainer,
} from '../../../src/packing/container-limits.ts';
import { GIB, MIB, topologyOf } from '../../support/packing-cases.ts';

const RULES: AlgorithmRules = {
  taskMin: { cpuCores: 0.1, ramBytes: COMPLIANT_TASK_RAM_BYTES_MIN },
  isNumberOfTasksLimited: true,
};

function limitsOf(config: Readonly<Record<string, string>>): ContainerLimits {
  return new ContainerLimits(topologyOf({ split: 2, count: 1 }, config), RULES);
}

function aTask(component: string, id: number): PlacedTask {
  return { component: componentName(component), task: taskId(id) };
}

test('without limits a container has room for the largest number of default tasks', () => {
  const { capacity, padding, tasksMax } = limitsOf({});
  assert.deepEqual(capacity, { cpuCores: 10, ramBytes: 10 * GIB, diskBytes: 10 * GIB });
  assert.deepEqual(padding, { cpuCores: 1, ramBytes: GIB, diskBytes: GIB });
  assert.equal(tasksMax, 10);
  const dense = limitsOf({ 'topology.container.max.instances': '20' });
  assert.deepEqual(dense.capacity, { cpuCores: 20, ramBytes: 20 * GIB, diskBytes: 20 * GIB });
});

test('the padding is the larger of an amount and a percentage', () => {
  const limits = {
    'topology.container.cpu': '30.015',
    'topology.container.ram': String(30 * GIB + 7),
    'topology.container.disk': String(40 * GIB),
  };
  // Cores to the thousandth, bytes to the whole one, both downwards.
  assert.deepEqual(limitsOf(limits).padding, {
    cpuCores: 3.001,
    ramBytes: 3 * GIB,
    diskBytes: 4 * GIB,
  });
  const set = {
    'topology.container.cpu.padding': '4',
    'topology.container.ram.padding': String(5 * GIB),
  };
  assert.deepEqual(limitsOf({ ...limits, ...set }).padding, {
    cpuCores: 4,
    ramBytes: 5 * GIB,
    diskBytes: 4 * GIB,
  });
  const none = { ...limits, ...set, 'topology.container.padding.percentage': '0' };
  assert.equal(limitsOf(none).padding.diskBytes, GIB);
});

test('a container takes tasks while they and the padding are within each limit', () => {
  const room = (config: Readonly<Record<string, string>>): number => {
    const container = new OpenContainer(containerId(1), limitsOf(config));
    for (let id = 1; container.hasRoomFor(componentName('split')); id++) {
      container.add(aTask('split', id));
    }
    return container.tasks.length;
  };
  assert.equal(room({}), 9);
  assert.equal(room({ 'topology.container.cpu': '4' }), 3);
  assert.equal(room({ 'topology.container.ram': String(6 * GIB) }), 5);
  assert.equal(room({ 'topology.container.ram': String(6 * GIB - 1) }), 4);
  assert.equal(room({ 'topology.container.disk': String(3 * GIB) }), 2);
  const ample = { 'topology.container.ram': String(99 * GIB), 'topology.container.cpu': '99' };
  const dense = { ...ample, 'topology.container.disk': String(99 * GIB) };
  assert.equal(room({ ...dense, 'topology.container.max.instances': '7' }), 7);
});

test('fractions of a core that meet the limit but for their last bits', () => {
  const limits = limitsOf({
    'topology.container.cpu': '0.3',
    'topology.container.cpu.padding': '0',
    'topology.container.padding.percentage': '0',
    'topology.component.cpumap': 'split:0.1,count:0.1',
  });
  const container = new OpenContainer(containerId(1), limits, [
    aTask('split', 1),
    aTask('split', 2),
  ]);
  assert.ok(container.hasRoomFor(componentName('split')));
  const sized = limits.size(
    'container 1',
    Array.from({ length: 3 }, () => componentName('split')),
  );
  assert.equal(sized.container.cpuCores, 0.3);
});

test('fewer containers than the sum of all tasks needs', () => {
  const limits = limitsOf({ 'topology.container.ram': String(4 * GIB) });
  const added = (parallelism: number) => [{ name: componentName('split'), parallelism }];
  assert.deepEqual(
    [0, 1, 3, 4, 6, 7].map((tasks) => limits.moreContainersMin(added(tasks), [])),
    [0, 1, 1, 2, 2, 3],
  );
  const half = new OpenContainer(containerId(1), limits, [aTask('split', 1), aTask('split', 2)]);
  assert.deepEqual(
    [1, 2, 4, 5].map((tasks) => limits.moreContainersMin(added(tasks), [half])),
    [0, 1, 1, 2],
  );
});

const IMPOSSIBLE: readonly (readonly [string, Readonly<Record<string, string>>, string])[] = [
  [
    'a task that is larger than a container of no set size',
    { 'topology.component.rammap': `count:${12 * GIB}` },
    "a task of 'count' asks for 12884901888 bytes of memory, with the padding of 1073741824 it " +
      'needs 13958643712; a container has 10737418240 (topology.container.max.instances times ' +
      'the default, as topology.container.ram is not set); raise topology.container.ram, or ' +
      'lower topology.component.rammap or the padding',
  ],
  [
    'a default task that is larger than the limit',
    { 'topology.container.cpu': '1.5' },
    "a task of 'split' asks for 1 cores of CPU, with the padding of 1 it needs 2; a container " +
      'has 1.5 (topology.container.cpu); raise topology.container.cpu, or lower ' +
      'topology.component.cpumap or the padding',
  ],
  [
    'disk by the byte',
    { 'topology.container.disk': String(2 * GIB - 1) },
    "a task of 'split' asks for 1073741824 bytes of disk, with the padding of 1073741824 it " +
      'needs 2147483648; a container has 2147483647 (topology.container.disk); raise ' +
      'topology.container.disk, or lower topology.component.diskmap or the padding',
  ],
  [
    'a task that has no room for its runtime',
    { 'topology.component.rammap': `count:${192 * MIB - 1}` },
    "a task of 'count' gets 201326591 bytes of memory, it needs 201326592; raise " +
      'topology.component.rammap',
  ],
  [
    'more than can be written down',
    { 'topology.component.diskmap': `count:${Number.MAX_SAFE_INTEGER}` },
    `a task of 'count': ${Number.MAX_SAFE_INTEGER + GIB} bytes of disk are more than any machine ` +
      'has; ask for less',
  ],
];

for (const [name, config, message] of IMPOSSIBLE) {
  test(`refused with the numbers: ${name}`, () => {
    assert.throws(() => limitsOf(config), { code: 'INVALID_CONFIG', message });
  });
}

test('a container of an older plan that is above limits which were lowered since', () => {
  const limits = limitsOf({ 'topology.container.ram': String(3 * GIB) });
  const split = componentName('split');
  assert.equal(limits.size('container 4', [split, split]).container.ramBytes, 3 * GIB);
  assert.throws(() => limits.size('container 4', [split, split, split]), {
    code: 'INVALID_CONFIG',
    message:
      'container 4: its tasks and the padding need 4294967296 bytes of memory, a container has ' +
      '3221225472 (topology.container.ram)',
  });
});
