import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Tuple, TupleOrigin } from '../../../src/api/tuple.ts';
import { componentName, streamName, taskId } from '../../../src/base/ids.ts';

const origin = new TupleOrigin(componentName('split'), streamName('late'), ['word', 'count']);
const tuple = new Tuple<{ word: string; count: number }>(origin, taskId(7), ['a', 3]);

test('values are found by name and by position', () => {
  assert.equal(tuple.get('word'), 'a');
  assert.equal(tuple.get('count'), 3);
  assert.equal(tuple.getValue(1), 3);
  assert.deepEqual(tuple.values, ['a', 3]);
  assert.deepEqual(tuple.fields, ['word', 'count']);
});

test('a tuple knows where it comes from', () => {
  assert.equal(tuple.sourceComponent, 'split');
  assert.equal(tuple.sourceStream, 'late');
  assert.equal(tuple.sourceTask, 7);
});

test('a field that is not there is an error that names those that are', () => {
  const message = (field: string): string =>
    `a tuple of stream 'late' of 'split' has no field '${field}', only word, count`;
  assert.throws(() => tuple.get('wrod' as 'word'), {
    code: 'UNKNOWN_FIELD',
    message: message('wrod'),
  });
  for (const index of [2, -1, 0.5]) {
    const expected = { code: 'UNKNOWN_FIELD', message: message(`#${index}`) };
    assert.throws(() => tuple.getValue(index), expected);
  }
});

test('undefined can be a value', () => {
  const sparse = new Tuple(origin, taskId(1), [undefined, 1]);
  assert.equal(sparse.get('word'), undefined);
  assert.equal(sparse.getValue(0), undefined);
});
