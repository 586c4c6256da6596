import assert from 'node:assert/strict';
import { createServer } from 'node:net';
import { describe, it } from 'node:test';
import { hasCode } from '../../../src/base/errors.ts';
import type { SeriesQuestion } from '../../../src/topology-client/series.ts';
import { MetricsSource } from '../../../src/tracker/metrics/metrics-source.ts';
import { ManualClock } from '../../support/manual-clock.ts';
import { aView, masterAt } from '../../support/metrics-tracker.ts';
import { StatisticsPort, type StatisticsPortOptions } from '../../support/statistics-port.ts';

const COUNT = '__emit-count/default';
const QUESTION: SeriesQuestion = {
  span: { kind: 'everything' },
  parts: [{ shape: 'totals', components: ['split'], metrics: [COUNT] }],
};

async function aPort(clock: ManualClock, fields: Partial<StatisticsPortOptions> = {}) {
  const port = await StatisticsPort.open({ clock, components: ['split'], ...fields });
  port.publish('split', 'container_1_split_2', { [COUNT]: 5 });
  return port;
}

/** An address at which nobody listens. */
async function deadAddress() {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  assert.ok(typeof address === 'object' && address !== null);
  await new Promise((resolve) => server.close(resolve));
  return { host: '127.0.0.1', statsPort: address.port, serverPort: 1, controllerPort: 1 };
}

describe('where metrics come from', () => {
  it('any number of viewers is one question, until the answer is a second old', async () => {
    const clock = new ManualClock();
    await using port = await aPort(clock);
    const source = new MetricsSource(clock);
    const view = aView({ metricsCache: port.address });
    const viewers = Array.from({ length: 50 }, () => source.series(view, QUESTION));
    const [first, ...others] = await Promise.all(viewers);
    for (const other of others) assert.equal(other, first);
    clock.advance(999);
    await source.series(view, QUESTION);
    assert.deepEqual(port.asked, ['/series']);
    clock.advance(1);
    await source.series(view, QUESTION);
    await source.series(view, { ...QUESTION, span: { kind: 'minutes', minutes: 3 } });
    assert.equal(port.asked.length, 3);
  });

  it('the cache is asked first, and the topology master when it does not answer', async () => {
    const clock = new ManualClock();
    await using cache = await aPort(clock);
    await using master = await aPort(clock, { dialect: 'topology-master' });
    const source = new MetricsSource(clock);
    const both = { metricsCache: cache.address, master: masterAt(master.address) };
    assert.equal((await source.series(aView(both), QUESTION)).origin, 'metrics-cache');
    assert.deepEqual(master.asked, []);
    const dead = await deadAddress();
    const half = aView({ ...both, metricsCache: dead, key: 'local/half' });
    assert.equal((await source.series(half, QUESTION)).origin, 'topology-master');
    const without = aView({ master: masterAt(master.address), key: 'local/without' });
    assert.equal((await source.series(without, QUESTION)).origin, 'topology-master');
  });

  it('nobody to ask, or nobody who answers, is an error that says so', async () => {
    const clock = new ManualClock();
    const source = new MetricsSource(clock);
    await assert.rejects(source.series(aView(), QUESTION), (error) => {
      assert.ok(hasCode(error, 'TOPOLOGY_NOT_READY'));
      const text = "'words' has neither a topology master nor a metrics cache at the moment";
      assert.equal(error.message, text);
      return true;
    });
    const [cache, master] = [await deadAddress(), await deadAddress()];
    const view = aView({ metricsCache: cache, master: masterAt(master), key: 'local/dead' });
    const asked = source.series(view, QUESTION);
    assert.equal(source.series(view, QUESTION), asked);
    await assert.rejects(asked, (error) => {
      assert.ok(hasCode(error, 'CONNECTION_LOST'));
      assert.match(
        error.message,
        /^the metrics cache: no answer from http:.*; the topology master: /,
      );
      return true;
    });
  });

  it('whoever knows Heron’s messages only is found out once', async () => {
    const clock = new ManualClock();
    await using port = await aPort(clock, { isHerons: true });
    const source = new MetricsSource(clock);
    const view = aView({ master: masterAt(port.address) });
    const found = await source.series(view, QUESTION);
    assert.equal(found.isHerons, true);
    assert.deepEqual([...(found.tables[0]?.rows[0]?.points ?? [])], [5]);
    clock.advance(1_000);
    await source.series(view, QUESTION);
    assert.deepEqual(port.asked, ['/series', '/stats', '/stats']);
  });

  it('what is more than a store answers comes back in its words', async () => {
    const clock = new ManualClock();
    await using port = await aPort(clock);
    const part = { shape: 'minutes' as const, components: ['split'], metrics: [COUNT] };
    const question: SeriesQuestion = {
      span: { kind: 'seconds', seconds: 90_000 },
      parts: Array.from({ length: 5_000 }, () => part),
    };
    const asked = new MetricsSource(clock).series(aView({ metricsCache: port.address }), question);
    await assert.rejects(asked, /ask for fewer instances, metrics or minutes/);
  });
});
