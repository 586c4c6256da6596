import assert from 'node:assert/strict';
import { test } from 'node:test';
import { assertDefined } from '../../../src/base/assert.ts';
import { componentName, containerId, epoch, taskId } from '../../../src/base/ids.ts';
import type { ContainerPlan, InstancePlan, PackingPlan } from '../../../src/model/packing-plan.ts';
import { validatePackingPlan } from '../../../src/model/validate-packing-plan.ts';
import { packRoundRobin } from '../../../src/packing/round-robin.ts';
import { aSpout, aTopology } from '../../support/topologies.ts';

/** Tasks 1 and 3 in container 1, task 2 in container 2. */
const topology = aTopology([aSpout('a', { parallelism: 2 }), aSpout('b')], {
  'topology.stmgrs': '2',
});
const plan = packRoundRobin(topology).plan;

function withContainer(position: number, change: Partial<ContainerPlan>): PackingPlan {
  const containers = plan.containers.map((container, i) =>
    i === position ? { ...container, ...change } : container,
  );
  return { ...plan, containers };
}

function withFirstTask(change: Partial<InstancePlan>): PackingPlan {
  const [first, ...others] = plan.containers[0]?.instances ?? [];
  const changed = { ...assertDefined(first, 'container 1 has two tasks'), ...change };
  return withContainer(0, { instances: [changed, ...others] });
}

function problems(changed: PackingPlan): readonly string[] {
  return validatePackingPlan(changed, topology.components);
}

test('a plan that was packed for its topology has no problems', () => {
  assert.deepEqual(problems(plan), []);
});

test('a plan without containers', () => {
  assert.deepEqual(problems({ ...plan, containers: [] }), [
    'there is no container',
    "component 'a' has 0 tasks, its parallelism is 2",
    "component 'b' has 0 tasks, its parallelism is 1",
  ]);
});

test('container ids', () => {
  assert.deepEqual(problems(withContainer(1, { id: containerId(1) })), [
    'container 1 is there twice',
  ]);
  assert.deepEqual(problems(withContainer(0, { id: containerId(0) })), [
    'container 0: ids of containers are whole numbers from 1',
  ]);
});

test('an empty container', () => {
  assert.deepEqual(problems(withContainer(1, { instances: [] })), [
    'container 2 has no instance',
    "component 'a' has 1 tasks, its parallelism is 2",
  ]);
});

test('task ids', () => {
  assert.deepEqual(problems(withFirstTask({ task: taskId(2) })), ['task 2 is there twice']);
  assert.deepEqual(problems(withFirstTask({ task: taskId(0) })), [
    'container 1: task 0 is not a whole number from 1',
  ]);
});

test('components', () => {
  assert.deepEqual(problems(withFirstTask({ component: componentName('x') })), [
    "component 'x' is not in the topology",
    "component 'a' has 1 tasks, its parallelism is 2",
  ]);
  assert.deepEqual(problems(withFirstTask({ componentIndex: 1 })), [
    "component 'a': its tasks are not counted from 0 on",
  ]);
});

test('resources', () => {
  const tight = { cpuCores: 2, ramBytes: 1, diskBytes: 2 ** 31 };
  assert.deepEqual(problems(withContainer(0, { required: tight })), [
    'container 1: its instances need 2147483648 bytes of memory, it has 1',
  ]);
});

test('amounts below nothing, and those that are no numbers', () => {
  const resource = { cpuCores: Number.NaN, ramBytes: -1, diskBytes: 0 };
  assert.deepEqual(problems(withFirstTask({ resource })), [
    'container 1: task 1 cannot have NaN cores of CPU',
    'container 1: task 1 cannot have -1 bytes of memory',
    `container 1: its instances need NaN cores of CPU, it has 3`,
  ]);
});

test('not one byte more than the container has', () => {
  const resource = { cpuCores: 1, ramBytes: 2 ** 40 + 1, diskBytes: 1 };
  const required = { cpuCores: 9, ramBytes: 2 ** 40 + 2 ** 30, diskBytes: 2 ** 40 };
  const [first] = plan.containers;
  const instances = [{ ...assertDefined(first?.instances[0], 'it has tasks'), resource }];
  const others = first?.instances.slice(1) ?? [];
  assert.deepEqual(problems(withContainer(0, { instances: [...instances, ...others], required })), [
    `container 1: its instances need ${2 ** 40 + 2 ** 30 + 1} bytes of memory, it has ` +
      `${2 ** 40 + 2 ** 30}`,
  ]);
});

test('shares of a core that add up to a little more than the whole by rounding', () => {
  const resource = { cpuCores: 0.1, ramBytes: 1, diskBytes: 1 };
  const [first] = plan.containers;
  const instances = (first?.instances ?? []).map((instance) => ({ ...instance, resource }));
  const third = {
    ...assertDefined(instances[0], 'there are two'),
    componentIndex: 2,
    task: taskId(4),
  };
  assert.ok(0.1 + 0.1 + 0.1 > 0.3);
  const packed = withContainer(0, {
    instances: [...instances, third],
    required: { cpuCores: 0.3, ramBytes: 3, diskBytes: 3 },
  });
  const components = [aSpout('a', { parallelism: 3 }), aSpout('b')];
  assert.deepEqual(validatePackingPlan(packed, components), []);
});

test('a plan of an updated topology has the tasks that it was given last', () => {
  const updated = { ...plan, epoch: epoch(7) };
  assert.deepEqual(problems(updated), []);
  const [first, second] = plan.containers;
  assert.ok(first !== undefined && second !== undefined);
  assert.deepEqual(problems({ ...updated, containers: [first] }), []);
  assert.deepEqual(problems({ ...updated, containers: [second] }), [
    "component 'a': its tasks are not counted from 0 on",
    "component 'b' has no task",
  ]);
});

test('a task that retires is none of its component, and keeps its index', () => {
  const instances = assertDefined(plan.containers[0], 'there are two').instances;
  const retiring = instances.map((instance) =>
    instance.component === 'a' ? { ...instance, isRetiring: true } : instance,
  );
  const union = { ...withContainer(0, { instances: retiring }), epoch: epoch(7) };
  assert.deepEqual(problems(union), ["component 'a': its tasks are not counted from 0 on"]);
  const [other] = plan.containers[1]?.instances ?? [];
  const renumbered = { ...assertDefined(other, 'it has one'), componentIndex: 0 };
  const containers = union.containers.map((one, i) =>
    i === 1 ? { ...one, instances: [renumbered] } : one,
  );
  assert.deepEqual(problems({ ...union, containers }), []);
});
