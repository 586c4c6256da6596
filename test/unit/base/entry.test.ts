import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import test from 'node:test';
import { entryFile, packageRoot } from '../../../src/base/entry.ts';

test('the package root holds package.json', () => {
  assert.equal(packageRoot(), join(import.meta.dirname, '..', '..', '..'));
  assert.ok(existsSync(join(packageRoot(), 'package.json')));
});

test('an entry in the repository is the TypeScript file', () => {
  assert.equal(entryFile('base/version'), join(packageRoot(), 'src', 'base', 'version.ts'));
});

test('a name with an extension is a mistake', () => {
  assert.throws(() => entryFile('executor/main.ts'), { name: 'AssertionError' });
});
