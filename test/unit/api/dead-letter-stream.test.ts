import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { DEAD_LETTER_STREAM, deadLetterFields, ReplayableSpout } from '../../../src/api/index.ts';
import {
  FAILED,
  NumberStore,
  ReplayedSpout,
  RereadingNumberSource,
} from '../../support/replayed-spout.ts';

describe('dead letters as a stream', () => {
  function lettered(store: NumberStore): ReplayedSpout {
    class Lettered extends ReplayableSpout.of({
      default: ['number'],
      [DEAD_LETTER_STREAM]: deadLetterFields,
    }) {
      override source() {
        return new RereadingNumberSource(store);
      }
    }
    return new ReplayedSpout(new Lettered(), { config: { 'topology.retry.limit': '1' } });
  }

  async function givenUp(spout: ReplayedSpout): Promise<void> {
    await spout.open();
    await spout.drain();
    for (let attempt = 0; attempt < 2; attempt += 1) {
      for (const { id } of spout.take()) void spout.spout.fail(id, FAILED);
      await spout.advance(1_000);
      await spout.drain();
    }
  }

  it('are emitted, and settle their message when they are acked', async () => {
    const store = new NumberStore(1);
    const spout = lettered(store);
    await givenUp(spout);
    const [{ streamIndex, values, messageId } = assert.fail()] = spout.collector.emitted;
    assert.equal(streamIndex, 1);
    const [id, atMs, stream, of, position, attempts, kind, ...rest] = values;
    assert.match(String(id), /^1-[0-9a-f]{16}$/);
    assert.equal(atMs, spout.clock.wallNow());
    assert.deepEqual(
      [stream, of, position, attempts, kind],
      ['default', { number: 1 }, '1', 2, 'explicit'],
    );
    assert.deepEqual(rest, [null, null, 'no', 'no\n at bolt']);
    assert.deepEqual(
      spout.collector.givenUp.map(({ isEmitted }) => isEmitted),
      [true],
    );
    await spout.advance(1_000);
    assert.equal(store.committed, undefined);
    void spout.spout.ack(messageId);
    await spout.advance(1_000);
    assert.equal(store.committed, 1);
  });

  it('that fail too often go where letters go otherwise', async () => {
    const store = new NumberStore(1);
    const spout = lettered(store);
    await givenUp(spout);
    for (let attempt = 0; attempt < 2; attempt += 1) {
      const [{ streamIndex, messageId } = assert.fail()] = spout.collector.emitted.splice(0);
      assert.equal(streamIndex, 1);
      void spout.spout.fail(messageId, FAILED);
      await spout.advance(1_000);
      await spout.drain();
    }
    assert.deepEqual(spout.collector.emitted, []);
    assert.deepEqual(
      spout.collector.givenUp.map(({ values, isEmitted }) => [values, isEmitted]),
      [
        [[1], true],
        [[1], false],
      ],
    );
    await spout.advance(1_000);
    assert.equal(store.committed, 1);
  });
});
