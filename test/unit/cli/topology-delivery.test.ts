import assert from 'node:assert/strict';
import { test } from 'node:test';
import { deliveryOf, heldFor } from '../../../src/cli/topology-delivery.ts';
import { aggregationOf } from '../../../src/metrics/aggregation.ts';
import { anInstance } from '../../support/placements.ts';
import { aBolt, anInput, anOutput, aSpout } from '../../support/topologies.ts';

test('a spout: pending, acked and failed messages of all streams and tasks', () => {
  const spout = aSpout('lines', { outputs: [anOutput(['line']), anOutput(['line'], 'late')] });
  const values = new Map([
    ['__pending-acked-count', [3, 4]],
    ['__ack-count/default', [10, 20]],
    ['__ack-count/late', [5]],
    ['__fail-count/late', [2, 1]],
    ['__fail-reason/time-out', [2]],
    ['__fail-reason/thrown', [1]],
    ['__dead-letter-count/thrown', [1]],
    ['__dead-letter-count/unreadable', [2, Number.NaN]],
  ]);
  assert.deepEqual(deliveryOf(spout, values), {
    component: 'lines',
    pending: 7,
    acked: 35,
    failed: 3,
    failedBecause: { 'time-out': 2, thrown: 1 },
    deadLetters: 3,
  });
});

test('a bolt: what it acked and failed of all that it reads', () => {
  const bolt = aBolt('join', [anInput('left'), anInput('right')]);
  const values = new Map([
    ['__ack-count/left/default', [1, 2]],
    ['__ack-count/right/default', [3]],
    ['__fail-count/right/default', [1]],
    ['__fail-reason/explicit', [1]],
  ]);
  assert.deepEqual(deliveryOf(bolt, values), {
    component: 'join',
    pending: null,
    acked: 6,
    failed: 1,
    failedBecause: { explicit: 1 },
    deadLetters: null,
  });
});

test('of what the master knows nothing, nothing is said', () => {
  assert.equal(deliveryOf(aSpout('lines'), new Map()), undefined);
  assert.equal(deliveryOf(aSpout('lines'), new Map([['__ack-count/default', []]])), undefined);
});

test('tasks that spouts waited for, by all stream managers, the longest first', () => {
  const [one, two, three] = [anInstance(1, 1), anInstance(1, 2), anInstance(2, 3)];
  const metric = (id: string): string => `__time_spent_back_pressure_by_compid/${id}`;
  const values = new Map([
    [metric(one.id), [100, 50]],
    [metric(two.id), [0]],
    [metric(three.id), [400]],
  ]);
  assert.deepEqual(heldFor([one, two, three], values), [
    { component: 'word', task: 3, ms: 400 },
    { component: 'word', task: 1, ms: 150 },
  ]);
});

test('the topology master keeps what is asked for', () => {
  for (const [metric, aggregation] of [
    ['__fail-reason/time-out', 'sum'],
    ['__dead-letter-count/thrown', 'sum'],
    ['__pending-acked-count', 'last'],
    ['__ack-count/default', 'sum'],
    ['__time_spent_back_pressure_by_compid/container_1_word_1', 'sum'],
  ] as const) {
    assert.equal(aggregationOf(metric), aggregation);
  }
});
