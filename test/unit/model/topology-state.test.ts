import assert from 'node:assert/strict';
import { test } from 'node:test';
import { containerId } from '../../../src/base/ids.ts';
import { expectedProcesses } from '../../../src/model/expected-processes.ts';
import { type StateFacts, topologyState } from '../../../src/model/topology-state.ts';
import type { ProcessState } from '../../../src/model/container-report.ts';
import { packingPlanOf } from '../../support/packing-plans.ts';
import { aPhysicalPlan, aTopology } from '../../support/topologies.ts';

const topology = aTopology();
const packingPlan = packingPlanOf({ 1: ['sentences:1', 'split:2', 'count:3'] });
const physicalPlan = aPhysicalPlan(topology, packingPlan);
const completion = {
  topologyId: topology.id,
  completedAtMs: 1,
  result: 'completed',
  incidents: [],
  recovered: [],
} as const;

function reports(state: ProcessState = 'running') {
  const processes = expectedProcesses(packingPlan).map((name, index) => ({
    name,
    pid: 1,
    state: index === 0 ? state : ('running' as const),
    restarts: 0,
    startedAtMs: 1,
  }));
  return [{ containerId: containerId(0), host: 'here', pid: 1, startedAtMs: 1, processes }];
}

const RUNS: StateFacts = {
  id: topology.id,
  packingPlan,
  physicalPlan,
  reports: reports(),
  completion: undefined,
  isDamaged: false,
  scheduler: 'alive',
};

test('one word for every mixture of facts', () => {
  const paused = { ...physicalPlan, topology: { ...topology, state: 'PAUSED' } as const };
  const killed = { ...physicalPlan, topology: { ...topology, state: 'KILLED' } as const };
  const cases: readonly (readonly [Partial<StateFacts>, string])[] = [
    [{}, 'RUNNING'],
    [{ scheduler: 'restarted' }, 'RUNNING'],
    [{ physicalPlan: paused }, 'PAUSED'],
    [{ physicalPlan: killed, reports: [] }, 'DRAINING'],
    [{ physicalPlan: undefined }, 'STARTING'],
    [{ physicalPlan: undefined, scheduler: undefined }, 'STARTING'],
    [{ reports: reports('restarting') }, 'DEGRADED'],
    [{ reports: reports('failed'), physicalPlan: paused }, 'DEGRADED'],
    [{ reports: [] }, 'DEGRADED'],
    [{ scheduler: undefined }, 'DEGRADED'],
    [{ scheduler: 'absent' }, 'HALF_DEAD'],
    [{ scheduler: 'absent', physicalPlan: undefined, reports: [] }, 'HALF_DEAD'],
    [{ completion, reports: [] }, 'COMPLETED'],
    [{ completion, isDamaged: true }, 'DAMAGED'],
  ];
  for (const [changes, expected] of cases) {
    assert.equal(topologyState({ ...RUNS, ...changes }), expected, JSON.stringify(changes));
  }
});

test('an update does not make a topology degraded, before and after it is in force', () => {
  const more = packingPlanOf({ 1: ['sentences:1', 'split:2', 'count:3'], 2: ['count:4'] });
  assert.equal(topologyState({ ...RUNS, packingPlan: more }), 'RUNNING');
  const physical = aPhysicalPlan(topology, more);
  assert.equal(topologyState({ ...RUNS, packingPlan: more, physicalPlan: physical }), 'DEGRADED');
  assert.equal(topologyState({ ...RUNS, physicalPlan: physical }), 'RUNNING');
});
