import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { ValueSerializer } from '../../../../src/api/serializer.ts';
import { componentName, streamName } from '../../../../src/base/ids.ts';
import { userError } from '../../../../src/base/errors.ts';
import { SentValues } from '../../../../src/instance/task/sent-values.ts';

const output = { stream: streamName('default'), fields: ['word', 'detail'] };

function sentValues(serializer?: ValueSerializer): SentValues {
  return new SentValues(componentName('source'), output, serializer);
}

function serializing(serialize: (value: unknown) => unknown): ValueSerializer {
  return { serialize: serialize as ValueSerializer['serialize'], deserialize: (bytes) => bytes };
}

describe('without a serializer', () => {
  it('values are sent as they are', () => {
    const values = ['a', {}];
    assert.equal(sentValues().of(values), values);
  });

  it('a refusal names the field and the place in it', () => {
    const error = userError('VALUE_NOT_SERIALIZABLE', 'value.call: a function cannot be sent');
    const refused = sentValues().refusal(error, ['a', { call() {} }]);
    assert.ok(refused instanceof Error);
    assert.equal(
      refused.message,
      "detail.call: a function cannot be sent, in stream 'default' of 'source'",
    );
  });

  it('an error of another kind, or of nobody, stays as it is', () => {
    const tooLarge = userError('TUPLE_TOO_LARGE', 'too large');
    assert.equal(sentValues().refusal(tooLarge, [() => 1]), tooLarge);
    const unexplained = userError('VALUE_NOT_SERIALIZABLE', 'for some reason');
    assert.equal(sentValues().refusal(unexplained, ['a', 'b']), unexplained);
  });
});

describe('with a serializer', () => {
  it('each value becomes bytes of its own, though the serializer uses its memory again', () => {
    const memory = Buffer.alloc(1);
    const values = sentValues(serializing((value) => memory.fill(value as number)));
    const sent = values.of([1, 2]);
    assert.deepEqual(sent, [Uint8Array.of(1), Uint8Array.of(2)]);
  });

  const refusals: readonly (readonly [string, (value: unknown) => unknown])[] = [
    [
      "word: the topology's serializer failed: no luck",
      () => {
        throw new Error('no luck');
      },
    ],
    ["word: the topology's serializer made a promise, not a Uint8Array", () => Promise.resolve()],
    [
      "word: the topology's serializer made a value of type string, not a Uint8Array",
      (value) => JSON.stringify(value),
    ],
  ];
  for (const [message, serialize] of refusals) {
    it(`refuses: ${message}`, () => {
      assert.throws(() => sentValues(serializing(serialize)).of(['a', 'b']), {
        code: 'VALUE_NOT_SERIALIZABLE',
        message: `${message}, in stream 'default' of 'source'`,
      });
    });
  }
});
