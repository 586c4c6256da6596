import assert from 'node:assert/strict';
import { test } from 'node:test';
import { epoch, streamManagerId } from '../../../../src/base/ids.ts';
import type { PhysicalPlan } from '../../../../src/model/physical-plan.ts';
import { packRoundRobin } from '../../../../src/packing/round-robin.ts';
import { PlanChecker } from '../../../../src/simulation/checkers/plan-checker.ts';
import { aPhysicalPlan, aTopology } from '../../../support/topologies.ts';

const TOPOLOGY = aTopology();

function aPlan(number: number, change: Partial<PhysicalPlan> = {}): PhysicalPlan {
  const plan = aPhysicalPlan(TOPOLOGY, packRoundRobin(TOPOLOGY).plan);
  return { ...plan, epoch: epoch(number), ...change };
}

interface Sight {
  readonly plan: PhysicalPlan;
  readonly process?: string;
  readonly pid?: number;
}

function problemsOf(...sights: readonly Sight[]): readonly string[] {
  const checker = new PlanChecker();
  sights.forEach(({ plan, process = 'stmgr-1', pid = 7 }, atMs) =>
    checker.observe({ kind: 'plan', atMs, process, pid, plan }),
  );
  return checker.finish();
}

test('epochs may stay and grow, each process at its own time', () => {
  const first = aPlan(1);
  const sights = [
    { plan: first },
    { plan: first },
    { plan: aPlan(4) },
    { plan: first, process: 'stmgr-2' },
    { plan: aPlan(4), process: 'stmgr-2' },
  ];
  assert.deepEqual(problemsOf(...sights), []);
});

test('a process that goes back to an older plan is named', () => {
  assert.deepEqual(problemsOf({ plan: aPlan(4) }, { plan: aPlan(1) }), [
    'stmgr-1 went back from plan 4 to plan 1 at 1 ms',
  ]);
});

test('a new life of a process may begin with an older plan', () => {
  assert.deepEqual(problemsOf({ plan: aPlan(4) }, { plan: aPlan(1), pid: 8 }), []);
});

test('two plans of one epoch are found by any difference', () => {
  const paused = aPlan(1, { topology: { ...TOPOLOGY, state: 'PAUSED' } });
  const [problem] = problemsOf({ plan: aPlan(1) }, { plan: paused, process: 'stmgr-2' });
  assert.equal(problem, 'stmgr-2 has another plan 1 than others at 1 ms');
});

test('tasks stay where they are over all plans', () => {
  const before = aPlan(1);
  const moved = before.instances.map((instance, at) =>
    at === 0 ? { ...instance, streamManager: streamManagerId('stmgr-9') } : instance,
  );
  assert.deepEqual(problemsOf({ plan: before }, { plan: aPlan(2, { instances: moved }) }), [
    'stmgr-1: task 1 is container_1_sentences_1 at stmgr-9 in plan 2, ' +
      'and was container_1_sentences_1 at stmgr-1, at 1 ms',
  ]);
});
