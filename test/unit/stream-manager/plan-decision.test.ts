import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { epoch, topologyId } from '../../../src/base/ids.ts';
import type { PhysicalPlan } from '../../../src/model/physical-plan.ts';
import { decidePlan, type PlanFacts } from '../../../src/stream-manager/plan-decision.ts';
import { aPlanOf } from '../../support/planned-tasks.ts';
import { aTopology } from '../../support/topologies.ts';

const topology = aTopology();
const plan = aPlanOf(topology, ['sentences', 1], ['split', 2], ['count', 1]);

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
      'refuses one with fewer instances here',
      aPlanOf(topology, ['sentences', 1], ['split', 2]),
      undefined,
      'refuse',
    ],
    [
      'leaves a plan with other tasks to a new process',
      {
        ...aPlanOf(topology, ['sentences', 1], ['split', 2], ['count', 1], ['count', 2]),
        epoch: epoch(2),
      },
      plan,
      'restart',
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
});
