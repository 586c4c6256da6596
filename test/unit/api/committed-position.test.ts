import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  ReplayedSpout,
  numbersFrom,
  NumberSource,
  NumberStore,
} from '../../support/replayed-spout.ts';

function storeThatFails(times: number): {
  readonly store: NumberStore;
  readonly source: NumberSource;
} {
  const store = new NumberStore(10);
  store.committed = 4;
  let failures = 0;
  class Failing extends NumberSource {
    override async committed(): Promise<number | undefined> {
      failures += 1;
      if (failures <= times) throw new Error('the store is moving');
      return super.committed();
    }
  }
  return { store, source: new Failing(store) };
}

test('S17: a store that fails three times at the start is asked again', async () => {
  const { source } = storeThatFails(3);
  const spout = new ReplayedSpout(numbersFrom(() => source));
  await spout.open();
  await spout.step();
  assert.deepEqual(
    spout.take().map(({ number }) => number),
    [5],
  );
  assert.ok(spout.clock.now() > 300, 'with growing pauses');
});

test('S17: a store that goes on failing ends the instance, which begins nowhere', async () => {
  const { source, store } = storeThatFails(Number.POSITIVE_INFINITY);
  const opened: (number | undefined)[] = [];
  source.open = (from) => void opened.push(from);
  const spout = new ReplayedSpout(numbersFrom(() => source));
  await assert.rejects(spout.open(), {
    code: 'COMPONENT_FAILED',
    message: /does not say where it was committed to: the store is moving/,
  });
  assert.deepEqual(opened, []);
  assert.equal(store.committed, 4);
});
