import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { GivenUpMessage } from '../../../../src/api/component-runtime.ts';
import { componentName } from '../../../../src/base/ids.ts';
import { letterOf, valuesOf } from '../../../../src/instance/task/letter-of.ts';
import { SentValues } from '../../../../src/instance/task/sent-values.ts';
import { encodeDeadLetter } from '../../../../src/model/dead-letter.ts';
import { anOutput } from '../../../support/topologies.ts';

const ORIGIN = { id: '1-a', atMs: 7, topology: 'words', component: 'lines', task: 1 };
const REASON = {
  kind: 'thrown' as const,
  component: 'split',
  task: 3,
  message: 'no',
  stack: 'no\n  at split',
};
const JSON_SERIALIZER = {
  serialize: (value: unknown) => new TextEncoder().encode(JSON.stringify(value)),
  deserialize: (bytes: Uint8Array): unknown => JSON.parse(new TextDecoder().decode(bytes)),
};

function givenUp(values: readonly unknown[], change: Partial<GivenUpMessage> = {}): GivenUpMessage {
  return {
    streamIndex: 0,
    values,
    messageId: undefined,
    position: '7',
    attempts: 2,
    reason: REASON,
    isEmitted: false,
    ...change,
  };
}

function stream(fields: readonly string[], serializer?: typeof JSON_SERIALIZER) {
  const output = anOutput(fields, 'numbers');
  return { output, sentValues: new SentValues(componentName('lines'), output, serializer) };
}

test('a letter has the values as they travel, and they come back as they were', () => {
  const values = ['wörd', 7n, new Uint8Array([1, 2]), new Map([['a', [null, -0]]]), new Date(5)];
  const letter = letterOf(givenUp(values), stream(['a', 'b', 'c', 'd', 'e']), ORIGIN, 10_000);
  assert.deepEqual(
    { ...letter, values: undefined },
    {
      ...ORIGIN,
      stream: 'numbers',
      fields: ['a', 'b', 'c', 'd', 'e'],
      values: undefined,
      serialized: false,
      messageId: undefined,
      position: '7',
      attempts: 2,
      reason: REASON,
    },
  );
  assert.deepEqual(valuesOf(letter, undefined), values);
});

test('values of the topology’s own serializer are kept as its bytes', () => {
  const values = [{ a: 1 }, 'x'];
  const letter = letterOf(givenUp(values), stream(['a', 'b'], JSON_SERIALIZER), ORIGIN, 10_000);
  assert.equal(letter.serialized, true);
  assert.deepEqual(valuesOf(letter, JSON_SERIALIZER.deserialize), values);
  assert.deepEqual(valuesOf(letter, undefined)?.[1], new TextEncoder().encode('"x"'));
});

test('a record that is no tuple is kept as it was read', () => {
  const reason = { ...REASON, kind: 'unreadable' as const };
  const record = givenUp([new Uint8Array([0xff, 0])], { streamIndex: undefined, reason });
  const letter = letterOf(record, undefined, ORIGIN, 10_000);
  assert.deepEqual(
    [letter.stream, letter.fields, letter.serialized],
    ['default', ['record'], false],
  );
  assert.deepEqual(valuesOf(letter, undefined), [new Uint8Array([0xff, 0])]);
});

test('values that cannot be encoded, or are too large, are left out', () => {
  const limit = 4_000;
  for (const values of [
    [() => {}],
    ['x'.repeat(3_500)],
    ['x'.repeat(limit)],
    ['x'.repeat(limit * 20)],
    ['a', Symbol('b')],
  ]) {
    const letter = letterOf(givenUp(values), stream(['a', 'b']), ORIGIN, limit);
    assert.equal(letter.values, undefined);
    assert.equal(valuesOf(letter, undefined), undefined);
  }
  // Base64 takes a third more.
  const fits = letterOf(givenUp(['x'.repeat(2_500)]), stream(['a']), ORIGIN, limit);
  assert.notEqual(fits.values, undefined);
  assert.ok(encodeDeadLetter(fits).length <= limit);
});

test('long texts are cut, so that a letter fits into the smallest file', () => {
  const long = 'x'.repeat(100_000);
  const reason = { ...REASON, message: long, stack: long };
  const message = givenUp([1], { messageId: long, position: long, reason });
  const letter = letterOf(message, stream(['a']), ORIGIN, 16_384);
  assert.ok(encodeDeadLetter(letter).length <= 16_384);
  assert.notEqual(letter.values, undefined);
});
