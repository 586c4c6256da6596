import assert from 'node:assert/strict';
import { test } from 'node:test';
import { JuteReader } from '../../../../src/state-manager/zookeeper/jute-reader.ts';
import { JuteWriter } from '../../../../src/state-manager/zookeeper/jute-writer.ts';

const hex = (bytes: Uint8Array): string => Buffer.from(bytes).toString('hex');

test('every field lies as Jute says', () => {
  const frame = new JuteWriter()
    .int(-2)
    .long(-3n)
    .boolean(true)
    .boolean(false)
    .buffer(Uint8Array.of(1, 2))
    .buffer(new Uint8Array())
    .string('aé')
    .vector(['x', 'y'], () => undefined)
    .frame();
  const fields = [
    'fffffffe',
    'fffffffffffffffd',
    '01',
    '00',
    '000000020102',
    '00000000',
    '0000000361c3a9',
    '00000002',
  ];
  assert.equal(hex(frame), `0000002a${fields.join('')}`.replace('0000002a', lengthOf(fields)));
});

test('the elements of a vector follow its count', () => {
  const writer = new JuteWriter();
  writer.vector(['x', 'yz'], (text) => writer.string(text));
  assert.equal(hex(writer.frame()), '0000000f00000002000000017800000002797a');
});

test('a frame grows with what is written, by large and small steps', () => {
  for (const size of [1, 100, 119, 120, 121, 5_000, 1_000_000]) {
    const data = Uint8Array.from({ length: size }, (_, index) => index & 0xff);
    const frame = new JuteWriter().int(5).buffer(data).long(6n).frame();
    assert.equal(frame.length, 4 + 4 + 4 + size + 8);
    const reader = new JuteReader(Buffer.from(frame.subarray(4)));
    assert.equal(reader.int(), 5);
    assert.deepEqual(new Uint8Array(reader.buffer()), data);
    assert.equal(reader.long(), 6n);
  }
});

function lengthOf(fields: readonly string[]): string {
  return (fields.join('').length / 2).toString(16).padStart(8, '0');
}
