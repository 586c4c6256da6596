import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { componentName, streamManagerId } from '../../../src/base/ids.ts';
import { PlanIndex } from '../../../src/model/plan-index.ts';
import { UpstreamSpouts } from '../../../src/stream-manager/upstream-spouts.ts';
import { aPlanOf } from '../../support/planned-tasks.ts';
import { aBolt, anInput, aSpout, aTopology } from '../../support/topologies.ts';

/*
  left ─> split ─> count ─> join <── right      lone ─> sink
    └───────────────────────^
*/
const topology = aTopology([
  aSpout('left'),
  aSpout('right'),
  aSpout('lone'),
  aBolt('split', [anInput('left')]),
  aBolt('count', [anInput('split')]),
  aBolt('join', [anInput('count'), anInput('right'), anInput('left')]),
  aBolt('sink', [anInput('lone')]),
]);
const plan = new PlanIndex(
  aPlanOf(
    topology,
    ...([
      ['left', 1],
      ['left', 2],
      ['right', 1],
      ['lone', 1],
    ] as const),
    ...([
      ['split', 1],
      ['count', 1],
      ['join', 2],
      ['sink', 2],
    ] as const),
  ),
);

function ofFirst(component: string | undefined, scope: 'upstream' | 'all' = 'upstream') {
  const spouts = new UpstreamSpouts(plan, streamManagerId('stmgr-1'), scope);
  return [...spouts.of(component === undefined ? undefined : componentName(component))];
}

describe('UpstreamSpouts', () => {
  it('are those here whose tuples reach the component, over any number of bolts', () => {
    assert.deepEqual(ofFirst('split'), [1]);
    assert.deepEqual(ofFirst('count'), [1]);
    assert.deepEqual(ofFirst('join'), [1, 3]);
    assert.deepEqual(ofFirst('sink'), [4]);
  });

  it('are all without a component, with an unknown one, and with the scope all (R12)', () => {
    assert.deepEqual(ofFirst(undefined), [1, 3, 4]);
    assert.deepEqual(ofFirst('who'), [1, 3, 4]);
    assert.deepEqual(ofFirst('sink', 'all'), [1, 3, 4]);
  });

  it('are none for a spout, and in a container without spouts', () => {
    assert.deepEqual(ofFirst('left'), []);
    const none = new UpstreamSpouts(plan, streamManagerId('stmgr-9'), 'all');
    assert.deepEqual([...none.of(undefined)], []);
  });
});
