import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type Reliability, reliabilityOf } from '../../../src/model/reliability.ts';

const CASES: readonly (readonly [Readonly<Record<string, string>>, Reliability])[] = [
  [{}, 'ATMOST_ONCE'],
  [{ 'topology.reliability.mode': 'ATMOST_ONCE' }, 'ATMOST_ONCE'],
  [{ 'topology.reliability.mode': 'ATLEAST_ONCE' }, 'ATLEAST_ONCE'],
  [{ 'topology.reliability.mode': ' atleast_once ' }, 'ATLEAST_ONCE'],
  [{ 'topology.reliability.mode': 'EFFECTIVELY_ONCE' }, 'ATMOST_ONCE'],
  [{ 'topology.acking': 'true' }, 'ATLEAST_ONCE'],
  [{ 'topology.acking': 'false' }, 'ATMOST_ONCE'],
  [{ 'topology.acking': 'true', 'topology.reliability.mode': 'ATMOST_ONCE' }, 'ATMOST_ONCE'],
];

for (const [config, expected] of CASES) {
  test(`${JSON.stringify(config)} is ${expected}`, () => {
    assert.equal(reliabilityOf(new Map(Object.entries(config))), expected);
  });
}
