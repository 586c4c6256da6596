/*
  The sinks of a real metrics manager, each with a real peer: pages that are read by HTTP, and
  stand-ins for Graphite, a collector of OpenTelemetry and the metrics cache.
*/
import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { createServer as createHttpServer } from 'node:http';
import { type AddressInfo, createServer, type Server } from 'node:net';
import { join } from 'node:path';
import { json } from 'node:stream/consumers';
import { test, type TestContext } from 'node:test';
import { MetricsRegistry } from '../../../src/metrics/metrics-registry.ts';
import { MessageHandlers } from '../../../src/net/message-handlers.ts';
import { PacketServer } from '../../../src/net/server.ts';
import { paths } from '../../../src/state-manager/paths.ts';
import {
  MetricsCacheLocation,
  PublishMetricsToMaster,
  type ValueOf,
  WireMetricKind,
} from '../../../src/wire/messages.ts';
import { eventually } from '../../support/eventually.ts';
import { parsePrometheus } from '../../support/prometheus-parser.ts';
import { common, HOST, OURS, publisher, type Running, start } from './running-metrics-manager.ts';

/** One publication of an instance that has emitted seven tuples. */
async function publish(t: TestContext, { port }: Running): Promise<void> {
  const registry = new MetricsRegistry();
  registry.counter('__emit-count/default').add(7);
  registry.assign('queue', 3);
  registry.histogram('__execute-latency/split/default').record(2_000_000);
  const instance = publisher(t, port, registry);
  await eventually(() => instance.publish());
}

async function portOf(t: TestContext, server: Server): Promise<number> {
  t.after(() => void server.close());
  await new Promise<void>((resolve) => {
    server.listen(0, HOST, resolve);
  });
  return (server.address() as AddressInfo).port;
}

test('O49: /metrics is there by default, and its text is what Prometheus reads', async (t) => {
  const running = await start(t);
  await publish(t, running);
  const url = `http://${HOST}:${running.manager.httpPort}/metrics`;
  const family = await eventually(async () => {
    const answer = await fetch(url);
    assert.equal(answer.headers.get('content-type'), 'text/plain; version=0.0.4; charset=utf-8');
    const families = parsePrometheus(await answer.text());
    return families.get('heron_emit_count_total') ?? false;
  });
  assert.deepEqual(family.samples, [
    {
      name: 'heron_emit_count_total',
      labels: {
        topology: OURS.name,
        cluster: 'local',
        role: 'ada',
        env: 'default',
        container: '1',
        component: 'word',
        instance_id: 'container_1_word_1',
        task: '1',
        stream: 'default',
      },
      value: 7,
    },
  ]);
  const page = parsePrometheus(await (await fetch(url)).text());
  const histogram = page.get('heron_execute_latency_histogram_seconds');
  assert.equal(histogram?.samples.find(({ name }) => name.endsWith('_sum'))?.value, 0.002);
  assert.equal((await fetch(`${url}.json`)).status, 404, 'the web sink is off by default');
  const target = await readFile(join(running.logDirectory, 'metricsmgr-1-targets.json'), 'utf8');
  assert.deepEqual(JSON.parse(target), [{ targets: [`${HOST}:${running.manager.httpPort}`] }]);
});

test('the web sink gives JSON', async (t) => {
  const running = await start(t, OURS, { 'heron.metricsmgr.sinks': 'web' });
  await publish(t, running);
  const url = `http://${HOST}:${running.manager.httpPort}/metrics.json`;
  await eventually(async () => {
    const page = (await (await fetch(url)).json()) as Record<string, number>;
    return page['word/container_1_word_1/__emit-count/default'] === 7;
  });
});

test('Graphite gets lines', async (t) => {
  let received = '';
  const graphite = createServer((socket) => {
    socket.on('data', (chunk) => (received += String(chunk)));
    t.after(() => socket.destroy());
  });
  const running = await start(t, OURS, {
    'heron.metricsmgr.sinks': 'graphite',
    'heron.metricsmgr.graphite.port': String(await portOf(t, graphite)),
    'heron.metricsmgr.graphite.prefix': 'my.heron',
  });
  await publish(t, running);
  const line = `my.heron.${OURS.name}.word.container_1_word_1.__emit-count.default 7 `;
  await eventually(() => received.includes(line));
});

test('a collector of OpenTelemetry gets JSON', async (t) => {
  const bodies: unknown[] = [];
  const collector = createHttpServer((request, response) => {
    assert.equal(request.url, '/v1/metrics');
    assert.equal(request.headers['content-type'], 'application/json');
    void json(request).then((body) => {
      bodies.push(body);
      response.end('{}');
      return undefined;
    });
  });
  const port = await portOf(t, collector);
  const running = await start(t, OURS, {
    'heron.metricsmgr.sinks': 'otlp',
    'heron.metricsmgr.otlp.endpoint': `http://${HOST}:${port}/v1/metrics`,
  });
  await publish(t, running);
  await eventually(() => JSON.stringify(bodies).includes('"heron.emit_count"'));
});

test('the metrics cache gets what it keeps, with the kind of each number', async (t) => {
  const running = await start(t);
  const received: ValueOf<typeof PublishMetricsToMaster>[] = [];
  const server = await PacketServer.listen({
    ...common,
    address: { host: HOST, port: 0 },
    packetBytesMax: 1024 * 1024,
    handlers: new MessageHandlers().on(PublishMetricsToMaster, (message) => received.push(message)),
  });
  t.after(() => server.close());
  const location = MetricsCacheLocation.create({
    topologyName: OURS.name,
    topologyId: OURS.id,
    host: HOST,
    controllerPort: -1,
    serverPort: server.address.port,
  });
  const bytes = MetricsCacheLocation.encode(location);
  await running.stateManager.write(paths.metricsCache(OURS.name), bytes);
  await publish(t, running);
  await eventually(() => received.length > 0);
  assert.deepEqual(
    received[0]?.metrics.map(({ name, value, kind }) => [name, value, kind]),
    [
      ['__emit-count/default', '7', WireMetricKind.METRIC_COUNT],
      ['queue', '3', WireMetricKind.METRIC_VALUE],
    ],
  );
});

test('sinks that are off are nowhere, and none at all is fine', async (t) => {
  const running = await start(t, OURS, { 'heron.metricsmgr.sinks': 'none' });
  await publish(t, running);
  assert.equal(running.manager.httpPort, undefined);
});

test('a fixed port counts up with the containers', async (t) => {
  const probe = createServer();
  const free = await portOf(t, probe);
  await new Promise((resolve) => probe.close(resolve));
  const { manager } = await start(t, OURS, { 'heron.metricsmgr.http.port': String(free - 1) });
  assert.equal(manager.httpPort, free);
});
