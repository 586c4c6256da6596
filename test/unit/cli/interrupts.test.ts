import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Interrupts } from '../../../src/cli/interrupts.ts';

test('one Ctrl-C that arrives twice is one; the next one does not wait', () => {
  const interrupts = new Interrupts();
  assert.equal(interrupts.take(10_000), 'end-cleanly');
  assert.equal(interrupts.take(10_003), 'ignore');
  assert.equal(interrupts.take(10_499), 'ignore');
  assert.equal(interrupts.take(10_500), 'end-at-once');
});
