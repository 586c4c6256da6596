/*
  HTTP requests that Heron's command line and Tracker have sent, byte for byte, to a master of the
  topology that they were meant for; it is written in Java, so nobody in it knows our token.
*/
import assert from 'node:assert/strict';
import { connect } from 'node:net';
import { test, type TestContext } from 'node:test';
import { paths } from '../../../src/state-manager/paths.ts';
import { expectedInstances } from '../../../src/topology-master/placement.ts';
import {
  PublishMetricsToMaster,
  QueryExceptions,
  QueryMetrics,
  QueryRegistrations,
  StoredPhysicalPlan,
  StoredTopology,
} from '../../../src/wire/messages.ts';
import { decodePackingPlan } from '../../../src/wire/packing-plan.ts';
import { decodeTopology, withState } from '../../../src/wire/topology.ts';
import { eventually } from '../../support/eventually.ts';
import { goldenFolder } from '../../support/golden.ts';
import { anAddress } from '../../support/placements.ts';
import type { ScriptedStreamManager } from '../../support/scripted-stream-manager.ts';
import { HOST, RunningMaster } from './running-master.ts';

interface RequestFacts {
  readonly answer_status: string;
  readonly answer_type: string;
  readonly answer_body_text?: string;
  readonly answer_body?: string;
}

const requests = new Map(
  goldenFolder<RequestFacts>('http').map((file) => [file.name.replace('http/', ''), file]),
);

function goldenNode(name: string): Buffer {
  const file = goldenFolder('state').find((each) => each.name === `state/${name}`);
  assert.ok(file, `golden node ${name}`);
  return file.bytes;
}

const NODES = {
  topology: goldenNode('accepted-topologies-g-live'),
  packing: goldenNode('accepted-packingplans-g-live'),
};
const TOPOLOGY = decodeTopology(NODES.topology);
const PACKING = decodePackingPlan(NODES.packing);

interface Live {
  readonly running: RunningMaster;
  readonly streamManager: ScriptedStreamManager;
}

/** A master with the golden topology's one stream manager, which speaks as Heron's does. */
async function live(t: TestContext): Promise<Live> {
  const running = await RunningMaster.start(t, { topology: TOPOLOGY, nodes: NODES });
  const streamManager = await running.connect();
  const instances = expectedInstances(PACKING);
  await streamManager.register({ address: anAddress(1), instances, token: '', engineVersion: '' });
  await eventually(() => streamManager.plans.length === 1);
  return { running, streamManager };
}

interface Answer {
  readonly status: string;
  readonly type: string | undefined;
  readonly body: Buffer;
}

/**
 * Sends a golden request as it is. The answer must say how long it is, as its sender keeps the
 * connection.
 */
async function replay(t: TestContext, port: number, name: string): Promise<Answer> {
  const socket = connect(port, HOST);
  t.after(() => socket.destroy());
  socket.write(requests.get(name)?.bytes ?? Buffer.alloc(0));
  let received = Buffer.alloc(0);
  for await (const chunk of socket as AsyncIterable<Buffer>) {
    received = Buffer.concat([received, chunk]);
    const end = received.indexOf('\r\n\r\n');
    if (end < 0) continue;
    const head = received.subarray(0, end).toString('latin1');
    const length = Number(/^content-length: (\d+)$/im.exec(head)?.[1]);
    const body = received.subarray(end + 4);
    if (body.length < length) continue;
    const type = /^content-type: (.+)$/im.exec(head)?.[1];
    return { status: head.slice('HTTP/1.1 '.length, head.indexOf('\r\n')), type, body };
  }
  throw new Error('the connection ended without an answer');
}

function goldenAnswer(name: string): RequestFacts {
  const request = requests.get(name);
  assert.ok(request, `golden request ${name}`);
  return request.facts;
}

for (const [name, state] of [
  ['deactivate-1', 'PAUSED'],
  ['activate-1', 'RUNNING'],
] as const) {
  test(`${name} is answered as Heron's command line expects`, async (t) => {
    const { running } = await live(t);
    const { status, type, body } = await replay(t, running.master.ports.controller, name);
    const golden = goldenAnswer(name);
    assert.equal(status, golden.answer_status);
    assert.equal(type, golden.answer_type);
    assert.equal(body.toString(), golden.answer_body_text);
    assert.equal((await running.storedPlan())?.topology.state, state);
  });
}

test('a plan keeps all that another engine put into its topology', async (t) => {
  const { running } = await live(t);
  await replay(t, running.master.ports.controller, 'deactivate-1');
  const bytes = await running.stateManager.read(paths.physicalPlan(TOPOLOGY.name));
  assert.ok(bytes);
  const { topology } = StoredPhysicalPlan.decode(bytes);
  assert.ok(topology);
  const submitted = withState(StoredTopology.decode(NODES.topology), 'PAUSED');
  assert.deepEqual(StoredTopology.encode(topology), StoredTopology.encode(submitted));
});

test('before the first plan a command decides what that says', async (t) => {
  const running = await RunningMaster.start(t, { topology: TOPOLOGY, nodes: NODES });
  const { status } = await replay(t, running.master.ports.controller, 'deactivate-1');
  assert.equal(status, '200 OK');
  const streamManager = await running.connect();
  const instances = expectedInstances(PACKING);
  await streamManager.register({ address: anAddress(1), instances, token: '', engineVersion: '' });
  await eventually(() => streamManager.plans.length === 1);
  assert.equal((await running.storedPlan())?.topology.state, 'PAUSED');
});

test('config is changed at run time as Heron stores it', async (t) => {
  const { running, streamManager } = await live(t);
  const { controller } = running.master.ports;
  const { status, type, body } = await replay(t, controller, 'runtime_config_update-1');
  const golden = goldenAnswer('runtime_config_update-1');
  assert.equal(status, golden.answer_status);
  assert.equal(type, golden.answer_type);
  assert.equal(body.toString(), golden.answer_body_text);
  await eventually(() => streamManager.plans.length === 2);
  const { topology } = (await running.storedPlan()) ?? assert.fail();
  assert.equal(topology.config.get('wc.y:runtime'), '2');
  const count = topology.components.find(({ name }) => name === 'count');
  assert.equal(count?.config.get('wc.x:runtime'), '1');
  const sizes = ({ components }: typeof TOPOLOGY) =>
    components.map(({ name, config }) => [name, config.size - (name === 'count' ? 1 : 0)]);
  assert.deepEqual(
    sizes(topology),
    TOPOLOGY.components.map(({ name, config }) => [name, config.size]),
  );
});

test('what does not exist here is answered with 404', async (t) => {
  const { running } = await live(t);
  const answer = await running.get('controller', '/clean_all_stateful_checkpoints');
  assert.equal(answer.status, 404);
});

test('metrics are told as the Tracker asks for them', async (t) => {
  const { running, streamManager } = await live(t);
  const { stats } = running.master.ports;
  const emitted = (task: number, value: string) => ({
    componentName: 'word',
    instanceId: `container_1_word_${task}`,
    name: '__emit-count/default',
    value,
    timestamp: 0n,
  });
  const metrics = [emitted(1, '30'), emitted(2, '40')];
  streamManager.connection.send(PublishMetricsToMaster, PublishMetricsToMaster.create({ metrics }));
  await streamManager.beat(); // What was sent before it has arrived.

  const { status, type, body } = await replay(t, stats, 'stats-1');
  const golden = goldenAnswer('stats-1');
  assert.equal(status, golden.answer_status);
  assert.equal(type, golden.answer_type);
  const expected = QueryMetrics.response.decode(Buffer.from(golden.answer_body ?? '', 'hex'));
  const answer = QueryMetrics.response.decode(body);
  assert.deepEqual(answer.status, expected.status);
  assert.equal(answer.interval, expected.interval);
  const facts = (response: typeof answer) =>
    response.metric.map(({ instanceId, metric }) => [
      instanceId,
      metric.map(({ name, value }) => [name, Number(value)]),
    ]);
  assert.deepEqual(facts(answer), facts(expected));

  const minutely = QueryMetrics.response.decode((await replay(t, stats, 'stats-2')).body);
  assert.deepEqual(
    minutely.metric.map(({ instanceId }) => instanceId),
    ['container_1_word_1', 'container_1_word_2'],
  );
});

for (const name of ['exceptions-1', 'exceptionsummary-1']) {
  test(`${name} is answered with an empty list`, async (t) => {
    const { running } = await live(t);
    const { status, body } = await replay(t, running.master.ports.stats, name);
    const golden = goldenAnswer(name);
    assert.equal(status, golden.answer_status);
    const expected = QueryExceptions.response.decode(Buffer.from(golden.answer_body ?? '', 'hex'));
    const answer = QueryExceptions.response.decode(body);
    assert.equal(answer.status?.status, expected.status?.status);
    assert.deepEqual(answer.exceptions, expected.exceptions);
  });
}

test('the registration summary is the very answer that the Tracker has taken', async (t) => {
  const { running } = await live(t);
  const name = 'stmgrsregistrationsummary-1';
  const { status, body } = await replay(t, running.master.ports.stats, name);
  const golden = goldenAnswer(name);
  assert.equal(status, golden.answer_status);
  assert.equal(body.toString('hex'), golden.answer_body);
  assert.deepEqual(QueryRegistrations.response.decode(body).registeredStmgrs, ['stmgr-1']);
});
