import assert from 'node:assert/strict';
import { streamManagerId } from '../../src/base/ids.ts';
import type { FailReason } from '../../src/model/fail-reason.ts';
import type { PhysicalPlan } from '../../src/model/physical-plan.ts';
import type { ArrivedTuple } from './acked-data-paths.ts';
import { aPlanOf } from './planned-tasks.ts';
import { aBolt, aSpout, aTopology } from './topologies.ts';

/* The smallest plans whose trees have something to them. */

export const FIRST = streamManagerId('stmgr-1');
export const SECOND = streamManagerId('stmgr-2');
export const THIRD = streamManagerId('stmgr-3');

/** Task 1 of `word` in container 1, task 2 of `count`, which reads it, in another or the same. */
export function aPair(countContainer: number): PhysicalPlan {
  const topology = aTopology([aSpout('word'), aBolt('count', ['word'])]);
  return aPlanOf(topology, ['word', 1], ['count', countContainer]);
}

/** `word` (1) → `split` (2) → `count` (3), each in the container that is named. */
export function aChain(...containers: readonly [number, number, number]): PhysicalPlan {
  const topology = aTopology([aSpout('word'), aBolt('split', ['word']), aBolt('count', ['split'])]);
  const [word, split, count] = containers;
  return aPlanOf(topology, ['word', word], ['split', split], ['count', count]);
}

/** One of the tuples of a bolt, which has to be there. */
export function the(tuples: readonly ArrivedTuple[], index = 0): ArrivedTuple {
  const tuple = tuples[index];
  assert.ok(tuple !== undefined, 'the tuple has arrived');
  return tuple;
}

/** What of a reason tells where. */
export function placeOf({ kind, component, task }: FailReason) {
  return [kind, component, task];
}
