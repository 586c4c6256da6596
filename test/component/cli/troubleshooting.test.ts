import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import { packageRoot } from '../../../src/base/entry.ts';
import { ERROR_CODES, environmentError, type ErrorCode } from '../../../src/base/errors.ts';
import { CLI_EXIT, cliExitCodeOf } from '../../../src/cli/exit-codes.ts';

/* docs/troubleshooting.md has a row for each error code, in the order of the list in the code. */

const ROW = /^\| `([A-Z_]+)` \| (\d*) ?\| (.+) \| (.+) \|$/gm;

async function rows() {
  const text = await readFile(join(packageRoot(), 'docs', 'troubleshooting.md'), 'utf8');
  return Array.from(text.matchAll(ROW), ([, code = '', exit = '', what = '', next = '']) => ({
    code: code as ErrorCode,
    exit: exit === '' ? CLI_EXIT.failure : Number(exit),
    what,
    next,
  }));
}

test('every error code has its row, and no other', async () => {
  assert.deepEqual(
    (await rows()).map(({ code }) => code),
    ERROR_CODES,
  );
});

test('each row says what happened, what to do, and the exit code of a command', async () => {
  for (const { code, exit, what, next } of await rows()) {
    assert.equal(exit, cliExitCodeOf(environmentError(code, 'why')), code);
    assert.ok(what.length > 10 && next.length > 10, code);
  }
});
