import assert from 'node:assert/strict';
import { test } from 'node:test';
import * as fc from 'fast-check';
import { hashModulo, LibstdcppHash } from '../../../src/wire/libstdcpp-hash.ts';
import { goldenJson } from '../../support/golden.ts';

const hash = new LibstdcppHash();

function hashText(bytes: Uint8Array): string {
  hash.of(bytes, 0, bytes.length);
  const half = (value: number): string => (value >>> 0).toString(16).padStart(8, '0');
  return half(hash.high) + half(hash.low);
}

test('hashes as libstdc++ does, for every length of the last block', () => {
  const rows: [string, string, number][] = [
    ['', '553e93901e462a6e', 478_544_805],
    ['a', '454ddee488c1ed6b', 431_037_259],
    ['hello', '26553298fdbe39c8', 401_699_860],
    ['12345678', '8c5b90a33a04dca5', 43_652_934],
    ['heron is fast', '765abb960b0e027f', 618_280_641],
    ['this is the dummy string', '4a3ba635a2f24bb8', 384_811_725],
  ];
  for (const [text, expected, modulo] of rows) {
    const bytes = Buffer.from(text);
    assert.equal(hashText(bytes), expected, text);
    assert.equal(hashModulo(bytes, 0, bytes.length), modulo, text);
  }
});

test('hashes the values of Heron languages as Heron does', () => {
  interface Row {
    readonly label: string;
    readonly values: readonly string[];
    readonly hash64: readonly string[];
    readonly acc_int32: number;
  }
  const { rows } = goldenJson('fields-grouping') as { rows: Row[] };
  assert.ok(rows.length > 20);
  for (const { label, values, hash64, acc_int32: expected } of rows) {
    const encoded = values.map((value) => Buffer.from(value, 'hex'));
    assert.deepEqual(encoded.map(hashText), hash64, label);
    let sum = 0;
    for (const bytes of encoded) sum = (sum + hashModulo(bytes, 0, bytes.length)) | 0;
    assert.equal(sum, expected, label);
  }
});

/** The same in arithmetic on bigints, straight from the definition. */
function referenceHash(bytes: Uint8Array): bigint {
  const m = 0xc6a4_a793_5bd1_e995n;
  const u64 = (value: bigint): bigint => BigInt.asUintN(64, value);
  const shiftMix = (value: bigint): bigint => value ^ (value >> 47n);
  const block = (at: number, count: number): bigint =>
    bytes.subarray(at, at + count).reduceRight((value, byte) => (value << 8n) | BigInt(byte), 0n);
  let value = 0xc70f_6907n ^ u64(BigInt(bytes.length) * m);
  const whole = bytes.length & ~7;
  for (let at = 0; at < whole; at += 8) {
    value = u64((value ^ u64(shiftMix(u64(block(at, 8) * m)) * m)) * m);
  }
  if (whole < bytes.length) value = u64((value ^ block(whole, bytes.length - whole)) * m);
  return shiftMix(u64(shiftMix(value) * m));
}

test('equals the definition for any bytes, at any offset', () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 64 }), fc.nat(8), (bytes, offset) => {
      const expected = referenceHash(bytes);
      assert.equal(hashText(bytes), expected.toString(16).padStart(16, '0'));
      const shifted = new Uint8Array(bytes.length + offset + 3).fill(0xff);
      shifted.set(bytes, offset);
      const modulo = hashModulo(shifted, offset, offset + bytes.length);
      assert.equal(modulo, Number(expected % 633_910_111n));
    }),
  );
});
