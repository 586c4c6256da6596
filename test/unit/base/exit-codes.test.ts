import assert from 'node:assert/strict';
import test from 'node:test';
import { parseArgs } from 'node:util';
import { AssertionError } from '../../../src/base/assert.ts';
import { EngineError, type ErrorCode } from '../../../src/base/errors.ts';
import { exitCodeOf } from '../../../src/base/exit-codes.ts';

const CASES: readonly (readonly [ErrorCode, number])[] = [
  ['INVALID_CONFIG', 64],
  ['STATE_UNAVAILABLE', 69],
  ['REQUEST_TIMEOUT', 69],
  ['COMPONENT_FAILED', 70],
  ['TOPOLOGY_MISMATCH', 70],
  ['PORT_IN_USE', 73],
  ['STALE_EPOCH', 77],
  ['NOT_AUTHORIZED', 77],
  ['VERSION_MISMATCH', 77],
  ['STATE_CORRUPTED', 1],
];

for (const [code, exitCode] of CASES) {
  test(`${code} ends a process with ${exitCode}`, () => {
    assert.equal(exitCodeOf(new EngineError(code, 'x', { domain: 'engine' })), exitCode);
  });
}

test('anything else is an unexpected failure', () => {
  assert.equal(exitCodeOf(new AssertionError('x')), 1);
  assert.equal(exitCodeOf(Object.assign(new Error('x'), { code: 'EADDRINUSE' })), 1);
  assert.equal(exitCodeOf('text'), 1);
});

test('wrong arguments are wrong arguments', () => {
  const parse = (args: readonly string[]): unknown =>
    parseArgs({ args: [...args], options: { port: { type: 'string' } }, strict: true });
  for (const args of [['--unknown'], ['--port'], ['extra']]) {
    assert.throws(
      () => parse(args),
      (error) => exitCodeOf(error) === 64,
    );
  }
});
