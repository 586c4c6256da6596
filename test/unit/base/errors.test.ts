import assert from 'node:assert/strict';
import test from 'node:test';
import {
  environmentError,
  fromEnvelope,
  hasCode,
  messageOf,
  stackOf,
  toEnvelope,
  userError,
} from '../../../src/base/errors.ts';

test('an error says who has to act and whether to try again', () => {
  const cause = new Error('disk');
  const error = environmentError('FILE_FAILED', 'cannot read', { retryable: true, cause });
  assert.deepEqual(
    { code: error.code, domain: error.domain, retryable: error.retryable, cause: error.cause },
    { code: 'FILE_FAILED', domain: 'environment', retryable: true, cause },
  );
  assert.equal(userError('INVALID_CONFIG', 'wrong').retryable, false);
  assert.equal('cause' in userError('INVALID_CONFIG', 'wrong'), false);
});

test('hasCode looks at engine errors only', () => {
  const error = userError('INVALID_CONFIG', 'wrong');
  assert.equal(hasCode(error, 'INVALID_ARGUMENT', 'INVALID_CONFIG'), true);
  assert.equal(hasCode(error, 'INVALID_ARGUMENT'), false);
  assert.equal(hasCode(Object.assign(new Error('x'), { code: 'INVALID_CONFIG' })), false);
  assert.equal(hasCode(undefined, 'INVALID_CONFIG'), false);
});

test('an envelope carries everything that callers branch on, and the stack', () => {
  const error = environmentError('CONNECTION_LOST', 'gone', { retryable: true });
  const copy = fromEnvelope(structuredClone(toEnvelope(error)));
  assert.deepEqual(toEnvelope(copy), toEnvelope(error));
  assert.equal(copy.stack, error.stack);
});

test('whatever was thrown becomes an envelope', () => {
  assert.equal(toEnvelope(new TypeError('x')).code, 'COMPONENT_FAILED');
  assert.equal(toEnvelope(new TypeError('x'), 'MODULE_FAILED').code, 'MODULE_FAILED');
  assert.equal(
    toEnvelope(userError('INVALID_CONFIG', 'x'), 'MODULE_FAILED').code,
    'INVALID_CONFIG',
  );
  assert.equal(toEnvelope('text').message, 'text');
  assert.equal(messageOf(null), 'null');
  assert.equal(stackOf(7), '7');
});
