import assert from 'node:assert/strict';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import { pathToFileURL } from 'node:url';
import { sourcePlace } from '../../../src/inspection/source-places.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';

/** The first line comes from line 3 of the author's file, the second from line 7, column 3. */
const MAP = {
  version: 3,
  file: 'bundle.mjs',
  sources: ['file:///home/me/words.ts'],
  names: [],
  mappings: 'AAEA;AAIE',
};

test('a place in a bundle is shown where its author wrote it', async (t) => {
  const { path } = await temporaryFolder(t);
  const bundle = join(path, 'bundle.mjs');
  await writeFile(bundle, 'a();\nb();\n//# sourceMappingURL=bundle.mjs.map\n');
  await writeFile(`${bundle}.map`, JSON.stringify(MAP));
  const { href } = pathToFileURL(bundle);
  assert.equal(sourcePlace(href, 1, 1), 'file:///home/me/words.ts:3:1');
  assert.equal(sourcePlace(href, 2, 1), 'file:///home/me/words.ts:7:3');
});

test('without a map, or with a broken one, the place itself is shown', async (t) => {
  const { path } = await temporaryFolder(t);
  const file = join(path, 'words.mjs');
  const { href } = pathToFileURL(file);
  assert.equal(sourcePlace(href, 2, 5), `${href}:2:5`, 'no such file');
  await writeFile(file, 'a();\n');
  assert.equal(sourcePlace(href, 2, 5), `${href}:2:5`, 'no map');
  await writeFile(file, 'a();\n//# sourceMappingURL=words.mjs.map\n');
  await writeFile(`${file}.map`, 'not a map');
  assert.equal(sourcePlace(href, 2, 5), `${href}:2:5`, 'a broken map');
  assert.equal(sourcePlace('node:fs', 2, 5), 'node:fs:2:5');
});
