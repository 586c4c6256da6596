import assert from 'node:assert/strict';
import { test } from 'node:test';
import { isSameSecret } from '../../../src/base/secret.ts';

test('secrets are compared whole', () => {
  assert.ok(isSameSecret('secret', 'secret'));
  for (const guess of [undefined, '', 'secre', 'secrets', 'Secret']) {
    assert.ok(!isSameSecret(guess, 'secret'));
  }
});
