import assert from 'node:assert/strict';
import { once } from 'node:events';
import { type IncomingMessage, request } from 'node:http';
import { connect } from 'node:net';
import { type TestContext, test } from 'node:test';
import { text } from 'node:stream/consumers';
import { hasCode } from '../../../src/base/errors.ts';
import { componentName, taskId } from '../../../src/base/ids.ts';
import type { PackingPlan } from '../../../src/model/packing-plan.ts';
import type { StateManager } from '../../../src/state-manager/state-manager.ts';
import { eventually } from '../../support/eventually.ts';
import { packingPlanOf } from '../../support/packing-plans.ts';
import { aSpout, aTopology } from '../../support/topologies.ts';
import {
  aReport,
  aTracker,
  inMemory,
  type TrackerInTest,
  writeHeronTopology,
  writeReport,
  writeTopology,
} from '../../support/tracked-trees.ts';

/* A Tracker on a real socket: who is answered, and what those cost who do not read. */

const TOPOLOGY = aTopology([aSpout('words')]);
const PAGE = '/api/pages/topology/events?cluster=local&environ=dev&topology=words';

interface Listening extends TrackerInTest {
  readonly port: number;
  readonly store: StateManager;
}

async function aListeningTracker(t: TestContext, packing?: PackingPlan): Promise<Listening> {
  const cluster = inMemory('local');
  if (packing === undefined) await writeHeronTopology(cluster.stateManager);
  else await writeTopology(cluster.stateManager, TOPOLOGY, packing);
  const inTest = await aTracker(t, [cluster]);
  const { port } = await inTest.tracker.listen({ host: '127.0.0.1', port: 0 });
  return { ...inTest, port, store: cluster.stateManager };
}

/** `fetch` does not let a Host header be set. */
async function get(port: number, path: string, headers: Record<string, string> = {}) {
  const sent = request({ host: '127.0.0.1', port, path, headers });
  sent.end();
  const [response] = (await once(sent, 'response')) as [IncomingMessage];
  return { status: response.statusCode, headers: response.headers, body: await text(response) };
}

test('a request that names another host, as DNS rebinding makes it, is refused', async (t) => {
  const { port } = await aListeningTracker(t);
  assert.equal((await get(port, '/clusters')).status, 200);
  const { status, body } = await get(port, '/clusters', { host: 'evil.example' });
  assert.equal(status, 403);
  assert.match(body, /request failed: the Host header names another host/);
});

test("another site's page is refused, and no answer may be read or embedded by one", async (t) => {
  const { port } = await aListeningTracker(t);
  const cross = { 'sec-fetch-site': 'cross-site', origin: 'https://evil.example' };
  assert.equal((await get(port, '/clusters', cross)).status, 403);
  for (const path of ['/clusters', '/docs', '/nowhere', '/api/pages/topologies']) {
    const { headers } = await get(port, path);
    assert.equal(headers['access-control-allow-origin'], undefined, path);
    assert.equal(headers['x-content-type-options'], 'nosniff', path);
    assert.equal(headers['x-frame-options'], 'DENY', path);
    assert.equal(headers['cross-origin-resource-policy'], 'same-origin', path);
    assert.match(String(headers['content-security-policy']), /default-src 'none'/, path);
    assert.equal(headers['cache-control'], 'no-store', path);
  }
});

test('only questions are answered', async (t) => {
  const { port, ask } = await aListeningTracker(t);
  assert.equal((await get(port, '/health')).body, 'ok');
  for (const method of ['POST', 'PUT', 'DELETE', 'PATCH']) {
    const { status } = await ask('/topologies', { method });
    assert.equal(status, 404, method);
  }
});

test('a port that is taken is told as such', async (t) => {
  const { port, tracker } = await aListeningTracker(t);
  await assert.rejects(tracker.listen({ host: '127.0.0.1', port }), (error) =>
    hasCode(error, 'PORT_IN_USE'),
  );
});

test('a request that is too large, or never ends, ends by itself', async (t) => {
  const { port } = await aListeningTracker(t);
  const { status } = await get(port, `/topologies?role=${'x'.repeat(20_000)}`);
  assert.equal(status, 431);
});

test('a page follows what is stored, and ends with the Tracker', async (t) => {
  const packing = packingPlanOf({ 1: ['words:1'] });
  const { port, store, pass, tracker } = await aListeningTracker(t, packing);
  const response = await fetch(`http://127.0.0.1:${port}${PAGE}`);
  assert.equal(response.headers.get('content-type'), 'text/event-stream');
  let heard = '';
  const reading = (async () => {
    for await (const chunk of response.body ?? []) heard += Buffer.from(chunk).toString();
  })();
  await eventually(() => /^id: 1\ndata: .*"state":"RUNNING"/.test(heard));
  await writeReport(store, TOPOLOGY, aReport(1, ['metricsmgr-1', 'stmgr-1']));
  await eventually(async () => {
    await pass(1_000);
    return /\nid: 2\ndata: .*"state":"DEGRADED"/.test(heard);
  });
  await tracker.close();
  await reading.catch(() => {}); // A connection that was cut is an end, too.
});

test('whoever follows what is not there hears so at once', async (t) => {
  const { port } = await aListeningTracker(t);
  const { status, body } = await get(port, PAGE);
  assert.equal(status, 404);
  assert.match(body, /there is no topology 'words'/);
});

/** A page of some hundred thousand bytes. */
const MANY_TASKS = 2_000;
const CHANGES = 40;

test('a client that never reads costs a few pages, however often they change', async (t) => {
  const [container] = packingPlanOf({ 1: ['words:1'] }).containers;
  assert.ok(container !== undefined);
  const instances = Array.from({ length: MANY_TASKS }, (_, index) => ({
    component: componentName('words'),
    task: taskId(index + 1),
    componentIndex: index,
    resource: container.required,
  }));
  const packing = { id: 'plan', containers: [{ ...container, instances }] };
  const { port, store, pass, tracker } = await aListeningTracker(t, packing);
  const socket = connect(port, '127.0.0.1');
  t.after(() => socket.destroy());
  let bytes = 0;
  await once(socket, 'connect');
  socket.write(`GET ${PAGE} HTTP/1.1\r\nHost: localhost\r\n\r\n`);
  const { body } = await get(port, PAGE.replace('/events', ''));
  for (let change = 0; change < CHANGES; change += 1) {
    await writeReport(store, TOPOLOGY, { ...aReport(1, []), problem: `change ${change}` });
    await pass(1_000);
  }
  socket.on('data', (chunk) => {
    bytes += chunk.length;
  });
  await tracker.close();
  await once(socket, 'close');
  const pages = bytes / body.length;
  // What the kernel took, and at most one page on its way there.
  assert.ok(pages >= 1 && pages < CHANGES / 2, `${pages.toFixed(1)} pages of ${body.length} bytes`);
});
