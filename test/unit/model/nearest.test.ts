import assert from 'node:assert/strict';
import { test } from 'node:test';
import { didYouMean, nearest } from '../../../src/model/nearest.ts';

const NAMES = ['sentences', 'split', 'count', 'a'.repeat(128)];

const CASES: readonly (readonly [string, string | undefined])[] = [
  ['split', 'split'],
  ['splitt', 'split'],
  ['plit', 'split'],
  ['spilt', undefined], // Two letters of five differ.
  ['sentence', 'sentences'],
  ['centenzes', 'sentences'],
  ['c', undefined],
  ['', undefined],
  [`${'a'.repeat(127)}b`, 'a'.repeat(128)],
  ['a'.repeat(129), undefined],
];

for (const [word, expected] of CASES) {
  test(`'${word.slice(0, 10)}' is taken for ${expected?.slice(0, 10) ?? 'nothing'}`, () => {
    assert.equal(nearest(word, NAMES), expected);
  });
}

test('the closest of several wins', () => {
  assert.equal(nearest('counter', ['country', 'counters', 'count']), 'counters');
});

test('a question is asked only when there is something to ask', () => {
  assert.equal(didYouMean('splitt', NAMES), "; did you mean 'split'?");
  assert.equal(didYouMean('bolt', []), '');
  assert.equal(didYouMean('a/b', ['a\nb']), "; did you mean 'a b'?", 'a sentence is one line');
});
