import assert from 'node:assert/strict';
import { createRequire } from 'node:module';
import test from 'node:test';
import { ENGINE_VERSION } from '../../../src/base/version.ts';

test('the version is that of package.json', () => {
  const { version } = createRequire(import.meta.url)('../../../package.json') as {
    version: string;
  };
  assert.equal(ENGINE_VERSION, version);
});
