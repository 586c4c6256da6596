import assert from 'node:assert/strict';
import { test } from 'node:test';
import { javaScalar } from '../../../../src/tracker/answers/java-scalar.ts';

/** What `new ObjectOutputStream(…).writeObject(…)` of a JDK writes. */
const NUMBER = '787200106a6176612e6c616e672e4e756d62657286ac951d0b94e08b0200007870';
const INTEGER =
  'aced0005737200116a6176612e6c616e672e496e746567657212e2a0a4f7818738' +
  `02000149000576616c7565${NUMBER}`;
const LONG =
  'aced00057372000e6a6176612e6c616e672e4c6f6e673b8be490cc8f23df' +
  `0200014a000576616c7565${NUMBER}`;
const BOOLEAN =
  'aced0005737200116a6176612e6c616e672e426f6f6c65616ecd207280d59cfaee' +
  '0200015a000576616c75657870';
const TEXT = 'aced0005740005776f726473';

const read = (hex: string): string | number | undefined => javaScalar(Buffer.from(hex, 'hex'));

test('texts, numbers and truth values of Java are read', () => {
  assert.equal(read(TEXT), 'words');
  assert.equal(read(`${INTEGER}0000002a`), 42);
  assert.equal(read(`${INTEGER}ffffffff`), -1);
  assert.equal(read(`${LONG}0000000100000000`), 4_294_967_296);
  assert.equal(read(`${LONG}7fffffffffffffff`), '9223372036854775807');
  assert.equal(read(`${BOOLEAN}01`), 'true');
  assert.equal(read(`${BOOLEAN}00`), 'false');
});

test('anything else, and what is cut off anywhere, is not', () => {
  assert.equal(
    read('aced0005737200116a6176612e7574696c2e486173684d61700507dac1c31660d1'),
    undefined,
  );
  assert.equal(read('80049503'), undefined);
  for (let length = 0; length < TEXT.length; length += 2) {
    assert.equal(read(TEXT.slice(0, length)), undefined, `after ${length / 2} bytes`);
  }
});
