import assert from 'node:assert/strict';
import { test } from 'node:test';
import { summaryOf } from '../../../../src/cli/dev/component-metrics.ts';
import { aBolt, anInput, anOutput, aSpout } from '../../../support/topologies.ts';

test('a spout: what it emitted on all streams, by all tasks', () => {
  const spout = aSpout('words', { outputs: [anOutput(['word']), anOutput(['word'], 'late')] });
  const values = new Map([
    ['__emit-count/default', [3, 4]],
    ['__emit-count/late', [5]],
    ['__fail-count/default', [1]],
    ['__next-tuple-latency', [2_000_000, 4_000_000]],
    ['__emit-count/elsewhere', [99]],
  ]);
  const { emitted, executed, failed, latencyMs } = summaryOf(spout, values);
  assert.deepEqual([emitted, executed, failed, latencyMs], [12, 0, 1, 3]);
});

test('a bolt: what it executed of all inputs', () => {
  const bolt = aBolt('join', [anInput('left'), anInput('right')], { parallelism: 2 });
  const values = new Map([
    ['__execute-count/left/default', [1, 2]],
    ['__execute-count/right/default', [3]],
    ['__fail-count/right/default', [1, 1]],
    ['__execute-latency/left/default', [1_000_000, Number.NaN]],
  ]);
  const { tasks, executed, failed, latencyMs } = summaryOf(bolt, values);
  assert.deepEqual([tasks, executed, failed, latencyMs], [2, 6, 2, 1]);
});

test('what is not known yet counts as nothing', () => {
  const { emitted, executed, failed, latencyMs } = summaryOf(aSpout('words'), new Map());
  assert.deepEqual([emitted, executed, failed, latencyMs], [0, 0, 0, undefined]);
});
