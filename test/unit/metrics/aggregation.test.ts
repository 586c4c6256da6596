import assert from 'node:assert/strict';
import { test } from 'node:test';
import { aggregationOf, kindOf } from '../../../src/metrics/aggregation.ts';

const CASES = [
  ['__emit-count/default', 'sum'],
  ['__execute-latency/words/default', 'average'],
  ['__jvm-memory-used-mb', 'last'],
  ['__server/__time_spent_back_pressure_initiated', 'sum'],
  ['__time_spent_back_pressure_by_compid/container_1_word_1', 'sum'],
  ['__process/__cpu_user_usec', undefined],
  ['files-done', 'sum'],
  ['__auto__/retries', 'sum'],
  ['my/__emit-count', 'sum'],
] as const;

for (const [name, aggregation] of CASES) {
  test(`${name}: ${aggregation ?? 'not kept by the master'}`, () => {
    assert.equal(aggregationOf(name), aggregation);
  });
}

test('what users count is kept by its kind', () => {
  assert.equal(aggregationOf('queue-length', 'value'), 'last');
  assert.equal(aggregationOf('lookup-time', 'mean'), 'average');
  assert.equal(aggregationOf('files-done', 'count'), 'sum');
});

test("the list of Heron's is closed, whatever a publisher says", () => {
  assert.equal(aggregationOf('__process/__cpu_user_usec', 'value'), undefined);
  assert.equal(aggregationOf('__emit-count/default', 'value'), 'sum');
});

const KINDS = [
  ['__emit-count/default', 'count'],
  ['__complete-latency/default', 'mean'],
  ['__jvm-memory-used-mb', 'value'],
  ['__gateway-received-packets-count', 'count'],
  ['__next-tuple-count/default', 'count'],
  ['__jvm-thread-count', 'value'],
  ['__py-generation-1-count', 'value'],
  ['__gateway-in-stream-queue-size', 'value'],
  ['files-done', 'count'],
] as const;

for (const [name, kind] of KINDS) {
  test(`${name} from another engine is a ${kind}`, () => {
    assert.equal(kindOf({ name, value: '1' }), kind);
  });
}

test('a kind that was told decides', () => {
  assert.equal(kindOf({ name: '__emit-count/default', value: '1', kind: 'value' }), 'value');
});
