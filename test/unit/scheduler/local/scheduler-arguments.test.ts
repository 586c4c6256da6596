import assert from 'node:assert/strict';
import { test } from 'node:test';
import { hasCode } from '../../../../src/base/errors.ts';
import {
  parseSchedulerArguments,
  schedulerFlags,
} from '../../../../src/scheduler/local/scheduler-arguments.ts';
import { schedulerArguments } from '../../../support/scheduler-arguments.ts';

const flags = schedulerFlags(schedulerArguments());

test('arguments come back from their flags', () => {
  assert.deepEqual(parseSchedulerArguments(flags), schedulerArguments());
});

test('every flag is needed', () => {
  for (const left of flags) {
    const args = flags.filter((flag) => flag !== left);
    const name = left.slice(0, left.indexOf('='));
    assert.throws(
      () => parseSchedulerArguments(args),
      (error) =>
        hasCode(error, 'INVALID_ARGUMENT') && error.message.startsWith(`${name} is missing`),
    );
  }
});
