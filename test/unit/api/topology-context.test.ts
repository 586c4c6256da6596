import assert from 'node:assert/strict';
import { test } from 'node:test';
import { CountMetric, type TaskHook, type UserMetric } from '../../../src/api/index.ts';
import { TopologyContext } from '../../../src/api/topology-context.ts';
import { systemClock } from '../../../src/base/clock.ts';
import { taskId } from '../../../src/base/ids.ts';
import { silentLogger } from '../../../src/base/logger.ts';
import { createSeededRandom } from '../../../src/base/random.ts';
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
  const timers: string[] = [];
  const timer = (text: string) => {
    timers.push(text);
    return { cancel: () => void timers.push(`cancel ${text}`) };
  };
  const source = {
    plan: planOf(words()),
    task: taskId(task),
    log: silentLogger,
    clock: systemClock,
    random: createSeededRandom(1),
    workingDirectory: '/topology',
    every: (periodMs: number) => timer(`every ${periodMs}`),
    after: (delayMs: number) => timer(`after ${delayMs}`),
    addHook: (hook: TaskHook) => hook.prepare?.(context),
    registerMetric: (name: string, metric: UserMetric) => void metrics.set(name, metric),
    wake: () => {
      calls.wakes += 1;
    },
  };
  const context: TopologyContext = new TopologyContext(source);
  return { source, metrics, calls, timers, context };
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
  assert.equal(context.workingDirectory, '/topology');
});

test('a task knows the whole topology', () => {
  const { context } = aSource(1);
  assert.equal(context.topology.name, 'words');
  assert.deepEqual(context.componentNames, ['lines', 'split', 'count']);
  assert.equal(context.componentOf(4), 'split');
  assert.equal(context.componentOf(99), undefined);
  assert.equal(context.containerOf(4), 1);
  assert.equal(context.containerOf(99), undefined);
  assert.deepEqual(
    context.streamsOf('lines').map(({ stream }) => stream),
    ['default', 'log'],
  );
  assert.deepEqual(context.streamsOf('nobody'), []);
  assert.deepEqual(context.sourcesOf('split'), [anInput('lines')]);
  assert.deepEqual(context.sourcesOf('lines'), []);
  assert.deepEqual(context.targetsOf('split'), [{ component: 'count', input: anInput('split') }]);
  assert.deepEqual(context.targetsOf('nobody'), []);
});

test('a task keeps data by name', () => {
  const { context } = aSource(1);
  assert.equal(context.getTaskData('cache'), undefined);
  context.setTaskData('cache', 7);
  assert.equal(context.getTaskData('cache'), 7);
});

test('hooks go to the instance, and are remembered', () => {
  const { context } = aSource(1);
  const prepared: unknown[] = [];
  const hook = { prepare: (given: unknown) => void prepared.push(given) };
  context.addHook(hook);
  assert.deepEqual(context.hooks, [hook]);
  assert.deepEqual(prepared, [context]);
});

test('timers go to the instance, impossible times are refused', () => {
  const { context, timers } = aSource(1);
  context.every(10, () => {}).cancel();
  context.after(0, () => {});
  assert.deepEqual(timers, ['every 10', 'cancel every 10', 'after 0']);
  for (const ms of [0, -1, Number.NaN, 2 ** 31]) {
    assert.throws(() => context.every(ms, () => {}), { code: 'INVALID_ARGUMENT' });
  }
  assert.throws(() => context.after(-1, () => {}), { code: 'INVALID_ARGUMENT' });
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
  assert.equal(context.globalMetrics, context.globalMetrics);
  assert.equal(metrics.get('__auto__'), context.globalMetrics);
  context.wake();
  assert.equal(calls.wakes, 1);
});

test('a task that is not in its plan is a mistake of the engine', () => {
  assert.throws(() => aSource(99), { name: 'AssertionError' });
});
