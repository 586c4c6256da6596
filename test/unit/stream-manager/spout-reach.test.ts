import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { taskId } from '../../../src/base/ids.ts';
import type { PhysicalPlan } from '../../../src/model/physical-plan.ts';
import { PlanIndex } from '../../../src/model/plan-index.ts';
import { planChange } from '../../../src/stream-manager/plan-change.ts';
import { SpoutReach } from '../../../src/stream-manager/spout-reach.ts';
import { aPlanOf } from '../../support/planned-tasks.ts';
import { aBolt, aSpout, aTopology } from '../../support/topologies.ts';
import { FIRST, SECOND, THIRD } from '../../support/tree-plans.ts';
import { updated } from '../../support/updated-plans.ts';

/* left (1) → split (3, in 2) → count (4, in 3);  right (2) → other (5, in 3) */
const topology = aTopology([
  aSpout('left'),
  aSpout('right'),
  aBolt('split', ['left']),
  aBolt('count', ['split']),
  aBolt('other', ['right']),
]);
const plan = aPlanOf(topology, ['left', 1], ['right', 1], ['split', 2], ['count', 3], ['other', 3]);

/** Works by one plan after the other; the spouts are here. */
function reachBy(...plans: readonly PhysicalPlan[]): SpoutReach {
  const reach = new SpoutReach();
  let before: PlanIndex | undefined;
  for (const one of plans) {
    const index = new PlanIndex(one);
    reach.update(index, [1, 2].map(taskId), planChange(before, index));
    before = index;
  }
  return reach;
}

describe('SpoutReach', () => {
  it('knows the spouts whose tuples get to a stream manager, over any number of bolts', () => {
    const reach = reachBy(plan);
    assert.deepEqual(reach.linkDown(SECOND), [1]);
    assert.deepEqual(reach.linkDown(THIRD), [1, 2]);
    assert.deepEqual(reach.linkDown(FIRST), []);
  });

  it('counts the first link with a stream manager that is new as harmless, and no other', () => {
    const reach = reachBy(plan);
    assert.deepEqual(reach.linkUp(SECOND), []);
    assert.deepEqual(reach.linkUp(SECOND), [1]);
    assert.deepEqual(reach.linkDown(THIRD), [1, 2]); // Of a link that came before the plan.
    assert.deepEqual(reach.linkUp(THIRD), [1, 2]);
  });

  it('does so when an update brings it, while links with the others cost their trees', () => {
    const reach = reachBy(plan, updated(plan, { add: [['count', 4]] }));
    const fourth = 'stmgr-4' as typeof FIRST;
    for (const peer of [SECOND, THIRD]) reach.linkUp(peer);
    assert.deepEqual(reach.linkUp(fourth), []);
    assert.deepEqual(reach.linkUp(fourth), [1]);
  });

  it('does not when it has become another process before that', () => {
    const streamManagers = plan.streamManagers.map((address) =>
      address.id === SECOND ? { ...address, pid: 9 } : address,
    );
    assert.deepEqual(reachBy(plan, { ...plan, streamManagers }).linkUp(SECOND), [1]);
  });

  it('reaches tasks that retire, and none in a stream manager that has left', () => {
    const retiring = updated(plan, { add: [['split', 3]], retire: [3] });
    assert.deepEqual(reachBy(plan, retiring).linkDown(SECOND), [1]);
    const gone = updated(retiring, { remove: [3] });
    assert.deepEqual(reachBy(plan, retiring, gone).linkDown(SECOND), []);
  });
});
