import assert from 'node:assert/strict';
import { test } from 'node:test';
import { containerId } from '../../../src/base/ids.ts';
import { commonFlags } from '../../../src/executor/executor-arguments.ts';
import { heapLimitMb, wantedProcesses } from '../../../src/executor/wanted-processes.ts';
import { executorArguments } from '../../support/executor-arguments.ts';
import { packingPlanOf } from '../../support/packing-plans.ts';

const plan = packingPlanOf({ 1: ['words:1', 'count:3'], 2: ['words:2'] });
const ports = {
  server: 9001,
  controller: 9002,
  stats: 9003,
  metricsManager: 9004,
  metricsPages: 9005,
  metricsCacheServer: 9006,
  metricsCacheStats: 9007,
  shell: 9008,
};

function wantedIn(container: number, hasMetricsCache = true) {
  const common = executorArguments({ containerId: containerId(container) });
  return wantedProcesses(plan, common, ports, { hasMetricsCache });
}

test('container 0 has the topology master, whatever the packing plan says', () => {
  const [metrics, master, cache, ...others] = wantedIn(0);
  assert.deepEqual(others, []);
  const common = commonFlags(executorArguments({ containerId: containerId(0) }));
  assert.deepEqual(master, {
    name: 'heron-tmanager',
    role: 'topology-master',
    entry: 'topology-master/main',
    flags: [
      ...common,
      '--server-port=9001',
      '--controller-port=9002',
      '--stats-port=9003',
      '--metrics-manager-port=9004',
    ],
    heapLimitMb: undefined,
  });
  assert.deepEqual(metrics?.flags, [
    ...common,
    '--id=metricsmgr-0',
    '--port=9004',
    '--http-port=9005',
  ]);
  assert.deepEqual(cache, {
    name: 'heron-metricscache',
    role: 'metrics-cache',
    entry: 'metrics-cache/main',
    flags: [
      ...common,
      '--id=heron-metricscache',
      '--server-port=9006',
      '--stats-port=9007',
      '--metrics-manager-port=9004',
    ],
    heapLimitMb: undefined,
  });
});

test('a metrics cache that is switched off is not wanted', () => {
  assert.deepEqual(
    wantedIn(0, false).map(({ name }) => name),
    ['metricsmgr-0', 'heron-tmanager'],
  );
});

test('container n has a stream manager, a metrics manager and its instances', () => {
  const wanted = wantedIn(1);
  assert.deepEqual(
    wanted.map(({ name, role, entry }) => [name, role, entry]),
    [
      ['metricsmgr-1', 'metrics-manager', 'metrics-manager/main'],
      ['stmgr-1', 'stream-manager', 'stream-manager/main'],
      ['container_1_words_1', 'instance', 'instance/main'],
      ['container_1_count_3', 'instance', 'instance/main'],
    ],
  );
  const common = commonFlags(executorArguments());
  assert.deepEqual(wanted[1]?.flags, [
    ...common,
    '--id=stmgr-1',
    '--instance-ids=container_1_words_1,container_1_count_3',
    '--data-port=9001',
    '--local-data-port=9002',
    '--metrics-manager-port=9004',
    '--shell-port=9008',
  ]);
  assert.deepEqual(wanted[3]?.flags, [
    ...common,
    '--instance-id=container_1_count_3',
    '--component-name=count',
    '--task-id=3',
    '--component-index=0',
    '--stream-manager-id=stmgr-1',
    '--stream-manager-port=9002',
    '--metrics-manager-port=9004',
  ]);
});

test('a container that is not in the plan has nothing', () => {
  assert.deepEqual(wantedIn(3), []);
});

const MEBIBYTE = 1024 * 1024;
const limits: readonly [ramMb: number, heapMb: number | undefined][] = [
  [0, undefined],
  [128, undefined],
  [191, undefined],
  [192, 64],
  [1024, 896],
];

for (const [ramMb, heapMb] of limits) {
  test(`an instance with ${ramMb} MB of RAM gets a heap of ${heapMb ?? 'any'} MB`, () => {
    assert.equal(heapLimitMb(ramMb * MEBIBYTE), heapMb);
  });
}
