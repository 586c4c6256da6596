import assert from 'node:assert/strict';
import { appendFile, readdir, readFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { test } from 'node:test';
import { containerId } from '../../../../src/base/ids.ts';
import {
  chosenLetters,
  type LetterFilter,
  readLetterFiles,
} from '../../../../src/cli/dead-letters/letter-files.ts';
import { removeLetters } from '../../../../src/cli/dead-letters/remove-letters.ts';
import { encodeDeadLetter, parseDeadLetterFile } from '../../../../src/model/dead-letter.ts';
import { aLetter, writeLetters } from '../../../support/dead-letters.ts';
import { temporaryFolder } from '../../../support/temporary-folder.ts';

const folderOf = (file: string) => ({ container: containerId(1), path: dirname(file) });

test('the files of all containers are read, what is not there is no letters', async (t) => {
  const { path } = await temporaryFolder(t);
  const one = await writeLetters(join(path, '1'), [aLetter('3-1'), aLetter('3-2')]);
  const two = await writeLetters(join(path, '2'), [aLetter('4-1')], { component: 'x', task: 4 });
  const absent = { container: containerId(3), path: join(path, '3', 'dead-letters') };
  const files = await readLetterFiles([folderOf(one), folderOf(two), absent]);
  assert.deepEqual(
    files.map(({ component, task, letters }) => [component, task, letters.map(({ id }) => id)]),
    [
      ['lines', 3, ['3-1', '3-2']],
      ['x', 4, ['4-1']],
    ],
  );
});

test('a line without its end is not there yet; one that is no letter is counted', async (t) => {
  const { path } = await temporaryFolder(t);
  const file = await writeLetters(path, [aLetter('3-1')]);
  await appendFile(file, '{"id":"3-\n');
  await appendFile(file, encodeDeadLetter(aLetter('3-2')).subarray(0, 40));
  const [read] = await readLetterFiles([folderOf(file)]);
  assert.deepEqual([read?.letters.map(({ id }) => id), read?.skippedLines], [['3-1'], 1]);
});

test('letters are chosen by id, spout, reason and moment', () => {
  const dropped = { ...aLetter('').reason, kind: 'dropped' } as const;
  const letters = [
    aLetter('a', { atMs: 1 }),
    aLetter('b', { atMs: 2, reason: dropped }),
    aLetter('c', { atMs: 3, component: 'clicks' }),
  ];
  const file = {
    container: containerId(1),
    folder: '',
    path: '',
    component: 'lines',
    task: 3,
    letters,
    skippedLines: 0,
  };
  const ids = (filter: LetterFilter) =>
    chosenLetters([file], filter).flatMap((chosen) => chosen.letters.map(({ id }) => id));
  assert.deepEqual(ids({}), ['a', 'b', 'c']);
  assert.deepEqual(ids({ ids: new Set(['c', 'a', 'z']) }), ['a', 'c']);
  assert.deepEqual(ids({ component: 'lines' }), ['a', 'b']);
  assert.deepEqual(ids({ reason: 'dropped' }), ['b']);
  assert.deepEqual(ids({ beforeMs: 3 }), ['a', 'b']);
  assert.deepEqual(ids({ component: 'clicks', beforeMs: 3 }), []);
});

test('letters of a task that is gone are removed, the last one with its file', async (t) => {
  const { path } = await temporaryFolder(t);
  const file = await writeLetters(path, [aLetter('3-1'), aLetter('3-2'), aLetter('3-3')]);
  const remove = (...ids: readonly string[]) =>
    removeLetters({ path: file, letters: ids.map((id) => aLetter(id)) });
  assert.equal(await remove('3-2', 'unknown'), 1);
  const { letters } = parseDeadLetterFile(await readFile(file));
  assert.deepEqual(
    letters.map(({ id }) => id),
    ['3-1', '3-3'],
  );
  assert.equal(await remove('3-1', '3-3'), 2);
  assert.deepEqual(await readdir(dirname(file)), []);
});
