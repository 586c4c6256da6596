/*
  A whole topology: word count as it is submitted (../word-count.ts), with the engine's real parts
  on simulated time. Its input is an array with faults in it, and a bolt that would write a file is
  replaced by one that does nothing: what it was given can be read from the run.

      node --test examples/testing/whole-topology.test.ts
*/

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { BasicBolt, type Tuple } from 'heron-ts';
import {
  crashOnce,
  pauseFor,
  spoutFrom,
  testTopology,
  type TestTopologyOptions,
} from 'heron-ts/testing';
import wordCount from '../word-count.ts';

class Nowhere extends BasicBolt {
  execute(_tuple: Tuple<{ word: string; count: number }>): void {}
}

function withLines(...lines: readonly unknown[]): TestTopologyOptions {
  return { components: { lines: spoutFrom(lines), report: () => new Nowhere() } };
}

test('all words of all files are counted', async () => {
  await using run = await testTopology(wordCount, withLines('The cow', 'jumped over', 'the moon'));
  const { result } = await run.toCompletion();
  assert.equal(result, 'completed');
  const counts = run.received('report').map(({ word, count }) => [word, count].join(' '));
  assert.deepEqual(counts.toSorted(), ['cow 1', 'jumped 1', 'moon 1', 'over 1', 'the 2']);
});

test('a crash of a spout costs nothing that it had emitted long before', async () => {
  const lines = withLines('one', 'two', crashOnce(), crashOnce(), 'three', 'four');
  await using run = await testTopology(wordCount, lines);
  const { result } = await run.toCompletion();
  assert.equal(result, 'completed-with-losses');
  assert.equal(run.restarts('lines'), 2);
  assert.equal(run.received('report').length, 4);
});

test('a counting task that is killed starts again from nothing', async () => {
  const lines = withLines('moon', 'moon', pauseFor(10_000), pauseFor(10_000), 'moon');
  await using run = await testTopology(wordCount, lines);
  await run.until(() => run.received('count').length === 2);
  const [first] = run.executed('count');
  assert.ok(first);
  run.kill('count', first.taskIndex);
  await run.toCompletion();
  assert.deepEqual(run.received('report'), [{ word: 'moon', count: 1 }]);
});
