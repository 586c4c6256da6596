import assert from 'node:assert/strict';
import { test } from 'node:test';
import { spoutFrom, testBolt, testTopology } from 'heron-ts/testing';
import words, { Split } from './topology.ts';

test('a sentence is split into its words', async () => {
  await using bolt = await testBolt(() => new Split(), { input: ['sentence'] });
  await bolt.send({ sentence: 'the cow' });
  assert.deepEqual(bolt.outputs(), [{ word: 'the' }, { word: 'cow' }]);
});

test('all words are counted', async () => {
  await using run = await testTopology(words, {
    components: { sentences: spoutFrom(['the cow', 'the moon']) },
  });
  const { result } = await run.toCompletion();
  assert.equal(result, 'completed');
  const counts = run.received('print').map(({ word, count }) => [word, count].join(' '));
  assert.deepEqual(counts.toSorted(), ['cow 1', 'moon 1', 'the 2']);
});
