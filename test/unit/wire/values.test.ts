import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import * as fc from 'fast-check';
import { hasCode } from '../../../src/base/errors.ts';
import { decodeValue } from '../../../src/wire/value-reader.ts';
import { encodeValue } from '../../../src/wire/values.ts';
import { scalars, values } from '../../support/arbitrary-values.ts';

const room = Buffer.alloc(1024 * 1024);

function bytesOf(value: unknown): Uint8Array {
  return Uint8Array.from(room.subarray(0, encodeValue(value, room, 0)));
}

function hexOf(value: unknown): string {
  return Buffer.from(bytesOf(value)).toString('hex');
}

function there(value: unknown): unknown {
  const bytes = bytesOf(value);
  return decodeValue(bytes, 0, bytes.length);
}

suite('values come back exactly as they were sent (V1)', () => {
  test('any value', () => {
    fc.assert(
      fc.property(values, (value) => assert.deepEqual(there(value), value)),
      { numRuns: 1000 },
    );
  });

  const rows: Record<string, unknown> = {
    'numbers at the edges': [2 ** 53, 1e300, 5e-324, Number.NaN, Infinity, -Infinity],
    'minus zero, alone and inside': [-0, { a: -0, b: [-0, { c: -0 }] }, new Map([['a', -0]])],
    'small integers beside records': [{ a: 64, b: 127 }, 64, 65, { a: 64, b: 127 }],
    'bigints of 64 bits': [1n, -1n, 2n ** 63n - 1n, 2n ** 63n, 2n ** 64n - 1n, -(2n ** 63n)],
    'bigints beyond 64 bits': [
      2n ** 64n,
      2n ** 64n + 1n,
      -(2n ** 63n) - 1n,
      -(2n ** 70n),
      2n ** 500n,
    ],
    'undefined at all places': [undefined, [undefined, 1], { a: undefined }],
    'dates before 1970 and invalid ones': [new Date(-1), new Date(Number.NaN), new Date(8.64e15)],
    'a map with objects as keys': new Map<unknown, unknown>([
      [{ a: 1 }, 1],
      [1, 'number'],
      ['1', 'text'],
    ]),
    'a set': new Set([1, '1', 1n]),
    'bytes inside': [{ bytes: Uint8Array.of(1, 2, 3) }],
    'typed arrays': [new Int32Array([-1]), new Float64Array([-0]), new BigInt64Array([-1n])],
    'text beyond ASCII': ['é', '漢字', '👩‍👩‍👧', '\u0000', '\uffff'],
    'names that objects already have': { constructor: 1, toJSON: 2, length: 3, size: 4 },
    'more kinds of records than msgpackr names': Array.from({ length: 200 }, (_, index) => ({
      [`key${index}`]: index,
      [`other${index % 7}`]: { inner: index },
    })),
    'long text': ['x'.repeat(70_000), '漢'.repeat(30_000)],
    'many elements': Array.from({ length: 70_000 }, (_, index) => index % 200),
  };
  for (const [name, value] of Object.entries(rows)) {
    test(name, () => assert.deepEqual(there(value), value));
  }

  test('a Buffer comes back as a Uint8Array', () => {
    const back = there(Buffer.from('abc'));
    assert.equal(Object.getPrototypeOf(back), Uint8Array.prototype);
    assert.deepEqual(back, Uint8Array.of(0x61, 0x62, 0x63));
    const inside = there({ bytes: Buffer.from('abc') }) as { bytes: unknown };
    assert.equal(Object.getPrototypeOf(inside.bytes), Uint8Array.prototype);
  });

  test('a part that occurs twice is one part again', () => {
    const part = { zero: -0 };
    const shared = there([part, [part]]) as [typeof part, (typeof part)[]];
    assert.equal(shared[0], shared[1][0]);
    assert.ok(Object.is(shared[0].zero, -0));
    const bytes = Uint8Array.of(1);
    const { a, b } = there({ a: bytes, b: bytes }) as { a: unknown; b: unknown };
    assert.deepEqual([a, b], [bytes, bytes]);
  });

  test('the order of keys, entries and elements', () => {
    const records = there([
      { a: 1, b: 2 },
      { b: 2, a: 1 },
      { 10: 'x', 2: 'y' },
    ]) as readonly object[];
    assert.deepEqual(records.map(Object.keys), [
      ['a', 'b'],
      ['b', 'a'],
      ['2', '10'],
    ]);
    const map = new Map([
      ['z', 1],
      ['a', 2],
    ]);
    assert.deepEqual([...(there(map) as typeof map)], [...map]);
    assert.deepEqual([...(there(new Set([3, 1, 2])) as Set<number>)], [3, 1, 2]);
  });

  test('the elements of a view, not what lies around them', () => {
    const { buffer } = Uint8Array.from({ length: 64 }, (_, index) => index);
    for (const view of [
      new Int16Array(buffer, 2, 3),
      new Float64Array(buffer, 8, 2),
      new BigUint64Array(buffer, 16, 1),
      new Uint8ClampedArray(buffer, 1, 5),
    ]) {
      for (const value of [view, { view }, [undefined, view]]) {
        assert.deepEqual(there(value), value);
      }
    }
    const shared = new Uint8Array(new SharedArrayBuffer(4)).fill(7);
    const back = there({ shared }) as { shared: Uint8Array };
    assert.deepEqual(back.shared, Uint8Array.of(7, 7, 7, 7));
    assert.ok(back.shared.buffer instanceof ArrayBuffer);
  });

  test('what is around the data is not sent: the exceptions of V1', () => {
    const bare = Object.assign(Object.create(null) as object, { a: 1 });
    assert.deepEqual(there(bare), { a: 1 });
    const getter = {
      get a() {
        return 1;
      },
    };
    assert.deepEqual(there(getter), { a: 1 });
    assert.deepEqual(there(/(?<x>a)/.exec('a')), ['a', 'a']);
    assert.deepEqual(there(Object.defineProperty({ a: 1 }, 'hidden', { value: 2 })), { a: 1 });
    assert.deepEqual(there(Object.freeze({ a: 1 })), { a: 1 });
  });

  test('anything at all comes back as it was or is refused', () => {
    const anything = fc.anything({
      withBigInt: true,
      withBoxedValues: true,
      withDate: true,
      withMap: true,
      withSet: true,
      withSparseArray: true,
      withTypedArray: true,
      withUnicodeString: true,
      withObjectString: true,
    });
    const odd = fc.constantFrom<unknown>(() => 1, Symbol('s'), /x/, new Error('no'), '\ud800');
    const mixed = fc.oneof(anything, fc.array(fc.oneof(anything, odd), { maxLength: 3 }), odd);
    let sent = 0;
    fc.assert(
      fc.property(mixed, (value) => {
        try {
          const back = there(value);
          assert.deepEqual(back, value);
          sent += 1;
        } catch (error) {
          assert.ok(hasCode(error, 'VALUE_NOT_SERIALIZABLE'), String(error));
          assert.match(error.message, /^value.* cannot be sent/);
        }
      }),
      { numRuns: 1000 },
    );
    assert.ok(sent > 100, `${sent} of 1000 were sent`);
  });

  test('what was read shares no memory with the bytes', () => {
    for (const value of [Uint8Array.of(1, 2), { a: Uint8Array.of(1, 2) }, [new Int16Array([1])]]) {
      const bytes = bytesOf(value);
      const back = decodeValue(bytes, 0, bytes.length);
      bytes.fill(0xff);
      assert.deepEqual(back, value);
    }
    const inside = there({ long: 'x'.repeat(100), bytes: Uint8Array.of(1) }) as {
      bytes: Uint8Array;
    };
    assert.equal(inside.bytes.buffer.byteLength, 1, 'a part keeps the whole in memory');
  });
});

suite('the encoding of simple values (V2)', () => {
  const rows: [string, unknown][] = [
    ['a0', ''],
    ['a161', 'a'],
    [`bf${'78'.repeat(31)}`, 'x'.repeat(31)],
    [`d920${'78'.repeat(32)}`, 'x'.repeat(32)],
    [`d9ff${'78'.repeat(255)}`, 'x'.repeat(255)],
    [`da0100${'78'.repeat(256)}`, 'x'.repeat(256)],
    ['a3e6bca2', '漢'],
    [`d921${'e6bca2'.repeat(11)}`, '漢'.repeat(11)],
    ['00', 0],
    ['3f', 63],
    ['cc40', 64],
    ['cc7f', 127],
    ['ccff', 255],
    ['cd0100', 256],
    ['cdffff', 65_535],
    ['ce00010000', 65_536],
    ['ceffffffff', 2 ** 32 - 1],
    ['cb41f0000000000000', 2 ** 32],
    ['ff', -1],
    ['e0', -32],
    ['d0df', -33],
    ['d080', -128],
    ['d1ff7f', -129],
    ['d18000', -32_768],
    ['d2ffff7fff', -32_769],
    ['d280000000', -(2 ** 31)],
    ['cbc1e0000000200000', -(2 ** 31) - 1],
    ['cb8000000000000000', -0],
    ['cb3ff8000000000000', 1.5],
    ['cb7ff8000000000000', Number.NaN],
    ['d30000000000000001', 1n],
    ['cf8000000000000000', 2n ** 63n],
    ['c70942010000000000000000', 2n ** 64n],
    ['c70942ff7fffffffffffffff', -(2n ** 63n) - 1n],
    ['c2', false],
    ['c3', true],
    ['c0', null],
    ['c4020102', Uint8Array.of(1, 2)],
    ['9301a161c0', [1, 'a', null]],
    ['dc0010' + '01'.repeat(16), Array.from({ length: 16 }, () => 1)],
  ];
  for (const [hex, value] of rows) {
    test(`${hex.slice(0, 24)}${hex.length > 24 ? '…' : ''}`, () => assert.equal(hexOf(value), hex));
  }

  test('every NaN is one NaN', () => {
    const odd = new Float64Array(Uint32Array.of(1, 0xfff8_0000).buffer)[0];
    assert.equal(hexOf(odd), hexOf(Number.NaN));
  });

  test('does not depend on how a text was put together', () => {
    assert.equal(hexOf(['a', 'b'].join('')), hexOf('ab'));
  });
});

suite('encodeValue and the room it has', () => {
  test('an array of which one element is not simple fits when its packed form does', () => {
    const array = [-0, undefined];
    const end = encodeValue(array, room, 0);
    assert.ok(end < 10, 'shorter than its first element alone would make it');
    assert.equal(encodeValue(array, room, 0, end), end);
    assert.equal(encodeValue(array, room, 0, end - 1), -1);
  });

  test('writes only in front of the limit, and exactly when it fits', () => {
    fc.assert(
      fc.property(
        fc.oneof(scalars, fc.array(scalars, { maxLength: 4 })),
        fc.nat(3),
        (value, at) => {
          const bytes = bytesOf(value);
          const fits = new Uint8Array(at + bytes.length + 8).fill(0xee);
          const limit = at + bytes.length;
          assert.equal(encodeValue(value, fits, at, limit), limit);
          assert.deepEqual(fits.subarray(at, limit), bytes);
          assert.deepEqual(fits.subarray(limit), new Uint8Array(8).fill(0xee));
          for (let less = limit - 1; less >= at; less -= Math.ceil((limit - at) / 8)) {
            fits.fill(0xee);
            assert.equal(encodeValue(value, fits, at, less), -1);
            assert.deepEqual(fits.subarray(less), new Uint8Array(fits.length - less).fill(0xee));
          }
        },
      ),
    );
  });
});

test('values are written into shared memory', () => {
  const shared = new Uint8Array(new SharedArrayBuffer(1000));
  for (const value of ['word', 'é', 'x'.repeat(100), { a: [1, '漢'] }, Uint8Array.of(1), 1.5]) {
    const end = encodeValue(value, shared, 5);
    assert.deepEqual(decodeValue(shared, 5, end), value);
  }
});
