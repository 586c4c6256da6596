import assert from 'node:assert/strict';
import { test } from 'node:test';
import { hasCode } from '../../../src/base/errors.ts';
import { commonFlags, parseExecutorArguments } from '../../../src/executor/executor-arguments.ts';
import { executorArguments } from '../../support/executor-arguments.ts';

const flags = [...commonFlags(executorArguments()), '--working-directory=/w'];

test('what is handed on is what was given', () => {
  const parsed = parseExecutorArguments(flags);
  assert.deepEqual(parsed, executorArguments({ workingDirectory: '/w' }));
});

test('every flag is needed', () => {
  for (const left of flags) {
    const args = flags.filter((flag) => flag !== left);
    const name = left.slice(0, left.indexOf('='));
    assert.throws(
      () => parseExecutorArguments(args),
      (error) =>
        hasCode(error, 'INVALID_ARGUMENT') && error.message.startsWith(`${name} is missing`),
    );
  }
});

test('unknown flags and wrong container ids are refused', () => {
  assert.throws(() => parseExecutorArguments([...flags, '--color=red']), /--color/);
  for (const id of ['-1', '1.5', 'two']) {
    assert.throws(
      () => parseExecutorArguments([...flags, `--container-id=${id}`]),
      /--container-id: expected a whole number/,
    );
  }
});
