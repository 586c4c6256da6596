import assert from 'node:assert/strict';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { type TestContext, test } from 'node:test';
import { aCluster, PATIENTLY, UNHURRIED } from '../support/cluster.ts';
import { eventually } from '../support/eventually.ts';

/* Traces of tuples over real processes, as a collector of OpenTelemetry gets them. */

const COUNT = 20;
const OUTER = { traceId: '4bf92f3577b34da6a3ce929d0e0e4736', spanId: '00f067aa0ba902b7' };

interface SpanInTest {
  readonly traceId: string;
  readonly spanId: string;
  readonly parentSpanId?: string;
  readonly name: string;
  readonly startTimeUnixNano: string;
  readonly endTimeUnixNano: string;
  readonly events?: readonly { readonly name: string }[];
  readonly links?: readonly { readonly traceId: string; readonly spanId: string }[];
  readonly container: string;
}

interface Attribute {
  readonly key: string;
  readonly value: { readonly stringValue?: string };
}

interface TracesMessage {
  readonly resourceSpans: readonly {
    readonly resource: { readonly attributes: readonly Attribute[] };
    readonly scopeSpans: readonly { readonly spans: readonly Omit<SpanInTest, 'container'>[] }[];
  }[];
}

/** Takes what a collector takes by HTTP. */
async function aCollector(t: TestContext) {
  const spans: SpanInTest[] = [];
  const take = async (request: IncomingMessage): Promise<void> => {
    assert.equal(request.url, '/v1/traces');
    const message = JSON.parse(await text(request)) as TracesMessage;
    for (const { resource, scopeSpans } of message.resourceSpans) {
      const of = resource.attributes.find(({ key }) => key === 'heron.container');
      const container = of?.value.stringValue ?? '';
      spans.push(...scopeSpans.flatMap((one) => one.spans.map((span) => ({ ...span, container }))));
    }
  };
  const server = createServer((request, response) => {
    take(request).then(
      () => response.setHeader('content-type', 'application/json').end('{}'),
      (error: unknown) => response.writeHead(400).end(String(error)),
    );
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.after(() => server.close());
  const { port } = server.address() as AddressInfo;
  return { spans, endpoint: `http://127.0.0.1:${port}/v1/traces` };
}

test('O49: each root is one connected trace over three bolts in two containers', async (t) => {
  const cluster = await aCluster(t);
  const { spans, endpoint } = await aCollector(t);
  const config = {
    ...UNHURRIED,
    'topology.stmgrs': 2,
    'topology.trace.sample.ratio': 1,
    'heron.metrics.export.interval.ms': 1_000,
    'heron.metricsmgr.sinks': 'file',
    'heron.metricsmgr.otlp.traces.endpoint': endpoint,
  };
  const outer = `00-${OUTER.traceId}-${OUTER.spanId}-01`;
  const gate = join(cluster.folder, 'gate');
  const run = cluster.run('traced', 'traced', { args: [outer, gate], config });
  // What is under way when the processes end may be lost, and counted; here it is not to be.
  const allAreThere = eventually(() => {
    const ids = new Set(spans.map(({ spanId }) => spanId));
    const of = (wanted: string): number => spans.filter(({ name }) => name === wanted).length;
    assert.deepEqual([of('emit numbers'), of('execute seen')], [COUNT, COUNT / 2]);
    const others = spans.filter(({ name }) => name !== 'emit numbers');
    assert.ok(others.every(({ parentSpanId = '' }) => ids.has(parentSpanId)));
  }, PATIENTLY);
  await Promise.race([allAreThere, run]);
  writeFileSync(gate, '');
  const seen = (await run) as [number, string][];
  const byId = new Map(spans.map((span) => [span.spanId, span]));
  assert.equal(byId.size, spans.length, 'each span comes once');
  assert.equal(new Set(spans.map(({ container }) => container)).size, 2);

  const roots = spans.filter(({ name }) => name === 'emit numbers');
  assert.equal(new Set(roots.map(({ traceId }) => traceId)).size, COUNT);
  for (const { parentSpanId, traceId, events } of roots) {
    assert.equal(parentSpanId, traceId === OUTER.traceId ? OUTER.spanId : undefined);
    assert.deepEqual(
      events?.map(({ name }) => name),
      ['ack'],
    );
  }
  for (const span of spans.filter(({ name }) => name !== 'emit numbers')) {
    const parent = byId.get(span.parentSpanId ?? '');
    assert.equal(parent?.traceId, span.traceId, `${span.name} hangs on its trace`);
    assert.ok(BigInt(span.endTimeUnixNano) >= BigInt(span.startTimeUnixNano));
  }
  const joins = spans.filter(({ name }) => name === 'join pairs');
  assert.equal(joins.length, COUNT / 2);
  for (const { traceId, links = [] } of joins) {
    assert.equal(links.length, 1);
    for (const link of links) {
      assert.notEqual(link.traceId, traceId);
      assert.equal(byId.get(link.spanId)?.name, 'execute pairs');
    }
  }
  assert.equal(spans.filter(({ name }) => name === 'execute copies').length, COUNT / 2);
  const executions = spans.filter(({ name }) => name === 'execute seen');
  assert.deepEqual(
    seen.map(([, traceparent]) => traceparent).toSorted(),
    executions.map(({ traceId, spanId }) => `00-${traceId}-${spanId}-01`).toSorted(),
    'user code sees the span that it runs in',
  );
});
