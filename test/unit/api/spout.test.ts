import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Spout } from '../../../src/api/index.ts';
import { attached } from '../../support/recording-collector.ts';
import { FAILED } from '../../support/replayed-spout.ts';

class Orders extends Spout.of({ default: ['order'], large: ['customer', 'amount'] }) {
  nextTuple(): void {}
}

test('a spout gives up a tuple with its values in order and what it knows of it', async () => {
  const spout = new Orders();
  const collector = attached(spout);
  const facts = { reason: FAILED, messageId: 17n, position: { offset: 4 }, attempts: 3 };
  await spout.deadLetter('large', { amount: 5, customer: 'ada' }, facts);
  await spout.deadLetter('default', ['x'], { reason: { ...FAILED, kind: 'time-out' } });
  const reason = {
    kind: 'explicit',
    component: undefined,
    task: undefined,
    message: 'no',
    stack: 'no\n at bolt',
  };
  assert.deepEqual(collector.givenUp, [
    {
      streamIndex: 1,
      values: ['ada', 5],
      messageId: '17',
      position: '{"offset":4}',
      attempts: 3,
      reason,
      isEmitted: false,
    },
    {
      streamIndex: 0,
      values: ['x'],
      messageId: undefined,
      position: undefined,
      attempts: 1,
      reason: { ...reason, kind: 'time-out' },
      isEmitted: false,
    },
  ]);
});

test('what is given up has to be as declared', () => {
  const spout = new Orders();
  attached(spout);
  const give = (stream: string, values: object) => () =>
    spout.deadLetter(stream as 'default', values as never, { reason: FAILED });
  assert.throws(give('other', {}), { code: 'UNKNOWN_STREAM' });
  assert.throws(give('default', { lime: 1 }), { code: 'UNKNOWN_FIELD' });
});

test('a spout that keeps nothing back holds no messages', () => {
  const spout = new Orders();
  assert.equal(spout.holdsMessages(), false);
  assert.ok(!('replay' in spout));
});
