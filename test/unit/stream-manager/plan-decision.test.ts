import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { epoch, topologyId } from '../../../src/base/ids.ts';
import type { PhysicalPlan } from '../../../src/model/physical-plan.ts';
import { decidePlan, type PlanFacts } from '../../../src/stream-manager/plan-decision.ts';
import { aPlanOf } from '../../support/planned-tasks.ts';
import { aTopology } from '../../support/topologies.ts';
import { updated } from '../../support/updated-plans.ts';

const topology = aTopology();
const plan = aPlanOf(topology, ['sentences', 1], ['split', 2], ['count', 1]);
/** All tasks of the first container go. */
const retiring = updated(plan, { retire: [1, 3] });

function facts(current?: PhysicalPlan): PlanFacts {
  const own = plan.streamManagers[0]?.id;
  assert.ok(own !== undefined);
  return {
    streamManager: own,
    topologyId: topology.id,
    instanceIds: new Set(
      plan.instances.filter((instance) => instance.streamManager === own).map(({ id }) => id),
    ),
    current,
  };
}

describe('decidePlan', () => {
  const kinds: [
    what: string,
    plan: PhysicalPlan,
    current: PhysicalPlan | undefined,
    kind: string,
  ][] = [
    ['accepts the first plan', plan, undefined, 'accept'],
    ['accepts a newer one', { ...plan, epoch: epoch(2) }, plan, 'accept'],
    ['ignores the same one', plan, plan, 'ignore'],
    [
      'accepts another one of a foreign master, which numbers none',
      { ...plan, epoch: epoch(0) },
      { ...plan, epoch: epoch(0) },
      'accept',
    ],
    ['refuses an older one', plan, { ...plan, epoch: epoch(2) }, 'refuse'],
    [
      'refuses one of another submit',
      { ...plan, topology: { ...topology, id: topologyId('words-2') } },
      undefined,
      'refuse',
    ],
    [
      'refuses one without this stream manager',
      { ...plan, streamManagers: plan.streamManagers.slice(1) },
      undefined,
      'refuse',
    ],
    [
      'refuses one with other instances here',
      aPlanOf(topology, ['sentences', 1], ['split', 1], ['count', 1]),
      undefined,
      'refuse',
    ],
    [
      'accepts one with fewer instances here: others have registered for an update',
      aPlanOf(topology, ['sentences', 1], ['split', 2]),
      undefined,
      'accept',
    ],
    [
      'accepts one with other tasks elsewhere',
      updated(plan, { add: [['count', 2]] }),
      plan,
      'accept',
    ],
    [
      'refuses one with a task here that is not expected',
      updated(plan, { add: [['count', 1]] }),
      plan,
      'refuse',
    ],
    ['accepts one that marks tasks as retiring', retiring, plan, 'accept'],
    [
      'accepts one without this stream manager when all that it had was retiring',
      updated(retiring, { remove: [1, 3] }),
      retiring,
      'accept',
    ],
    [
      'refuses one without it while a task of it stays',
      updated(updated(plan, { retire: [1] }), { remove: [1, 3] }),
      updated(plan, { retire: [1] }),
      'refuse',
    ],
    [
      'refuses one with tasks for a stream manager that it does not have',
      { ...retiring, epoch: epoch(3), streamManagers: retiring.streamManagers.slice(1) },
      retiring,
      'refuse',
    ],
    [
      'works on when only addresses change',
      {
        ...plan,
        epoch: epoch(2),
        streamManagers: plan.streamManagers.map((address) => ({ ...address, dataPort: 1 })),
      },
      plan,
      'accept',
    ],
  ];
  for (const [what, incoming, current, kind] of kinds) {
    it(what, () => assert.equal(decidePlan(incoming, facts(current)).kind, kind));
  }

  it('accepts instances of the plan in force that are expected no more', () => {
    const known = { ...facts(plan), instanceIds: new Set<never>() };
    assert.equal(decidePlan({ ...plan, epoch: epoch(2) }, known).kind, 'accept');
  });
});
