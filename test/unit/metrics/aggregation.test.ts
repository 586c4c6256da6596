import assert from 'node:assert/strict';
import { test } from 'node:test';
import { aggregationOf } from '../../../src/metrics/aggregation.ts';

const CASES = [
  ['__emit-count/default', 'sum'],
  ['__execute-latency/words/default', 'average'],
  ['__jvm-memory-used-mb', 'last'],
  ['__server/__time_spent_back_pressure_initiated', 'sum'],
  ['__time_spent_back_pressure_by_compid/container_1_word_1', 'sum'],
  ['__process/__cpu_user_usec', undefined],
  ['files-done', 'sum'],
  ['my/__emit-count', 'sum'],
] as const;

for (const [name, aggregation] of CASES) {
  test(`${name}: ${aggregation ?? 'not kept by the master'}`, () => {
    assert.equal(aggregationOf(name), aggregation);
  });
}
