import assert from 'node:assert/strict';
import { test } from 'node:test';
import { LargeSets } from '../../../../src/instance/task/large-sets.ts';

const [first, second] = [new Uint8Array([1]), new Uint8Array([2])];

test('sets that came before their markers are taken in order', async () => {
  const sets = new LargeSets();
  sets.put(first);
  sets.put(second);
  assert.equal(await sets.take(), first);
  assert.equal(await sets.take(), second);
});

test('a marker waits for its set', async () => {
  const sets = new LargeSets();
  const taken = sets.take();
  sets.put(second);
  assert.equal(await taken, second);
});
