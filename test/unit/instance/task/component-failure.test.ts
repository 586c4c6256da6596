import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { Tuple, TupleOrigin } from '../../../../src/api/tuple.ts';
import { userError } from '../../../../src/base/errors.ts';
import { componentName, streamName, taskId } from '../../../../src/base/ids.ts';
import { componentFailure } from '../../../../src/instance/task/component-failure.ts';

const identity = { component: componentName('count'), task: taskId(3) };
const origin = new TupleOrigin(componentName('split'), streamName('default'), ['word']);

function onTuple(...values: unknown[]): string {
  const tuple = new Tuple(origin, taskId(2), values);
  return componentFailure('no', { identity, callback: 'execute', tuple }).message;
}

describe('what a component threw', () => {
  it('names component, task and method, and keeps the stack of the author', () => {
    const thrown = new TypeError('word is undefined');
    const error = componentFailure(thrown, { identity, callback: 'open' });
    assert.equal(error.code, 'COMPONENT_FAILED');
    assert.equal(error.domain, 'user');
    assert.equal(error.message, "open of 'count' (task 3) failed: word is undefined");
    assert.equal(error.stack, thrown.stack);
    assert.equal(error.cause, thrown);
  });

  it('names the tuple', () => {
    assert.equal(
      onTuple('heron', 7n),
      "execute of 'count' (task 3) failed on the tuple [ 'heron', 7n ] of " +
        'split/default (task 2): no',
    );
  });

  it('O39: shows any values, and never too much of them', () => {
    const cyclic: unknown[] = [];
    cyclic.push(cyclic);
    const bare: unknown = Object.create(null);
    const hostile = {
      get field() {
        throw new Error('must not be called');
      },
    };
    assert.match(onTuple(cyclic, bare, hostile, new Map([[1, 2]])), /Circular.*Map\(1\)/);
    assert.ok(onTuple('x'.repeat(100_000)).length < 400);
    assert.ok(onTuple(Array.from({ length: 10_000 }, (_, index) => index)).length < 400);
  });

  it('keeps the code of an error of the engine', () => {
    const thrown = userError('TUPLE_TOO_LARGE', 'too large');
    const error = componentFailure(thrown, { identity, callback: 'nextTuple' });
    assert.equal(error.code, 'TUPLE_TOO_LARGE');
  });

  it('takes what is no error at all', () => {
    const error = componentFailure(undefined, { identity, callback: 'finish' });
    assert.equal(error.message, "finish of 'count' (task 3) failed: undefined");
  });
});
