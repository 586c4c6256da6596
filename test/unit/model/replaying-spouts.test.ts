import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  isReplaying,
  replayedComponents,
  REPLAYS_KEY,
} from '../../../src/model/replaying-spouts.ts';
import { aBolt, aSpout } from '../../support/topologies.ts';

const MARK = new Map([[REPLAYS_KEY, 'true']]);

test('only a spout with the mark replays', () => {
  assert.equal(isReplaying(aSpout('lines', { config: MARK })), true);
  assert.equal(isReplaying(aSpout('lines')), false);
  assert.equal(isReplaying(aSpout('lines', { config: new Map([[REPLAYS_KEY, 'false']]) })), false);
  assert.equal(isReplaying(aBolt('count', ['lines'], { config: MARK })), false);
});

test('a bolt loses nothing when every spout that reaches it replays', () => {
  const components = [
    aSpout('lines', { config: MARK }),
    aSpout('clicks'),
    aBolt('split', ['lines']),
    aBolt('join', ['split', 'sessions']),
    aBolt('sessions', ['clicks']),
    aBolt('sink', ['join']),
    aBolt('count', ['split']),
  ];
  assert.deepEqual([...replayedComponents(components)], ['lines', 'split', 'count']);
});

test('bolts that thousands read, and thousands in a row, are walked over once', () => {
  const wide = Array.from({ length: 20_000 }, (_, i) => aBolt(`wide-${i}`, ['clicks']));
  const deep = Array.from({ length: 20_000 }, (_, i) =>
    aBolt(`deep-${i}`, [i === 0 ? 'clicks' : `deep-${i - 1}`]),
  );
  assert.equal(replayedComponents([aSpout('clicks'), ...wide, ...deep]).size, 0);
});
