import assert from 'node:assert/strict';
import { test } from 'node:test';
import { whoActs } from '../../../../src/tracker/actions/access.ts';

const TOKENS = [
  { name: 'ada', token: 'a'.repeat(20) },
  { name: 'bob', token: 'b'.repeat(20) },
];

const ADA = `Bearer ${'a'.repeat(20)}`;

test('whoever sends a token acts in its name', () => {
  assert.equal(whoActs(ADA, TOKENS), 'ada');
  assert.equal(whoActs(`bearer ${'b'.repeat(20)}`, TOKENS), 'bob');
});

test('nobody acts through a tracker that only looks', () => {
  assert.throws(() => whoActs(ADA, undefined), {
    status: 403,
    message: /--allow-actions/,
  });
});

test('a token that is missing, unknown or cut short lets nobody in', () => {
  const wrong = [
    undefined,
    '',
    `Bearer ${'a'.repeat(19)}`,
    `Bearer ${'a'.repeat(21)}`,
    `Basic ${'a'.repeat(20)}`,
    'a'.repeat(20),
  ];
  for (const authorization of wrong) {
    assert.throws(() => whoActs(authorization, TOKENS), { status: 401 }, authorization);
  }
});
