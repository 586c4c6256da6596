import assert from 'node:assert/strict';
import { test } from 'node:test';
import { hasCode } from '../../../../src/base/errors.ts';
import { Turns } from '../../../../src/tracker/metrics/turns.ts';
import { settled } from '../../../support/settled.ts';

test('so many at once, the others in their order, and no more than may wait', async () => {
  const turns = new Turns(2, 2);
  const begun: number[] = [];
  const works = [0, 1, 2, 3].map(() => Promise.withResolvers<number>());
  const taken = works.map(({ promise }, index) =>
    turns.take(() => {
      begun.push(index);
      return promise;
    }),
  );
  await assert.rejects(
    turns.take(() => Promise.resolve()),
    (error) => hasCode(error, 'QUEUE_FULL'),
  );
  await settled();
  assert.deepEqual(begun, [0, 1]);
  works[1]?.reject(new Error('a failure is the end of a turn, too'));
  await assert.rejects(taken[1] ?? Promise.resolve());
  await settled();
  assert.deepEqual(begun, [0, 1, 2]);
  works[0]?.resolve(7);
  assert.equal(await taken[0], 7);
  await settled();
  assert.deepEqual(begun, [0, 1, 2, 3]);
  for (const { resolve } of works) resolve(1);
  await Promise.all([taken[2], taken[3]]);
  assert.equal(await turns.take(() => Promise.resolve(5)), 5);
});
