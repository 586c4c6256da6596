import assert from 'node:assert/strict';
import { test } from 'node:test';
import { stagesOf } from '../../../../src/tracker/answers/stages.ts';
import { aBolt, aSpout } from '../../../support/topologies.ts';

test('a bolt stands one stage behind the latest of what it reads', () => {
  const stages = stagesOf([
    aSpout('words'),
    aBolt('join', ['words', 'split']),
    aBolt('split', ['words']),
  ]);
  assert.deepEqual(Object.fromEntries(stages), { words: 1, split: 2, join: 3 });
});

test('what is on a cycle, or behind one, has no stage', () => {
  const stages = stagesOf([
    aSpout('words'),
    aBolt('there', ['words', 'back']),
    aBolt('back', ['there']),
    aBolt('behind', ['back']),
    aBolt('beside', ['words']),
  ]);
  assert.deepEqual(Object.fromEntries(stages), { words: 1, beside: 2 });
});

test('an input of a component that does not exist counts for nothing', () => {
  const stages = stagesOf([aSpout('words'), aBolt('lost', ['gone', 'words'])]);
  assert.deepEqual(Object.fromEntries(stages), { words: 1, lost: 2 });
});

test('no component, no stage', () => {
  assert.equal(stagesOf([]).size, 0);
});
