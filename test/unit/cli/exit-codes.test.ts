import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import { packageRoot } from '../../../src/base/entry.ts';
import { environmentError, type ErrorCode, userError } from '../../../src/base/errors.ts';
import { Interrupted } from '../../../src/cli/advised-error.ts';
import { CLI_EXIT, cliExitCodeOf } from '../../../src/cli/exit-codes.ts';

test('each kind of failure has its number', () => {
  const cases: Readonly<Partial<Record<ErrorCode, number>>> = {
    INVALID_ARGUMENT: 1,
    INVALID_CONFIG: 1,
    MODULE_NOT_FOUND: 1,
    TOPOLOGY_NOT_FOUND: 101,
    TOPOLOGY_EXISTS: 102,
    INVALID_TOPOLOGY: 103,
    MODULE_FAILED: 103,
    TOPOLOGY_FAILED: 103,
    STATE_UNAVAILABLE: 104,
    STATE_NOT_WRITABLE: 104,
    START_TIMEOUT: 105,
    STATE_CORRUPTED: 100,
    PROCESS_LOST: 100,
  };
  for (const [code, expected] of Object.entries(cases)) {
    assert.equal(cliExitCodeOf(userError(code as ErrorCode, 'why')), expected, code);
  }
});

test('an interruption and a fault of ours have theirs', () => {
  assert.equal(cliExitCodeOf(new Interrupted('enough')), 130);
  assert.equal(cliExitCodeOf(new TypeError('x is not a function')), 100);
  assert.equal(cliExitCodeOf(environmentError('ENGINE_FAULT', 'why')), 100);
});

test('the documentation lists every number', async () => {
  const text = await readFile(join(packageRoot(), 'docs', 'cli.md'), 'utf8');
  for (const code of Object.values(CLI_EXIT))
    assert.match(text, new RegExp(`^\\| ${code} \\|`, 'm'));
});
