import assert from 'node:assert/strict';
import { test } from 'node:test';
import { componentName, streamManagerId, streamName, taskId } from '../../../src/base/ids.ts';
import { PlanIndex } from '../../../src/model/plan-index.ts';
import { packRoundRobin } from '../../../src/packing/round-robin.ts';
import {
  aBolt,
  anInput,
  anOutput,
  aPhysicalPlan,
  aSpout,
  aTopology,
} from '../../support/topologies.ts';

/*
  Two containers; tasks are in another order than components, because one asks for more memory:
    1 right[0]  2 spouts[0]  3 spouts[1]  4 left[0]  5 left[1]  6 left[2]  7 join[0]
  Odd ones are in container 1, even ones in container 2.
*/
const topology = aTopology(
  [
    aSpout('spouts', { parallelism: 2, outputs: [anOutput(['word']), anOutput(['at'], 'late')] }),
    aBolt('left', ['spouts'], { parallelism: 3 }),
    aBolt('right', ['spouts', anInput('spouts', { kind: 'all' }, 'late')]),
    aBolt('join', ['right', 'left']),
  ],
  { 'topology.stmgrs': '2', 'topology.component.rammap': 'right:2147483648' },
);
const inOrder = aPhysicalPlan(topology, packRoundRobin(topology).plan);
/** Instances in descending order: an index must not rest on the plan's. */
const index = new PlanIndex({ ...inOrder, instances: inOrder.instances.toReversed() });
const name = componentName;

test('tasks of a component ascend, whatever the order of the plan', () => {
  assert.deepEqual(index.tasksOf(name('spouts')), [2, 3]);
  assert.deepEqual(index.tasksOf(name('left')), [4, 5, 6]);
  assert.deepEqual(
    index.instancesOf(streamManagerId('stmgr-1')).map(({ task }) => task),
    [1, 3, 5, 7],
  );
});

test('a task leads to its instance, component and stream manager', () => {
  assert.equal(index.instanceOf(taskId(4))?.id, 'container_2_left_4');
  assert.equal(index.componentOf(taskId(4))?.name, 'left');
  assert.equal(index.streamManagerOf(taskId(4))?.id, 'stmgr-2');
  assert.equal(index.streamManager(streamManagerId('stmgr-2'))?.dataPort, 7002);
  assert.equal(index.component(name('join'))?.kind, 'bolt');
});

test('neighbours are all stream managers but the one that asks', () => {
  assert.deepEqual(
    index.neighbours(streamManagerId('stmgr-1')).map(({ id }) => id),
    ['stmgr-2'],
  );
});

test('consumers of a stream come in the order of the topology', () => {
  const readers = (stream: string): readonly string[] =>
    index
      .consumersOf(name('spouts'), streamName(stream))
      .map(({ bolt, grouping }) => `${bolt.name} ${grouping.kind}`);
  assert.deepEqual(readers('default'), ['left shuffle', 'right shuffle']);
  assert.deepEqual(readers('late'), ['right all']);
  assert.deepEqual(readers('other'), []);
});

test('neighbouring components and their tasks are found in both directions', () => {
  assert.deepEqual(
    index.upstreamComponents(name('join')).map((up) => up.name),
    ['left', 'right'],
  );
  assert.deepEqual(index.upstreamTasks(name('join')), [1, 4, 5, 6]);
  assert.deepEqual(
    index.downstreamComponents(name('spouts')).map((down) => down.name),
    ['left', 'right'],
  );
  assert.deepEqual(index.downstreamTasks(name('spouts')), [1, 4, 5, 6]);
  assert.deepEqual(index.upstreamTasks(name('spouts')), []);
  assert.deepEqual(index.downstreamTasks(name('join')), []);
});

test('everything above and below a component is found, over any number of bolts', () => {
  assert.deepEqual([...index.allUpstream(name('join'))].toSorted(), ['left', 'right', 'spouts']);
  assert.deepEqual([...index.allDownstream(name('spouts'))].toSorted(), ['join', 'left', 'right']);
  assert.deepEqual([...index.allUpstream(name('spouts'))], []);
  assert.deepEqual([...index.allDownstream(name('join'))], []);
});

test('what the plan does not name is absent, not an error', () => {
  assert.equal(index.component(name('x')), undefined);
  assert.equal(index.instanceOf(taskId(99)), undefined);
  assert.equal(index.componentOf(taskId(99)), undefined);
  assert.equal(index.streamManagerOf(taskId(99)), undefined);
  assert.equal(index.streamManager(streamManagerId('stmgr-9')), undefined);
  assert.deepEqual(index.tasksOf(name('x')), []);
  assert.deepEqual(index.instancesOf(streamManagerId('stmgr-9')), []);
  assert.deepEqual(index.upstreamTasks(name('x')), []);
  assert.deepEqual(index.downstreamTasks(name('x')), []);
});

/** Task 4 and task 2 retire. */
const RETIRING: ReadonlySet<number> = new Set([2, 4]);
const updating = new PlanIndex({
  ...inOrder,
  instances: inOrder.instances
    .map((instance) => (RETIRING.has(instance.task) ? { ...instance, isRetiring: true } : instance))
    .toReversed(),
});

test('retiring tasks are left out where tuples are routed', () => {
  assert.deepEqual(updating.tasksOf(name('left')), [5, 6]);
  assert.deepEqual(updating.tasksOf(name('spouts')), [3]);
  assert.deepEqual(updating.tasksOf(name('join')), [7]);
});

test('retiring tasks are there for their end, their connections and their names', () => {
  assert.deepEqual(updating.allTasksOf(name('left')), [4, 5, 6]);
  assert.deepEqual(updating.allTasksOf(name('nobody')), []);
  assert.deepEqual(updating.retiring, [2, 4]);
  assert.deepEqual(
    [1, 2, 4, 99].map((task) => updating.isRetiring(taskId(task))),
    [false, true, true, false],
  );
  assert.equal(updating.instanceOf(taskId(4))?.isRetiring, true);
  assert.equal(updating.componentOf(taskId(4))?.name, 'left');
  assert.deepEqual(updating.upstreamTasks(name('left')), [2, 3]);
  assert.deepEqual(updating.downstreamTasks(name('spouts')), [1, 4, 5, 6]);
  assert.deepEqual(
    updating.instancesOf(streamManagerId('stmgr-2')).map(({ task }) => task),
    [2, 4, 6],
  );
});

test('without an update nothing is retiring', () => {
  assert.deepEqual(index.retiring, []);
  assert.deepEqual(index.allTasksOf(name('left')), index.tasksOf(name('left')));
});
