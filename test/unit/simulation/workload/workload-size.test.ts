import assert from 'node:assert/strict';
import { test } from 'node:test';
import { sizeOf } from '../../../../src/simulation/workload/workload-size.ts';
import { aBoltPlan, aSpoutPlan } from './small-workloads.ts';

test('tuples are counted along the graph, with copies, fan-out and finish', () => {
  const streams = [{ name: 'default', payloadBytes: [10, 20], keys: 1 }];
  const spouts = [aSpoutPlan({ parallelism: 2, tuples: 5, streams })];
  const middle = aBoltPlan({
    name: 'middle',
    parallelism: 3,
    streams,
    fanOut: 2,
    emitsInFinish: 1,
  });
  const sink = aBoltPlan({
    name: 'sink',
    parallelism: 4,
    inputs: [{ component: 'middle', stream: 'default', grouping: { kind: 'all' } }],
  });
  const { executions, emits, payloadBytes } = sizeOf({ spouts, bolts: [middle, sink] });
  const fromMiddle = 10 * 2 + 3;
  assert.equal(executions, 10 + fromMiddle * 4);
  assert.equal(emits, 10 + fromMiddle);
  assert.equal(payloadBytes, 15 * executions);
});

test('a custom grouping gives as many copies as it says, where there are so many tasks', () => {
  const executionsOf = (parallelism: number): number =>
    sizeOf({
      spouts: [aSpoutPlan({ tuples: 4 })],
      bolts: [aBoltPlan({ parallelism }, { kind: 'custom', copies: 2 })],
    }).executions;
  assert.deepEqual([1, 2, 3].map(executionsOf), [4, 8, 8]);
});

test('a spout fills its streams in turn, from the second one on', () => {
  const streams = ['a', 'b', 'c'].map((name) => ({ name, payloadBytes: [0], keys: 1 }));
  const reading = (stream: string) =>
    sizeOf({
      spouts: [aSpoutPlan({ tuples: 4, streams })],
      bolts: [
        aBoltPlan({ inputs: [{ component: 'source', stream, grouping: { kind: 'shuffle' } }] }),
      ],
    }).executions;
  assert.deepEqual(['a', 'b', 'c'].map(reading), [1, 2, 1]);
});
