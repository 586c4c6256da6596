/*
  A real metrics cache over real sockets. What it is told are the bytes that Heron's own metrics
  manager has sent, and the questions are those of Heron's Tracker.
*/
import assert from 'node:assert/strict';
import { test, type TestContext } from 'node:test';
import { systemClock } from '../../../src/base/clock.ts';
import { silentLogger } from '../../../src/base/logger.ts';
import { createSystemRandom } from '../../../src/base/random.ts';
import { MetricsCache } from '../../../src/metrics-cache/metrics-cache.ts';
import { Settings } from '../../../src/model/settings.ts';
import { listenHttp } from '../../../src/net/http-server.ts';
import { MessageHandlers } from '../../../src/net/message-handlers.ts';
import { PacketConnection } from '../../../src/net/packet-connection.ts';
import { tcpNetwork } from '../../../src/net/tcp-network.ts';
import { systemResourceUse } from '../../../src/process-start/system-resource-use.ts';
import { MemoryStateManager } from '../../../src/state-manager/memory/memory-state-manager.ts';
import { paths } from '../../../src/state-manager/paths.ts';
import { FrameAssembler } from '../../../src/wire/frame.ts';
import {
  MetricsCacheLocation,
  PublishMetricsToMaster,
  QueryExceptions,
  QueryMetrics,
  StatusCode,
} from '../../../src/wire/messages.ts';
import { eventually } from '../../support/eventually.ts';
import { goldenFolder, type PacketFacts } from '../../support/golden.ts';
import { aSpout, aTopology } from '../../support/topologies.ts';

const HOST = '127.0.0.1';
const TOPOLOGY = aTopology([aSpout('word')]);
const EMITTED = '__emit-count/default';
const common = {
  network: tcpNetwork,
  clock: systemClock,
  random: createSystemRandom(),
  logger: silentLogger,
};

async function start(t: TestContext) {
  const stateManager = new MemoryStateManager();
  const cache = new MetricsCache({
    ...common,
    topologyId: TOPOLOGY.id,
    topology: TOPOLOGY,
    token: 'secret',
    host: HOST,
    serverPort: 0,
    statsPort: 0,
    metricsManagerPort: 1, // Nobody listens there; nothing waits for it.
    settings: new Settings(TOPOLOGY.config),
    stateManager,
    listenHttp,
    resourceUse: systemResourceUse,
  });
  t.after(() => cache.close());
  await cache.start();
  const read = async () => (await stateManager.read(paths.metricsCache(TOPOLOGY.name))) ?? false;
  const bytes = await eventually(read);
  return { cache, location: MetricsCacheLocation.decode(bytes) };
}

async function connect(t: TestContext, port: number): Promise<PacketConnection> {
  const stream = await tcpNetwork.connect({ host: HOST, port });
  const handlers = new MessageHandlers();
  const connection = new PacketConnection(stream, { ...common, handlers, packetBytesMax: 1e6 });
  t.after(() => connection.abort());
  return connection;
}

function query() {
  const fields = { componentName: 'word', metric: [EMITTED], interval: 0n };
  return QueryMetrics.request.create(fields);
}

const publications = goldenFolder<PacketFacts>('packets').filter(({ name }) =>
  name.includes('metricsmgr-from-PublishMetrics'),
);

/** What Heron's metrics manager told in one packet. */
function toldIn(bytes: Buffer) {
  const assembler = new FrameAssembler(1_000_000);
  assembler.feed(bytes);
  const packet = assembler.next();
  assert.equal(packet?.typeName, PublishMetricsToMaster.typeName);
  return PublishMetricsToMaster.decode(packet.payload);
}

test('the state tree says where it is, in the form of Heron', async (t) => {
  const { cache, location } = await start(t);
  assert.equal(location.topologyName, TOPOLOGY.name);
  assert.equal(location.topologyId, TOPOLOGY.id);
  assert.equal(location.host, HOST);
  assert.equal(location.controllerPort, -1);
  assert.deepEqual({ server: location.serverPort, stats: location.statsPort }, { ...cache.ports });
});

for (const { name, bytes } of publications) {
  test(`what Heron's metrics manager tells is remembered: ${name}`, async (t) => {
    const { location } = await start(t);
    const stream = await tcpNetwork.connect({ host: HOST, port: location.serverPort });
    t.after(() => stream.destroy());
    stream.start({ onData: () => {}, onClosed: () => {} });
    stream.write([bytes], () => {});
    const told = toldIn(bytes);
    const asker = await connect(t, location.serverPort);
    for (const { componentName, instanceId, name: metric, value } of told.metrics) {
      const request = QueryMetrics.request.create({
        componentName,
        instanceId: [instanceId],
        metric: [metric],
        interval: 0n,
      });
      await eventually(async () => {
        const answer = await asker.request(QueryMetrics, request, { timeoutMs: 10_000 });
        return Number(answer.metric[0]?.metric[0]?.value) === Number(value);
      });
    }
    for (const { componentName, instanceId, stacktrace } of told.exceptions) {
      const request = QueryExceptions.request.create({ componentName, instances: [instanceId] });
      const answer = await asker.request(QueryExceptions, request, { timeoutMs: 10_000 });
      if (answer.status?.status !== StatusCode.OK) continue; // Not of this topology.
      assert.ok(answer.exceptions.some((record) => record.stacktrace === stacktrace));
    }
  });
}

test('both ports answer alike, exceptions included', async (t) => {
  const { location } = await start(t);
  const connection = await connect(t, location.serverPort);
  const source = { componentName: 'word', instanceId: 'container_1_word_1' };
  const metric = { ...source, name: EMITTED, value: '3', timestamp: 0n };
  const thrown = (time: string) => ({
    ...source,
    hostname: 'h',
    stacktrace: 'TypeError: x',
    firsttime: time,
    lasttime: time,
    count: 1,
  });
  const message = PublishMetricsToMaster.create({
    metrics: [metric, metric],
    exceptions: [thrown('monday'), thrown('tuesday')],
  });
  connection.send(PublishMetricsToMaster, message);
  const timeout = { timeoutMs: 10_000 };
  const metrics = await connection.request(QueryMetrics, query(), timeout);
  assert.deepEqual(
    metrics.metric.map((task) => [task.instanceId, task.metric[0]?.value]),
    [['container_1_word_1', '6.000000']],
  );
  const askException = QueryExceptions.request.create({ componentName: 'word' });
  const exceptions = await connection.request(QueryExceptions, askException, timeout);
  assert.deepEqual(
    exceptions.exceptions.map(({ firsttime, lasttime, count }) => [firsttime, lasttime, count]),
    [['monday', 'tuesday', 2]],
  );
  const ask = async (path: string, body: Uint8Array): Promise<Buffer> => {
    const url = `http://${HOST}:${location.statsPort}${path}`;
    const answer = await fetch(url, { method: 'POST', body: Buffer.from(body) });
    assert.equal(answer.headers.get('content-type'), 'application/octet-stream');
    return Buffer.from(await answer.arrayBuffer());
  };
  const asked = QueryMetrics.response.decode(
    await ask('/stats', QueryMetrics.request.encode(query())),
  );
  // The interval is up to now, and a second may have passed.
  assert.deepEqual(asked, { ...metrics, interval: asked.interval });
  assert.deepEqual(
    await ask('/exceptions', QueryExceptions.request.encode(askException)),
    Buffer.from(QueryExceptions.response.encode(exceptions)),
  );
});

test('what is no message ends its connection and nothing else', async (t) => {
  const { location } = await start(t);
  const stream = await tcpNetwork.connect({ host: HOST, port: location.serverPort });
  const closed = new Promise<void>((resolve) => {
    stream.start({ onData: () => {}, onClosed: () => resolve() });
  });
  stream.write([Buffer.from('GET / HTTP/1.1\r\n\r\n')], () => {});
  await closed;
  const asker = await connect(t, location.serverPort);
  const answer = await asker.request(QueryMetrics, query(), { timeoutMs: 10_000 });
  assert.equal(answer.status?.message, 'Metrics not available for component `word`');
});
