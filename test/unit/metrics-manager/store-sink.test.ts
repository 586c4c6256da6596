import assert from 'node:assert/strict';
import { test } from 'node:test';
import { silentLogger } from '../../../src/base/logger.ts';
import { createSeededRandom } from '../../../src/base/random.ts';
import { decodeHistogram } from '../../../src/metrics/histogram-bytes.ts';
import { StoreSink } from '../../../src/metrics-manager/store-sink.ts';
import { PublishMetricsToMaster } from '../../../src/wire/messages.ts';
import { histogramOf } from '../../support/histograms.ts';
import { ManualClock } from '../../support/manual-clock.ts';
import { AN_EXCEPTION, aMetricsRecord, sinkCounters } from '../../support/metrics-records.ts';
import { ScriptedNetwork, ScriptedStream } from '../../support/scripted-network.ts';
import { settled } from '../../support/settled.ts';

const MASTER = { host: '127.0.0.1', port: 7 };

class Fixture {
  readonly network = new ScriptedNetwork();
  readonly clock = new ManualClock();
  readonly counters = sinkCounters();
  readonly dropped = this.counters.dropped;
  readonly sink: StoreSink;

  constructor(queueBytesMax = 10_000) {
    this.sink = new StoreSink({
      network: this.network,
      clock: this.clock,
      random: createSeededRandom(1),
      logger: silentLogger,
      reconnectMs: 1_000,
      name: 'tmanager-sink',
      peer: 'topology master',
      counters: this.counters,
      queueBytesMax,
    });
  }

  /** Answers the newest dial. */
  async connect(): Promise<ScriptedStream> {
    const stream = new ScriptedStream();
    this.network.dials.at(-1)?.accept(stream);
    await settled();
    this.clock.runSoon();
    return stream;
  }
}

async function received(stream: ScriptedStream) {
  await settled(); // The connection gathers what is sent in one go.
  return stream.take().map(({ typeName, payload }) => {
    assert.equal(typeName, PublishMetricsToMaster.typeName);
    return PublishMetricsToMaster.decode(Buffer.from(payload, 'latin1'));
  });
}

test('what the master keeps is sent, the rest is not', async () => {
  const fixture = new Fixture();
  const { sink } = fixture;
  sink.retarget(MASTER);
  const stream = await fixture.connect();
  sink.accept(
    aMetricsRecord({
      metrics: [
        { name: '__emit-count/default', value: '3' },
        { name: '__my-own', value: '9' },
      ],
      exceptions: [AN_EXCEPTION],
    }),
  );
  sink.accept(aMetricsRecord({ metrics: [{ name: '__my-own', value: '9' }] }));
  const [message, ...others] = await received(stream);
  assert.equal(others.length, 0);
  assert.deepEqual(
    message?.metrics.map(({ componentName, instanceId, name, value, timestamp }) => [
      componentName,
      instanceId,
      name,
      value,
      timestamp,
    ]),
    [['word', 'container_1_word_1', '__emit-count/default', '3', 1_700_000_000_000n]],
  );
  assert.deepEqual(
    message?.exceptions.map(({ hostname, stacktrace, count }) => [hostname, stacktrace, count]),
    [['host-1', 'TypeError: x', 2]],
  );
});

test('records wait for a master that is not there yet', async () => {
  const fixture = new Fixture();
  const { sink } = fixture;
  sink.accept(aMetricsRecord());
  sink.accept(aMetricsRecord());
  assert.ok(sink.queuedBytes > 0);
  sink.retarget(MASTER);
  const stream = await fixture.connect();
  assert.equal((await received(stream)).length, 2);
  assert.equal(sink.queuedBytes, 0);
  assert.equal(fixture.dropped.value, 0);
});

test('for a master that stays away the newest records are kept', async () => {
  const fixture = new Fixture();
  const { sink } = fixture;
  for (let number = 0; number < 1_000; number += 1) {
    sink.accept(
      aMetricsRecord({ metrics: [{ name: '__emit-count/default', value: `${number}` }] }),
    );
    assert.ok(sink.queuedBytes <= 10_000);
  }
  sink.retarget(MASTER);
  const stream = await fixture.connect();
  const values = (await received(stream)).map(({ metrics }) => Number(metrics[0]?.value));
  assert.equal(values.at(-1), 999);
  assert.equal(values.length + fixture.dropped.value, 1_000);
  assert.equal(values[0], fixture.dropped.value);
});

test('a record beyond the whole queue is dropped alone', () => {
  const fixture = new Fixture(100);
  const { sink } = fixture;
  sink.accept(aMetricsRecord({ exceptions: [{ ...AN_EXCEPTION, stackTrace: 'x'.repeat(200) }] }));
  assert.equal(fixture.dropped.value, 2);
  assert.equal(sink.queuedBytes, 0);
});

test('a master that does not read holds up nothing', async () => {
  const fixture = new Fixture(100_000);
  const { sink } = fixture;
  sink.retarget(MASTER);
  const stream = await fixture.connect();
  const record = aMetricsRecord({
    exceptions: [{ ...AN_EXCEPTION, stackTrace: 'x'.repeat(9_000) }],
  });
  for (let number = 0; number < 200; number += 1) sink.accept(record);
  assert.ok(fixture.dropped.value > 0);
  assert.ok(sink.queuedBytes <= 100_000);
  // It reads again: what is left of the queue follows within a second.
  let messages = 0;
  for (let rounds = 0; rounds < 20; rounds += 1) {
    messages += (await received(stream)).length;
    fixture.clock.advance(1_000);
  }
  assert.equal(sink.queuedBytes, 0);
  assert.equal(messages * 2 + fixture.dropped.value, 400);
});

test('a master that moves is followed', async () => {
  const fixture = new Fixture();
  const { sink, network } = fixture;
  sink.retarget(MASTER);
  const old = await fixture.connect();
  sink.retarget({ host: '127.0.0.2', port: 8 });
  const stream = await fixture.connect();
  assert.equal(network.dials.at(-1)?.address.port, 8);
  sink.accept(aMetricsRecord());
  assert.equal((await received(stream)).length, 1);
  assert.equal((await received(old)).length, 0);
});

test('close sends what is at hand and leaves nothing behind', async () => {
  const fixture = new Fixture();
  const { sink } = fixture;
  sink.retarget(MASTER);
  const stream = await fixture.connect();
  sink.accept(aMetricsRecord());
  await sink.close();
  await sink.close();
  assert.equal((await received(stream)).length, 1);
  stream.hangUp();
  await settled();
  assert.equal(fixture.clock.pendingTimers, 0);
});

test('distributions of what the master keeps go with it', async () => {
  const fixture = new Fixture();
  fixture.sink.retarget(MASTER);
  const stream = await fixture.connect();
  const histogram = histogramOf([5, 9]);
  const names = ['__execute-latency/split/default', 'sizes', '__gateway-unknown'];
  fixture.sink.accept(
    aMetricsRecord({ metrics: [], histograms: names.map((name) => ({ name, histogram })) }),
  );
  const [message] = await received(stream);
  assert.deepEqual(
    message?.histograms.map(({ name, componentName, buckets }) => [
      name,
      componentName,
      decodeHistogram(buckets)?.count,
    ]),
    [
      ['__execute-latency/split/default', 'word', 2],
      ['sizes', 'word', 2],
    ],
  );
});
