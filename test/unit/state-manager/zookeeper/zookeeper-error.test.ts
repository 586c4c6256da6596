import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { ErrorCode } from '../../../../src/base/errors.ts';
import {
  errorOfAnswer,
  hasReason,
  ZooKeeperError,
  type ZooKeeperReason,
} from '../../../../src/state-manager/zookeeper/zookeeper-error.ts';

const ANSWERS: readonly (readonly [number, ZooKeeperReason, ErrorCode, boolean])[] = [
  [-101, 'NO_NODE', 'STATE_CONFLICT', false],
  [-110, 'NODE_EXISTS', 'STATE_EXISTS', false],
  [-103, 'BAD_VERSION', 'STATE_CONFLICT', false],
  [-111, 'NOT_EMPTY', 'STATE_CONFLICT', false],
  [-102, 'NO_PERMISSION', 'NOT_AUTHORIZED', false],
  [-112, 'SESSION_EXPIRED', 'STATE_UNAVAILABLE', true],
  [-118, 'SESSION_MOVED', 'STATE_UNAVAILABLE', true],
  [-125, 'QUOTA_EXCEEDED', 'STATE_NOT_WRITABLE', false],
  [-99, 'OTHER', 'STATE_UNAVAILABLE', true],
];

for (const [number, reason, code, retryable] of ANSWERS) {
  test(`the number ${number} of a server means ${reason}`, () => {
    const error = errorOfAnswer(number, '/a');
    assert.deepEqual([error.reason, error.code, error.retryable], [reason, code, retryable]);
    assert.equal(error.isUncertain, false);
    assert.ok(error.message.startsWith('ZooKeeper, /a: '));
  });
}

test('an error has its reason, and says what is known', () => {
  const cause = new Error('reset');
  const error = new ZooKeeperError('TIMED_OUT', {
    path: '/a',
    isUncertain: true,
    detail: '5 ms',
    cause,
  });
  assert.equal(error.message, 'ZooKeeper, /a: no answer in time (5 ms)');
  assert.equal(error.cause, cause);
  assert.ok(hasReason(error, 'NO_NODE', 'TIMED_OUT'));
  assert.ok(!hasReason(error, 'NO_NODE'));
  assert.ok(!hasReason(cause, 'TIMED_OUT'));
  assert.equal(
    errorOfAnswer(-99, undefined).message,
    'ZooKeeper: the server reports a failure (number -99)',
  );
});
