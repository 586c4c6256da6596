import assert from 'node:assert/strict';
import { chmodSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { createSystemRandom } from '../../../../src/base/random.ts';
import { readTrackerTokens } from '../../../../src/cli/actions/tracker-tokens.ts';
import { temporaryFolder } from '../../../support/temporary-folder.ts';

const random = createSystemRandom();

test('a token is made once, for the owner only', async (t) => {
  const file = join((await temporaryFolder(t)).path, 'tracker', 'tokens');
  const [made] = await readTrackerTokens({ file, owner: 'ada', random });
  assert.equal(made?.name, 'ada');
  assert.ok(made.token.length >= 32);
  assert.equal(statSync(file).mode & 0o777, 0o600);
  assert.deepEqual(await readTrackerTokens({ file, owner: 'bob', random }), [made]);
});

test('each line is a name and a token', async (t) => {
  const file = join((await temporaryFolder(t)).path, 'tokens');
  writeFileSync(file, `# who may act\nada ${'a'.repeat(16)}\n\n bob  ${'b'.repeat(16)} \n`, {
    mode: 0o600,
  });
  assert.deepEqual(await readTrackerTokens({ file, owner: 'eve', random }), [
    { name: 'ada', token: 'a'.repeat(16) },
    { name: 'bob', token: 'b'.repeat(16) },
  ]);
});

test('a file that is wrong, empty or open to others is refused with its line', async (t) => {
  const file = join((await temporaryFolder(t)).path, 'tokens');
  const cases: readonly (readonly [string, RegExp])[] = [
    [`ada ${'a'.repeat(16)}\nbob`, /line 2 of .*tokens is not written/],
    ['ada short', /line 1 of .* is shorter than 16 characters/],
    ['# nobody\n', /holds no token/],
  ];
  for (const [text, message] of cases) {
    writeFileSync(file, text, { mode: 0o600 });
    const reading = readTrackerTokens({ file, owner: 'ada', random });
    await assert.rejects(reading, { code: 'INVALID_CONFIG', message }, text);
  }
  writeFileSync(file, `ada ${'a'.repeat(16)}\n`);
  chmodSync(file, 0o640);
  await assert.rejects(readTrackerTokens({ file, owner: 'ada', random }), {
    code: 'INVALID_CONFIG',
    message: /chmod 600/,
  });
  assert.match(readFileSync(file, 'utf8'), /^ada /);
});
