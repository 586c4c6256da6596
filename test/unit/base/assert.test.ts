import assert from 'node:assert/strict';
import test from 'node:test';
import * as own from '../../../src/base/assert.ts';

test('a belief that holds does nothing, one that does not throws its reason', () => {
  own.assert(true, 'fine');
  assert.throws(() => own.assert(false, 'the plan is older'), {
    name: 'AssertionError',
    message: 'the plan is older',
  });
});

test('only undefined counts as absent', () => {
  for (const value of [0, '', false, null]) assert.equal(own.assertDefined(value, 'x'), value);
  assert.throws(() => own.assertDefined(undefined, 'no such task'), { message: 'no such task' });
});

test('an unexpected case is named', () => {
  assert.throws(() => own.unreachable('seventh' as never), {
    message: 'unexpected case "seventh"',
  });
});
