import assert from 'node:assert/strict';
import { test } from 'node:test';
import { taskId, topologyId } from '../../../../src/base/ids.ts';
import { InstanceProcess } from '../../../../src/instance/instance-process.ts';
import type { PhysicalPlan } from '../../../../src/model/physical-plan.ts';
import { packRoundRobin } from '../../../../src/packing/round-robin.ts';
import type { SimulationEvent } from '../../../../src/simulation/checkers/checker.ts';
import { ProcessSampler } from '../../../../src/simulation/checkers/process-sampler.ts';
import { createWorkload } from '../../../../src/simulation/workload/workload.ts';
import { StreamManager } from '../../../../src/stream-manager/stream-manager.ts';
import { TopologyMaster } from '../../../../src/topology-master/topology-master.ts';
import { aPhysicalPlan } from '../../../support/topologies.ts';
import { aWorkloadPlan } from '../workload/small-workloads.ts';

const workload = aWorkloadPlan();
const { topology: declared } = createWorkload(workload).topology;
const topology = { ...declared, id: topologyId('small-1'), state: 'RUNNING' } as const;
const plan = aPhysicalPlan(topology, packRoundRobin(topology).plan);

/** An object of a class, with these in place of its getters. */
function anObject(made: { readonly prototype: object }, getters: Record<string, unknown>): object {
  const properties = Object.entries(getters).map(([name, value]) => [name, { value }]);
  return Object.create(made.prototype, Object.fromEntries(properties)) as object;
}

function aStreamManager(planInForce: PhysicalPlan | undefined): object {
  const outbox = { task: taskId(1), queuedBytes: 7, underWayBytes: 0 };
  const holdings = { outboxes: [outbox], destinations: [], heldBytes: 0 };
  const backPressure = { announced: [], holds: [], held: new Set() };
  return anObject(StreamManager, { plan: planInForce, holdings, backPressure, liveTrees: 3 });
}

function aSampler() {
  const events: SimulationEvent[] = [];
  const tell = (event: SimulationEvent): void => void events.push(event);
  return { events, sampler: new ProcessSampler({ workload, tell, periodMs: 100 }) };
}

test('plans of stream managers and masters are told, and what is held', () => {
  const { events, sampler } = aSampler();
  const processes = [
    { name: 'heron-tmanager', pid: 1, object: anObject(TopologyMaster, { plan }) },
    { name: 'stmgr-1', pid: 2, object: aStreamManager(plan) },
    { name: 'metricsmgr-1', pid: 3, object: {} },
    { name: 'stmgr-2', pid: 4, object: undefined },
  ];
  sampler.look(processes, 5);
  assert.deepEqual(
    events.map((event) => ('process' in event ? `${event.kind} ${event.process}` : event.kind)),
    ['plan heron-tmanager', 'plan stmgr-1', 'pressure stmgr-1', 'measures stmgr-1'],
  );
  const [, , pressure, measured] = events;
  assert.ok(pressure?.kind === 'pressure' && pressure.liveTrees === 3);
  assert.ok(measured?.kind === 'measures');
  assert.deepEqual(
    measured.measures.map(({ what, bytes }) => `${what}: ${bytes}`),
    ['sets that wait in all outboxes: 7'],
    'what is empty is left out',
  );
});

test('before there is a plan there is nothing to tell', () => {
  const { events, sampler } = aSampler();
  sampler.look([{ name: 'stmgr-1', pid: 2, object: aStreamManager(undefined) }], 5);
  assert.deepEqual(events, []);
});

test('what an instance keeps is measured by its task', () => {
  const { events, sampler } = aSampler();
  const instance = anObject(InstanceProcess, {
    identity: { component: 'source' },
    task: { keptBytes: 9 },
  });
  const master = { name: 'heron-tmanager', pid: 1, object: anObject(TopologyMaster, { plan }) };
  sampler.look([master, { name: 'container_1_source_1', pid: 2, object: instance }], 5);
  const measured = events.at(-1);
  assert.ok(measured?.kind === 'measures');
  assert.deepEqual(
    measured.measures.map(({ bytes }) => bytes),
    [9],
  );
});

test('looks that come too soon are left out', () => {
  const { events, sampler } = aSampler();
  const processes = [{ name: 'stmgr-1', pid: 2, object: aStreamManager(plan) }];
  for (const nowMs of [0, 25, 99, 100, 150]) sampler.look(processes, nowMs);
  assert.deepEqual(
    events.filter(({ kind }) => kind === 'plan').map(({ atMs }) => atMs),
    [0, 100],
  );
});
