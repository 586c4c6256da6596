import assert from 'node:assert/strict';
import { test } from 'node:test';
import { silentLogger } from '../../../src/base/logger.ts';
import { createSeededRandom } from '../../../src/base/random.ts';
import { MetricsRegistry } from '../../../src/metrics/metrics-registry.ts';
import { decodeHistogram } from '../../../src/metrics/histogram-bytes.ts';
import {
  MetricsPublisher,
  type Published,
} from '../../../src/metrics-publisher/metrics-publisher.ts';
import { encodePacket } from '../../../src/wire/frame.ts';
import { PublishMetrics, RegisterMetricPublisher, StatusCode } from '../../../src/wire/messages.ts';
import { ManualClock } from '../../support/manual-clock.ts';
import { ScriptedNetwork, ScriptedStream } from '../../support/scripted-network.ts';
import { settled } from '../../support/settled.ts';

/** A publisher whose metrics manager is the test. */
class Fixture {
  readonly network = new ScriptedNetwork();
  readonly clock = new ManualClock();
  readonly registry = new MetricsRegistry();
  readonly publisher: MetricsPublisher;

  constructor(onPublished: (published: Published) => void = () => {}) {
    this.publisher = new MetricsPublisher({
      network: this.network,
      clock: this.clock,
      random: createSeededRandom(1),
      logger: silentLogger,
      metricsManager: { host: '127.0.0.1', port: 7 },
      token: 'secret',
      identity: {
        hostname: 'host-1',
        port: 3,
        componentName: 'word',
        instanceId: 'container_1_word_3',
        instanceIndex: 2,
      },
      collect: () => this.registry.collect(),
      collectHistograms: () => this.registry.collectHistograms(),
      onPublished,
      intervalMs: 60_000,
      reconnectMs: 1_000,
    });
  }

  /** Accepts the newest dial and answers the registration, which is returned. */
  async connect(status = StatusCode.OK) {
    const stream = new ScriptedStream();
    this.network.dials.at(-1)?.accept(stream);
    await settled();
    const [packet] = stream.take();
    assert.ok(packet);
    assert.equal(packet.typeName, RegisterMetricPublisher.request.typeName);
    const { response } = RegisterMetricPublisher;
    const answer = response.encode(response.create({ status: { status, message: 'no' } }));
    stream.feed(encodePacket(response.typeName, packet.requestId, answer));
    await settled();
    const request = Buffer.from(packet.payload, 'latin1');
    return { stream, registration: RegisterMetricPublisher.request.decode(request) };
  }
}

async function published(stream: ScriptedStream) {
  await settled(); // The connection gathers what is sent in one go.
  return stream
    .take()
    .map(({ payload }) => PublishMetrics.decode(Buffer.from(payload, 'latin1')))
    .map(({ metrics, exceptions }) => ({
      metrics: metrics.map(({ name, value }) => `${name}=${value}`),
      exceptions: exceptions.map(({ stacktrace, count }) => `${stacktrace} ×${count}`),
    }));
}

test('it presents itself, then publishes at each interval', async () => {
  const fixture = new Fixture();
  const { publisher, registry, clock } = fixture;
  publisher.start();
  const { stream, registration } = await fixture.connect();
  assert.equal(registration.token, 'secret');
  assert.equal(registration.publisher?.instanceId, 'container_1_word_3');
  assert.equal(registration.publisher?.instanceIndex, 2);
  registry.counter('emitted').add(5);
  clock.advance(59_999);
  assert.deepEqual(await published(stream), []);
  clock.advance(1);
  assert.deepEqual(await published(stream), [{ metrics: ['emitted=5'], exceptions: [] }]);
  clock.advance(60_000);
  assert.deepEqual(await published(stream), [{ metrics: ['emitted=0'], exceptions: [] }]);
});

test('without a metrics manager the counts go on counting', async () => {
  const fixture = new Fixture();
  const { publisher, registry, clock } = fixture;
  publisher.start();
  for (let minute = 0; minute < 10; minute += 1) {
    registry.counter('emitted').add(1);
    clock.advance(60_000);
  }
  assert.equal(publisher.publish(), false);
  const { stream } = await fixture.connect();
  assert.equal(publisher.publish(), true);
  assert.deepEqual(await published(stream), [{ metrics: ['emitted=10'], exceptions: [] }]);
});

test('a lost connection is made again', async () => {
  const fixture = new Fixture();
  const { publisher, registry, clock, network } = fixture;
  publisher.start();
  const first = await fixture.connect();
  first.stream.hangUp();
  await settled();
  registry.counter('emitted').add(1);
  clock.advance(1_000);
  assert.equal(network.dials.length, 2);
  const { stream } = await fixture.connect();
  publisher.publish();
  assert.deepEqual(await published(stream), [{ metrics: ['emitted=1'], exceptions: [] }]);
});

test('one that was refused tries again and publishes nothing meanwhile', async () => {
  const fixture = new Fixture();
  const { publisher, registry, clock, network } = fixture;
  publisher.start();
  const { stream } = await fixture.connect(StatusCode.NOTOK);
  registry.counter('emitted').add(1);
  assert.equal(publisher.publish(), false);
  assert.deepEqual(await published(stream), []);
  clock.advance(1_000);
  assert.equal(network.dials.length, 2);
});

test('exceptions are tallied and follow the metrics', async () => {
  const fixture = new Fixture();
  const { publisher, registry } = fixture;
  publisher.start();
  const { stream } = await fixture.connect();
  registry.counter('emitted');
  for (let number = 0; number < 70; number += 1) publisher.addException(`E${number}: x`);
  publisher.addException('E0: x');
  publisher.publish();
  const [metrics, exceptions] = await published(stream);
  assert.deepEqual(metrics?.metrics, ['emitted=0', 'dropped_exceptions_count=6']);
  assert.equal(exceptions?.exceptions.length, 64);
  assert.equal(exceptions?.exceptions[0], 'E0: x ×2');
});

test('close publishes what is left', async () => {
  const fixture = new Fixture();
  const { publisher, registry, clock } = fixture;
  publisher.start();
  const { stream } = await fixture.connect();
  registry.counter('emitted').add(2);
  publisher.close();
  publisher.close();
  assert.deepEqual(await published(stream), [{ metrics: ['emitted=2'], exceptions: [] }]);
  stream.hangUp();
  await settled();
  assert.equal(clock.pendingTimers, 0);
});

test('it tells what it has published, histograms among it', async () => {
  const told: Published[] = [];
  const fixture = new Fixture((sent) => told.push(sent));
  fixture.publisher.start();
  const { stream } = await fixture.connect();
  fixture.registry.counter('emitted').add(5);
  fixture.registry.histogram('latency').record(3);
  fixture.publisher.addException('TypeError: x');
  assert.ok(fixture.publisher.publish());
  await settled();
  const messages = stream.take().map(({ payload }) => Buffer.from(payload, 'latin1'));
  const decoded = messages.map((bytes) => PublishMetrics.decode(bytes));
  assert.deepEqual(
    decoded.map(({ metrics, histograms, exceptions }) => [
      metrics.length,
      histograms.map(({ buckets }) => decodeHistogram(buckets)?.max),
      exceptions.length,
    ]),
    [
      [1, [], 0],
      [0, [3], 0],
      [0, [], 1],
    ],
  );
  const bytes = messages.reduce((sum, { length }) => sum + length, 0);
  assert.deepEqual(told, [{ packets: 3, bytes, metrics: 2, exceptions: 1 }]);
});

test('spans are handed on at once, or refused while there is nobody', async () => {
  const fixture = new Fixture();
  fixture.publisher.start();
  assert.equal(fixture.publisher.publishSpans(['{"a":1}']), false);
  const { stream } = await fixture.connect();
  assert.ok(fixture.publisher.publishSpans(['{"a":1}', '{"b":2}']));
  await settled();
  const [packet] = stream.take();
  const { spans } = PublishMetrics.decode(Buffer.from(packet?.payload ?? '', 'latin1'));
  assert.deepEqual(spans, ['{"a":1}', '{"b":2}']);
});
