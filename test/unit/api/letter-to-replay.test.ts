import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import {
  FAILED,
  NumberSource,
  NumberStore,
  openedSpout,
  RereadingNumberSource,
} from '../../support/replayed-spout.ts';
import { settled } from '../../support/settled.ts';

describe('a dead letter that is emitted again', () => {
  function aLetter(values: readonly unknown[] | undefined, position = '7') {
    const log: string[] = [];
    const letter = {
      id: '1-abc',
      stream: 'default',
      values,
      position,
      messageId: undefined,
      attempts: 6,
      reason: {
        kind: 'explicit' as const,
        component: undefined,
        task: undefined,
        message: undefined,
        stack: undefined,
      },
      remove: async () => void log.push('removed'),
      keep: () => void log.push('kept'),
    };
    return { letter, log };
  }

  it('is a new message, and is removed when that is acked', async () => {
    const store = new NumberStore(0);
    const spout = await openedSpout(new NumberSource(store));
    const { letter, log } = aLetter([7]);
    void spout.spout.replay?.(letter);
    await spout.drain();
    const [message] = spout.take();
    assert.equal(message?.number, 7);
    assert.equal(spout.spout.holdsMessages(), true);
    assert.deepEqual(log, []);
    void spout.spout.ack(message?.id);
    assert.deepEqual(log, ['removed']);
    await spout.advance(1_000);
    assert.deepEqual(store.commits, [], 'its position is another’s by now');
  });

  it('becomes a new letter when it fails again, and only then is the old one removed', async () => {
    const config = { 'topology.retry.limit': '0' };
    const spout = await openedSpout(new NumberSource(new NumberStore(0)), { config });
    const { letter, log } = aLetter([7]);
    void spout.spout.replay?.(letter);
    await spout.drain();
    spout.collector.deadLetter = async ({ values, attempts, position }) => {
      log.push(`new ${String(values)} after ${attempts} at ${position}`);
    };
    void spout.spout.fail(spout.take()[0]?.id, FAILED);
    await settled();
    assert.deepEqual(log, ['new 7 after 1 at 7', 'removed']);
  });

  it('is read again from the source when it was a record that could not be read', async () => {
    const reading = await openedSpout(new RereadingNumberSource(new NumberStore(0)));
    const one = aLetter(undefined);
    void reading.spout.replay?.(one.letter);
    await reading.drain();
    assert.deepEqual(
      reading.take().map(({ number }) => number),
      [7],
    );

    const other = await openedSpout(new NumberSource(new NumberStore(0)));
    const two = aLetter(undefined);
    void other.spout.replay?.(two.letter);
    await other.drain();
    assert.deepEqual(other.take(), []);
    assert.deepEqual(two.log, ['kept']);
    assert.equal(other.spout.holdsMessages(), false);
  });
});
