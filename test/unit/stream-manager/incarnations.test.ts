import assert from 'node:assert/strict';
import { test } from 'node:test';
import { instanceId } from '../../../src/base/ids.ts';
import { Incarnations } from '../../../src/stream-manager/incarnations.ts';

const ID = instanceId('container_1_words_1');
const at = (startTicks: number, bootId = 'boot') => ({ bootId, startTicks });

test('I1, S41: of two processes of an instance the one that was started later is it', () => {
  const known = new Incarnations();
  assert.equal(known.isReplaced(ID, at(5)), false);
  known.note(ID, at(5));
  assert.equal(known.isReplaced(ID, at(9)), false);
  known.note(ID, at(9));
  assert.equal(known.isReplaced(ID, at(5)), true);
  assert.equal(known.isReplaced(ID, at(9)), false, 'it comes again');
  assert.equal(known.isReplaced(instanceId('container_1_words_2'), at(1)), false);
});

test('I2: processes of another boot, and those that do not say, are taken as they come', () => {
  const known = new Incarnations();
  known.note(ID, at(9));
  assert.equal(known.isReplaced(ID, at(5, 'another')), false);
  assert.equal(known.isReplaced(ID, at(0, '')), false);
  known.note(ID, at(0, ''));
  assert.equal(known.isReplaced(ID, at(0, '')), false);
  assert.equal(known.isReplaced(ID, at(5)), false);
});

test('an instance that is gone for good is forgotten', () => {
  const known = new Incarnations();
  known.note(ID, at(9));
  known.forget(ID);
  assert.equal(known.isReplaced(ID, at(5)), false);
});
