import assert from 'node:assert/strict';
import { once } from 'node:events';
import { PassThrough } from 'node:stream';
import { test } from 'node:test';
import { askPerson } from '../../../src/cli/ask-person.ts';

function aPerson() {
  const input = new PassThrough();
  const output = new PassThrough();
  const interruption = new AbortController();
  const answer = askPerson('Remove it?', {
    input,
    output,
    interruption: interruption.signal,
    onInterrupt: () => interruption.abort(),
  });
  return { input, output, interruption, answer };
}

for (const [typed, expected] of [
  ['y', true],
  ['Yes ', true],
  ['', false],
  ['n', false],
  ['yesterday', false],
] as const) {
  test(`'${typed}' is ${expected ? 'a yes' : 'a no'}`, async () => {
    const { input, output, answer } = aPerson();
    input.write(`${typed}\n`);
    assert.equal(await answer, expected);
    assert.equal(String(output.read()), 'Remove it? [y/N] ');
  });
}

test('the end of the input is a no', async () => {
  const { input, answer } = aPerson();
  input.end();
  assert.equal(await answer, false);
});

test('Ctrl-C is a no, at once', { timeout: 5_000 }, async () => {
  const { output, interruption, answer } = aPerson();
  await once(output, 'readable');
  interruption.abort();
  assert.equal(await answer, false);
});

test('after Ctrl-C nothing is asked', async () => {
  const { output, interruption, answer } = aPerson();
  interruption.abort();
  assert.equal(await answer, false);
  assert.equal(output.read(), null);
});
