import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { hasCode } from '../../../../src/base/errors.ts';
import { JuteReader } from '../../../../src/state-manager/zookeeper/jute-reader.ts';
import { JuteWriter } from '../../../../src/state-manager/zookeeper/jute-writer.ts';

const isMalformed = (error: unknown): boolean => hasCode(error, 'PACKET_MALFORMED');

interface Fields {
  readonly int: number;
  readonly long: bigint;
  readonly boolean: boolean;
  readonly buffer: Uint8Array;
  readonly strings: readonly string[];
}

const fields: fc.Arbitrary<Fields> = fc.record(
  {
    int: fc.integer({ min: -(2 ** 31), max: 2 ** 31 - 1 }),
    long: fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n }),
    boolean: fc.boolean(),
    buffer: fc.uint8Array({ maxLength: 300 }),
    strings: fc.array(fc.string({ unit: 'binary' }), { maxLength: 10 }),
  },
  { noNullPrototype: true },
);

function written({ int, long, boolean, buffer, strings }: Fields): Buffer {
  const writer = new JuteWriter().int(int).long(long).boolean(boolean).buffer(buffer);
  writer.vector(strings, (text) => writer.string(text));
  return Buffer.from(writer.frame().subarray(4));
}

function read(bytes: Buffer): Fields {
  const reader = new JuteReader(bytes);
  return {
    int: reader.int(),
    long: reader.long(),
    boolean: reader.boolean(),
    buffer: new Uint8Array(reader.buffer()),
    strings: reader.vector(() => reader.string()),
  };
}

test('what was written is read', () => {
  fc.assert(
    fc.property(fields, (values) => {
      assert.deepEqual(read(written(values)), values);
    }),
  );
});

test('a frame that ends too early is malformed, wherever it ends', () => {
  const whole = written({
    int: 1,
    long: 2n,
    boolean: true,
    buffer: Uint8Array.of(3),
    strings: ['a', 'b'],
  });
  for (let end = 0; end < whole.length; end += 1) {
    assert.throws(() => read(whole.subarray(0, end)), isMalformed, `cut at ${end}`);
  }
  read(whole);
});

test('any bytes are read or malformed, and nothing else happens', () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 200 }), (bytes) => {
      try {
        read(Buffer.from(bytes));
      } catch (error) {
        assert.ok(isMalformed(error), String(error));
      }
    }),
  );
});

test('a count or a length that the frame cannot hold is refused before memory is set aside', () => {
  const counts = new JuteWriter().int(0x7fff_ffff).frame().subarray(4);
  assert.throws(() => new JuteReader(Buffer.from(counts)).vector(() => ''), isMalformed);
  assert.throws(() => new JuteReader(Buffer.from(counts)).buffer(), isMalformed);
  assert.throws(() => new JuteReader(Buffer.from(counts)).string(), isMalformed);
});

test('none reads as empty', () => {
  const none = Buffer.from(new JuteWriter().int(-1).int(-1).int(-1).frame().subarray(4));
  const reader = new JuteReader(none);
  assert.equal(reader.buffer().length, 0);
  assert.equal(reader.string(), '');
  assert.deepEqual(
    reader.vector(() => ''),
    [],
  );
});

test('what was read does not change with the frame', () => {
  const frame = Buffer.from(
    new JuteWriter()
      .buffer(Uint8Array.of(1, 2, 3))
      .frame()
      .subarray(4),
  );
  const data = new JuteReader(frame).buffer();
  frame.fill(0xee);
  assert.deepEqual(new Uint8Array(data), Uint8Array.of(1, 2, 3));
});
