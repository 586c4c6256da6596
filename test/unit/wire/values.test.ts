import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import * as fc from 'fast-check';
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

  test('a cycle and a shared part', () => {
    const cycle: Record<string, unknown> = { zero: -0 };
    cycle['self'] = cycle;
    const back = there(cycle) as Record<string, unknown>;
    assert.equal(back['self'], back);
    assert.ok(Object.is(back['zero'], -0));

    const part = { a: 1 };
    const shared = there([part, part]) as unknown[];
    assert.equal(shared[0], shared[1]);

    const list: unknown[] = [];
    list.push(list);
    const listBack = there(list) as unknown[];
    assert.equal(listBack[0], listBack);
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
