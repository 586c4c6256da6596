import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import * as fc from 'fast-check';
import { hasCode } from '../../../src/base/errors.ts';
import { decodeValue, ValueReader } from '../../../src/wire/value-reader.ts';
import { encodeValue } from '../../../src/wire/values.ts';
import { scalars } from '../../support/arbitrary-values.ts';

const room = new Uint8Array(1024 * 1024);

function bytesOf(value: unknown): Uint8Array {
  return room.slice(0, encodeValue(value, room, 0));
}

function hexOf(value: unknown): string {
  return Buffer.from(bytesOf(value)).toString('hex');
}

suite('reading malformed values', () => {
  const isMalformed = (error: unknown): boolean => hasCode(error, 'PACKET_MALFORMED');

  test('a value cut short or with bytes left over', () => {
    const whole = [
      'hello',
      'x'.repeat(300),
      '漢'.repeat(20),
      200,
      70_000,
      -5000,
      1.5,
      5n,
      2n ** 80n,
      true,
      null,
      Uint8Array.of(1, 2, 3),
      [1, 'a'],
      { a: [1, 2] },
      new Map([[1, 2]]),
      new Date(0),
      undefined,
    ];
    for (const value of whole) {
      const bytes = bytesOf(value);
      for (let end = 0; end < bytes.length; end += 1) {
        assert.throws(
          () => decodeValue(bytes, 0, end),
          isMalformed,
          `${hexOf(value)} cut at ${end}`,
        );
      }
      const longer = Uint8Array.from([...bytes, 0]);
      assert.throws(() => decodeValue(longer, 0, longer.length), isMalformed, hexOf(value));
    }
  });

  test('any bytes give a value or PACKET_MALFORMED', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 40 }), (bytes) => {
        try {
          decodeValue(bytes, 0, bytes.length);
        } catch (error) {
          assert.ok(isMalformed(error), String(error));
        }
      }),
      { numRuns: 5000 },
    );
  });

  test('a count of billions in a few bytes takes no memory', () => {
    for (const token of [0xdd, 0xdf]) {
      const bytes = Uint8Array.of(token, 0x7f, 0xff, 0xff, 0xff, 1, 2);
      assert.throws(() => decodeValue(bytes, 0, bytes.length), isMalformed);
    }
  });
});

suite('ValueReader', () => {
  /** Values behind each other, as in a set; the reader is given the ranges. */
  function joined(all: readonly unknown[]): { bytes: Uint8Array; ranges: [number, number][] } {
    const ranges: [number, number][] = [];
    let at = 3;
    for (const value of all) {
      const end = encodeValue(value, room, at);
      ranges.push([at, end]);
      at = end;
    }
    return { bytes: Uint8Array.from(room.subarray(0, at)), ranges };
  }

  /** In order, and backwards, which no stream does but nothing forbids. */
  function assertReadsBack(all: readonly unknown[]): void {
    const { bytes, ranges } = joined(all);
    const reader = new ValueReader();
    reader.begin(bytes, 3, bytes.length);
    assert.deepEqual(
      ranges.map(([start, end]) => reader.read(start, end)),
      all,
    );
    const backwards = ranges.toReversed().map(([start, end]) => reader.read(start, end));
    assert.deepEqual(backwards, all.toReversed());
  }

  test('reads what decodeValue reads', () => {
    fc.assert(
      fc.property(fc.array(scalars, { maxLength: 30 }), (all) => {
        assertReadsBack(all);
      }),
    );
  });

  test('short texts across many windows, and beside long ones', () => {
    const all = Array.from({ length: 20_000 }, (_, index) =>
      index % 1000 === 0 ? 'long '.repeat(2000) : `é${index}`.slice(index % 2),
    );
    assertReadsBack(all);
  });

  test('begins anew with other bytes', () => {
    const reader = new ValueReader();
    for (const word of ['first', 'other']) {
      const { bytes, ranges } = joined([word]);
      reader.begin(bytes, 3, bytes.length);
      const [start, end] = ranges[0] as [number, number];
      assert.equal(reader.read(start, end), word);
    }
  });

  test('reads from shared memory', () => {
    const { bytes, ranges } = joined([
      'word',
      'é',
      'x'.repeat(100),
      { a: [1, '漢'] },
      Uint8Array.of(1),
    ]);
    const shared = new Uint8Array(new SharedArrayBuffer(bytes.length));
    shared.set(bytes);
    const reader = new ValueReader();
    reader.begin(shared, 3, shared.length);
    assert.deepEqual(
      ranges.map(([start, end]) => reader.read(start, end)),
      ['word', 'é', 'x'.repeat(100), { a: [1, '漢'] }, Uint8Array.of(1)],
    );
  });

  test('a malformed short text', () => {
    const reader = new ValueReader();
    const bytes = Uint8Array.of(0xa5, 0x61);
    reader.begin(bytes, 0, 2);
    assert.throws(
      () => reader.read(0, 2),
      (error) => hasCode(error, 'PACKET_MALFORMED'),
    );
    assert.throws(
      () => reader.read(1, 1),
      (error) => hasCode(error, 'PACKET_MALFORMED'),
    );
  });
});
