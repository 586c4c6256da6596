import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import { packageRoot } from '../../../src/base/entry.ts';

/*
  The packages whose install scripts are left out when npm is told to run none, and why nothing is
  missing then: esbuild's only moves its program to a faster place, buf's only downloads what its
  platform package holds already, and msgpackr-extract is an addition that msgpackr does without.
*/
const NOT_NEEDED = ['@bufbuild/buf', 'esbuild', 'msgpackr-extract'];

interface Lockfile {
  readonly packages: Readonly<Record<string, { readonly hasInstallScript?: boolean }>>;
}

test('O43: no other dependency has an install script', async () => {
  const text = await readFile(join(packageRoot(), 'package-lock.json'), 'utf8');
  const { packages } = JSON.parse(text) as Lockfile;
  const withScript = Object.entries(packages)
    .filter(([, { hasInstallScript }]) => hasInstallScript)
    .map(([path]) => path.replace(/^.*node_modules\//, ''));
  assert.deepEqual(withScript.toSorted(), NOT_NEEDED);
});
