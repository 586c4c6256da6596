/*
  A real metrics manager over real sockets: publishers on one side, files and a scripted topology
  master on the other. The golden conversation is one that Heron's own metrics manager has had.
*/
import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { connect } from 'node:net';
import { test, type TestContext } from 'node:test';
import { MetricsRegistry } from '../../../src/metrics/metrics-registry.ts';
import { MessageHandlers } from '../../../src/net/message-handlers.ts';
import { PacketConnection } from '../../../src/net/packet-connection.ts';
import { PacketServer } from '../../../src/net/server.ts';
import { tcpNetwork } from '../../../src/net/tcp-network.ts';
import { paths } from '../../../src/state-manager/paths.ts';
import { FrameAssembler } from '../../../src/wire/frame.ts';
import {
  PublishMetrics,
  PublishMetricsToMaster,
  RegisterMetricPublisher,
  StatusCode,
  TopologyMasterLocation,
  type ValueOf,
} from '../../../src/wire/messages.ts';
import { eventually } from '../../support/eventually.ts';
import { goldenFolder, type PacketFacts } from '../../support/golden.ts';
import {
  common,
  HOST,
  IDENTITY,
  OURS,
  publisher,
  type Running,
  start,
  THEIRS,
} from './running-metrics-manager.ts';

/** Stands in for the topology master: it keeps what it is sent. */
async function scriptedMaster(t: TestContext, { stateManager }: Running) {
  const received: ValueOf<typeof PublishMetricsToMaster>[] = [];
  const server = await PacketServer.listen({
    ...common,
    address: { host: HOST, port: 0 },
    packetBytesMax: 1024 * 1024,
    handlers: new MessageHandlers().on(PublishMetricsToMaster, (message) => received.push(message)),
  });
  t.after(() => server.close());
  const location = TopologyMasterLocation.create({
    topologyName: OURS.name,
    topologyId: OURS.id,
    host: HOST,
    serverPort: server.address.port,
    controllerPort: 1,
  });
  const bytes = TopologyMasterLocation.encode(location);
  await stateManager.write(paths.topologyMaster(OURS.name), bytes);
  return received;
}

test('what is published reaches the file and the topology master', async (t) => {
  const running = await start(t);
  const received = await scriptedMaster(t, running);
  const registry = new MetricsRegistry();
  registry.counter('__emit-count/default').add(7);
  const instance = publisher(t, running.port, registry);
  instance.addException('TypeError: x');
  await eventually(() => instance.publish());
  await eventually(() => received.length === 2);
  const [metrics, exceptions] = received;
  assert.deepEqual(
    metrics?.metrics.map(({ instanceId, name, value }) => [instanceId, name, value]),
    [['container_1_word_1', '__emit-count/default', '7']],
  );
  assert.equal(exceptions?.exceptions[0]?.stacktrace, 'TypeError: x');
  const [line] = (await readFile(running.metricsFile, 'utf8')).split('\n');
  assert.match(line ?? '', /"container_1_word_1","metrics":\{"__emit-count\/default":"7"\}/);
});

test('its own numbers are published at its end', async (t) => {
  const running = await start(t);
  const registry = new MetricsRegistry();
  registry.counter('a').add(1);
  const instance = publisher(t, running.port, registry);
  await eventually(() => instance.publish());
  await eventually(async () => (await readFile(running.metricsFile, 'utf8')) !== '');
  await running.manager.close();
  const lines = (await readFile(running.metricsFile, 'utf8')).trimEnd().split('\n');
  const own = JSON.parse(lines.at(-1) ?? '') as { readonly metrics: Record<string, string> };
  assert.equal(own.metrics['new-register-request'], '1');
  assert.equal(own.metrics['metrics-received'], '1');
  assert.equal(own.metrics['file-sink/record-process-count'], '1');
  assert.equal(own.metrics['tmanager-sink/dropped-count'], '0');
});

test('one with a wrong token is refused, and what it says is ignored', async (t) => {
  const running = await start(t);
  const stream = await tcpNetwork.connect({ host: HOST, port: running.port });
  const handlers = new MessageHandlers();
  const connection = new PacketConnection(stream, { ...common, handlers, packetBytesMax: 1_000 });
  t.after(() => connection.abort());
  const register = (token: string) =>
    connection.request(
      RegisterMetricPublisher,
      RegisterMetricPublisher.request.create({ publisher: { ...IDENTITY }, token }),
      { timeoutMs: 10_000 },
    );
  const publish = (value: string): void => {
    const metrics = [{ name: 'a', value }];
    connection.send(PublishMetrics, PublishMetrics.create({ metrics }));
  };
  assert.equal((await register('guess')).status?.status, StatusCode.NOTOK);
  publish('1');
  assert.equal((await register('secret')).status?.status, StatusCode.OK);
  publish('2');
  await eventually(async () => (await readFile(running.metricsFile, 'utf8')) !== '');
  assert.match(await readFile(running.metricsFile, 'utf8'), /^[^\n]*"a":"2"[^\n]*\n$/);
});

test('foreign bytes end their connection and nothing else', async (t) => {
  const running = await start(t);
  const registry = new MetricsRegistry();
  const instance = publisher(t, running.port, registry);
  await eventually(() => instance.publish());
  for (const bytes of ['GET / HTTP/1.1\r\n\r\n', '\x16\x03\x01', '\xff\xff\xff\xff\0\0\0\x10']) {
    const socket = connect(running.port, HOST);
    t.after(() => socket.destroy());
    const closed = new Promise((resolve) => {
      socket.on('close', resolve).on('error', resolve);
    });
    socket.resume().end(Buffer.from(bytes, 'latin1'));
    await closed;
  }
  assert.equal(instance.publish(), true);
});

const golden = new Map(
  goldenFolder<PacketFacts>('packets').map((file) => [file.name.replace('packets/', ''), file]),
);

function goldenBytes(name: string): Buffer {
  const file = golden.get(name);
  assert.ok(file, `golden packet ${name}`);
  return file.bytes;
}

test('a conversation of Heron’s metrics manager goes the same way here', async (t) => {
  const running = await start(t, THEIRS);
  const received = await scriptedMaster(t, running);
  const socket = connect(running.port, HOST);
  t.after(() => socket.destroy());
  const answers: ValueOf<typeof RegisterMetricPublisher.response>[] = [];
  const assembler = new FrameAssembler(1_000_000);
  socket.on('data', (chunk) => {
    assembler.feed(chunk);
    for (let packet = assembler.next(); packet !== undefined; packet = assembler.next()) {
      assert.equal(packet.typeName, RegisterMetricPublisher.response.typeName);
      answers.push(RegisterMetricPublisher.response.decode(packet.payload));
    }
  });
  const say = (name: string) => socket.write(goldenBytes(name));
  say('metricsmgr-to-MetricPublisherRegisterRequest-1');
  say('metricsmgr-to-TManagerLocationRefreshMessage-1');
  say('metricsmgr-to-MetricsCacheLocationRefreshMessage-1');
  say('metricsmgr-to-MetricPublisherRegisterRequest-2');
  say('metricsmgr-to-MetricPublisherPublishMessage-1');
  await eventually(() => answers.length === 2 && received.length === 1);
  assert.deepEqual(
    answers.map(({ status }) => status?.status),
    [StatusCode.OK, StatusCode.NOTOK],
  );
  const sent = goldenBytes('metricsmgr-from-PublishMetrics-1');
  assembler.feed(sent);
  const packet = assembler.next();
  assert.ok(packet);
  const expected = PublishMetricsToMaster.decode(packet.payload);
  const factsOf = (message: typeof expected) =>
    message.metrics
      .filter(({ name }) => name.startsWith('__')) // Ours passes on what users count, too.
      .map(({ componentName, instanceId, name, value }) => [
        componentName,
        instanceId,
        name,
        value,
      ]);
  assert.ok(received[0]);
  assert.deepEqual(factsOf(received[0]), factsOf(expected));
});

for (const session of ['py-acked', 'java-acked', 'java-twophase']) {
  test(`an instance of another engine publishes: ${session}`, async (t) => {
    const running = await start(t, THEIRS);
    const socket = connect(running.port, HOST);
    t.after(() => socket.destroy());
    socket.resume();
    socket.write(goldenBytes(`${session}-from-metrics-MetricPublisherRegisterRequest-1`));
    socket.write(goldenBytes(`${session}-from-metrics-MetricPublisherPublishMessage-1`));
    await eventually(async () => (await readFile(running.metricsFile, 'utf8')).endsWith('\n'));
  });
}
