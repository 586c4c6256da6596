import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import * as fc from 'fast-check';
import { hasCode } from '../../../src/base/errors.ts';
import { hashGroupingKey, NOT_A_KEY } from '../../../src/wire/grouping-key.ts';
import { encodeValue, isGroupingKey } from '../../../src/wire/values.ts';
import { values } from '../../support/arbitrary-values.ts';

const room = new Uint8Array(64 * 1024);

function hashOf(value: unknown): number {
  return hashGroupingKey(room, 0, encodeValue(value, room, 0));
}

function hashOfBytes(...bytes: number[]): number {
  return hashGroupingKey(Uint8Array.from(bytes), 0, bytes.length);
}

const keys: fc.Arbitrary<unknown> = fc.letrec((tie) => ({
  key: fc.oneof(
    { depthSize: 'small' },
    fc.double(),
    fc.integer(),
    fc.string({ unit: 'grapheme' }),
    fc.boolean(),
    fc.bigInt({ min: -(2n ** 80n), max: 2n ** 80n }),
    fc.uint8Array({ maxLength: 40 }),
    fc.constant(null),
    fc.array(tie('key'), { maxLength: 4 }),
  ),
})).key;

suite('hashGroupingKey', () => {
  test('never changes: keyed state is found by it (K3)', () => {
    const rows: [unknown, number][] = [
      ['', 821_347_078],
      ['a', -810_024_386],
      ['hello', -517_008_771],
      ['heron is fast', -458_867_390],
      ['Größe', 885_218_029],
      [0, -1_272_925_541],
      [1, 1_819_396_776],
      [-1, -2_134_226_551],
      [1.5, 1_101_358_913],
      [2 ** 32, -1_785_764_155],
      [Number.NaN, -205_927_683],
      [1n, 1_342_695_206],
      [-(2n ** 70n), 1_689_664_577],
      [true, 834_474_203],
      [false, 519_245_393],
      [null, 1_003_199_976],
      [Uint8Array.of(1, 2, 3), 1_277_792_099],
      [[1, 'a', null], 1_551_106_657],
    ];
    for (const [key, hash] of rows) assert.equal(hashOf(key), hash, String(key));
  });

  test('is a signed 32-bit number for every key', () => {
    fc.assert(
      fc.property(keys, (key) => {
        const hash = hashOf(key);
        assert.equal(hash, hash | 0);
      }),
    );
  });

  test('does not depend on where the bytes lie', () => {
    fc.assert(
      fc.property(keys, fc.integer({ min: 1, max: 9 }), (key, offset) => {
        const end = encodeValue(key, room, offset);
        assert.equal(hashGroupingKey(room, offset, end), hashOf(key));
      }),
    );
  });

  test('takes equal numbers as equal, however they are encoded (K1)', () => {
    assert.equal(hashOf(-0), hashOf(0));
    assert.equal(hashOfBytes(0x01), hashOfBytes(0xcc, 1));
    assert.equal(hashOfBytes(0x01), hashOfBytes(0xcd, 0, 1));
    assert.equal(hashOfBytes(0x01), hashOfBytes(0xce, 0, 0, 0, 1));
    assert.equal(hashOfBytes(0x01), hashOfBytes(0xca, 0x3f, 0x80, 0, 0));
    assert.equal(hashOfBytes(0x01), hashOfBytes(0xcb, 0x3f, 0xf0, 0, 0, 0, 0, 0, 0));
    assert.equal(hashOfBytes(0xff), hashOfBytes(0xd0, 0xff));
    assert.equal(hashOfBytes(0xff), hashOfBytes(0xd1, 0xff, 0xff));
    assert.equal(hashOfBytes(0xff), hashOfBytes(0xd2, 0xff, 0xff, 0xff, 0xff));
    const otherNaN = [0xcb, 0xff, 0xf8, 0, 0, 0, 0, 0, 1];
    assert.equal(hashOfBytes(...otherNaN), hashOf(Number.NaN));
  });

  test('takes equal runs as equal, whatever the size of their length (K1)', () => {
    assert.equal(hashOfBytes(0xa1, 0x61), hashOfBytes(0xd9, 1, 0x61));
    assert.equal(hashOfBytes(0xa1, 0x61), hashOfBytes(0xda, 0, 1, 0x61));
    assert.equal(hashOfBytes(0xa1, 0x61), hashOfBytes(0xdb, 0, 0, 0, 1, 0x61));
    assert.equal(hashOfBytes(0xc4, 1, 0x61), hashOfBytes(0xc5, 0, 1, 0x61));
    assert.equal(hashOfBytes(0x91, 0x01), hashOfBytes(0xdc, 0, 1, 0x01));
    assert.equal(hashOfBytes(0x91, 0x01), hashOfBytes(0xdd, 0, 0, 0, 1, 0xcc, 1));
  });

  test('tells kinds apart (K2)', () => {
    const different = [1, 1n, '1', true, false, null, Uint8Array.of(0x31), [1], ['1'], [], [[]]];
    assert.equal(new Set(different.map(hashOf)).size, different.length);
  });

  test('spreads numbers and short words evenly', () => {
    for (const keyOf of [(n: number) => n, (n: number) => `word${n}`, (n: number) => n / 8]) {
      const counts = new Uint32Array(64);
      for (let n = 0; n < 64_000; n += 1) {
        const bucket = (hashOf(keyOf(n)) >>> 0) % 64;
        counts[bucket] = (counts[bucket] as number) + 1;
      }
      assert.ok(Math.max(...counts) < 1200, `fullest of 64 buckets: ${Math.max(...counts)}`);
    }
  });

  test('refuses what cannot be a key, also inside an array', () => {
    const refused = [{}, { a: 1 }, new Map(), new Set(), undefined, new Date(0), new Int8Array(1)];
    for (const value of refused) {
      assert.equal(hashOf(value), NOT_A_KEY);
      assert.equal(hashOf([1, value]), NOT_A_KEY);
    }
  });

  test('refuses exactly what isGroupingKey refuses', () => {
    fc.assert(
      fc.property(fc.oneof(keys, values), (value) => {
        const isKey = hashOf(value) !== NOT_A_KEY;
        assert.equal(isGroupingKey(value), isKey);
        assert.equal(isGroupingKey([value]), hashOf([value]) !== NOT_A_KEY);
      }),
      { numRuns: 2000 },
    );
    let deep: unknown = 1;
    for (let level = 0; level < 16; level += 1) deep = [deep];
    assert.ok(isGroupingKey(deep));
    assert.ok(!isGroupingKey([deep]));
    assert.ok(!isGroupingKey(new Array(1)));
  });

  test('takes arrays of all kinds of keys, down to a depth', () => {
    const mixed = [Uint8Array.of(), 2n ** 64n, -(2n ** 64n), 'a', null, [1.5, [true]]];
    assert.notEqual(hashOf(mixed), NOT_A_KEY);
    let deep: unknown = 1;
    for (let level = 0; level < 16; level += 1) deep = [deep];
    assert.notEqual(hashOf(deep), NOT_A_KEY);
    assert.equal(hashOf([deep]), NOT_A_KEY);
  });

  test('takes an array that occurs twice like two arrays', () => {
    const shared = [1n, 'a'];
    assert.equal(
      hashOf([shared, shared]),
      hashOf([
        [1n, 'a'],
        [1n, 'a'],
      ]),
    );
  });

  test('any bytes give a hash, NOT_A_KEY or PACKET_MALFORMED', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 24 }), (bytes) => {
        try {
          const hash = hashGroupingKey(bytes, 0, bytes.length);
          assert.ok(hash === NOT_A_KEY || hash === (hash | 0));
        } catch (error) {
          assert.ok(hasCode(error, 'PACKET_MALFORMED'), String(error));
        }
      }),
      { numRuns: 5000 },
    );
  });

  test('half a key is malformed', () => {
    for (const key of ['hello', 'x'.repeat(50), 300, 1.5, 7n, Uint8Array.of(1, 2), [1, 'a']]) {
      const end = encodeValue(key, room, 0);
      for (let cut = 0; cut < end; cut += 1) {
        const half = room.slice(0, cut);
        assert.throws(
          () => hashGroupingKey(half, 0, cut),
          (error) => hasCode(error, 'PACKET_MALFORMED'),
        );
      }
    }
  });
});
