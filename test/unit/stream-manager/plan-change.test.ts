import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { PhysicalPlan } from '../../../src/model/physical-plan.ts';
import { PlanIndex } from '../../../src/model/plan-index.ts';
import { planChange } from '../../../src/stream-manager/plan-change.ts';
import { aPlanOf } from '../../support/planned-tasks.ts';
import { aBolt, aSpout, aTopology } from '../../support/topologies.ts';
import { updated } from '../../support/updated-plans.ts';

const topology = aTopology([aSpout('word'), aBolt('count', ['word'])]);
const plan = aPlanOf(topology, ['word', 1], ['count', 1], ['count', 2]);

function change(before: PhysicalPlan | undefined, after: PhysicalPlan) {
  const index = before === undefined ? undefined : new PlanIndex(before);
  const { added, gone, ...peers } = planChange(index, new PlanIndex(after));
  const tasksOf = (instances: typeof added) => instances.map(({ task }) => task);
  return { added: tasksOf(added), gone: tasksOf(gone), ...peers };
}

const NOTHING = { added: [], gone: [], addedPeers: [], gonePeers: [], replacedPeers: [] };

describe('planChange', () => {
  it('is everything with the first plan', () => {
    const addedPeers = ['stmgr-1', 'stmgr-2'];
    assert.deepEqual(change(undefined, plan), { ...NOTHING, added: [1, 2, 3], addedPeers });
  });

  it('is nothing when tasks are marked only, or the config is another one', () => {
    assert.deepEqual(change(plan, updated(plan, { retire: [2, 3] })), NOTHING);
  });

  it('is what comes and what goes, with its stream managers', () => {
    const after = updated(plan, { add: [['count', 3]], remove: [3] });
    const peers = { addedPeers: ['stmgr-3'], gonePeers: ['stmgr-2'] };
    assert.deepEqual(change(plan, after), { ...NOTHING, added: [4], gone: [3], ...peers });
  });

  it('is another process of a stream manager at the same place', () => {
    const streamManagers = plan.streamManagers.map((address) =>
      address.id === 'stmgr-2' ? { ...address, pid: 9 } : address,
    );
    const after = { ...plan, streamManagers };
    assert.deepEqual(change(plan, after), { ...NOTHING, replacedPeers: ['stmgr-2'] });
  });

  it('takes a task that is somewhere else for another one', () => {
    const after = aPlanOf(topology, ['word', 1], ['count', 2], ['count', 2]);
    assert.deepEqual(change(plan, after), { ...NOTHING, added: [2], gone: [2] });
  });
});
