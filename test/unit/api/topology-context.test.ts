import assert from 'node:assert/strict';
import { test } from 'node:test';
import { CountMetric, type UserMetric } from '../../../src/api/index.ts';
import { TopologyContext } from '../../../src/api/topology-context.ts';
import { systemClock } from '../../../src/base/clock.ts';
import { taskId } from '../../../src/base/ids.ts';
import { silentLogger } from '../../../src/base/logger.ts';
import type { LogicalTopology } from '../../../src/model/logical-topology.ts';
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

function planOf(topology: LogicalTopology): PlanIndex {
  return new PlanIndex(aPhysicalPlan(topology, packRoundRobin(topology).plan));
}

/** Tasks 1 and 2 are `lines`, 3 to 5 are `split`, 6 is `count`. */
function words(splitTasks = 3): LogicalTopology {
  return aTopology(
    [
      aSpout('lines', { parallelism: 2, outputs: [anOutput(['line']), anOutput(['text'], 'log')] }),
      aBolt('split', ['lines'], {
        parallelism: splitTasks,
        config: new Map([['topology.debug', 'true']]),
      }),
      aBolt('count', ['split', anInput('lines', { kind: 'global' }, 'log')]),
    ],
    { 'topology.debug': 'false', 'words.file': 'a.txt' },
  );
}

function aSource(task: number) {
  const metrics = new Map<string, UserMetric>();
  const calls = { wakes: 0 };
  const source = {
    plan: planOf(words()),
    task: taskId(task),
    log: silentLogger,
    clock: systemClock,
    registerMetric: (name: string, metric: UserMetric) => void metrics.set(name, metric),
    wake: () => {
      calls.wakes += 1;
    },
  };
  return { source, metrics, calls, context: new TopologyContext(source) };
}

test('a task knows itself', () => {
  const { context } = aSource(4);
  assert.equal(context.topologyName, 'words');
  assert.equal(context.topologyId, 'words-1');
  assert.equal(context.componentName, 'split');
  assert.equal(context.taskId, 4);
  assert.equal(context.taskIndex, 1);
  assert.equal(context.parallelism, 3);
  assert.equal(context.log, silentLogger);
  assert.equal(context.clock, systemClock);
});

test('a task knows its surroundings', () => {
  const { context } = aSource(1);
  assert.deepEqual(context.componentTasks('split'), [3, 4, 5]);
  assert.deepEqual(context.componentTasks('nobody'), []);
  assert.deepEqual(
    context.streams.map(({ stream }) => stream),
    ['default', 'log'],
  );
  assert.deepEqual(context.sources, []);
  assert.deepEqual(context.targets, [
    { component: 'split', input: anInput('lines') },
    { component: 'count', input: anInput('lines', { kind: 'global' }, 'log') },
  ]);
  assert.deepEqual(aSource(3).context.sources, [anInput('lines')]);
});

test('settings of the component lie over those of the topology', () => {
  assert.equal(aSource(3).context.config.get('topology.debug'), true);
  assert.equal(aSource(1).context.config.get('topology.debug'), false);
  assert.equal(aSource(1).context.config.text('words.file'), 'a.txt');
});

test('the context follows the plan', () => {
  const { source, context } = aSource(4);
  source.plan = planOf(words(5));
  assert.equal(context.parallelism, 5);
  assert.deepEqual(context.componentTasks('split'), [3, 4, 5, 6, 7]);
});

test('metrics and wake-ups go to the instance', () => {
  const { context, metrics, calls } = aSource(1);
  const count = context.registerMetric('empty-lines', new CountMetric());
  count.incr();
  assert.equal(metrics.get('empty-lines'), count);
  context.wake();
  assert.equal(calls.wakes, 1);
});

test('a task that is not in its plan is a mistake of the engine', () => {
  assert.throws(() => aSource(99), { name: 'AssertionError' });
});
