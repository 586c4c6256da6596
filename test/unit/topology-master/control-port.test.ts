import assert from 'node:assert/strict';
import { test } from 'node:test';
import { environmentError, userError } from '../../../src/base/errors.ts';
import { topologyId } from '../../../src/base/ids.ts';
import type { TopologyState } from '../../../src/model/logical-topology.ts';
import type { RuntimeChange } from '../../../src/model/runtime-config.ts';
import {
  type CommandedTopology,
  controlHandler,
  parametersOf,
} from '../../../src/topology-master/control-port.ts';
import type { HttpRequest } from '../../../src/net/http-server.ts';

class StubTopology implements CommandedTopology {
  state: TopologyState | undefined = 'RUNNING';
  bytes: Uint8Array | undefined = Buffer.from('plan');
  failure: Error | undefined;
  readonly changes: RuntimeChange[] = [];

  planBytes(): Uint8Array | undefined {
    return this.bytes;
  }

  async setState(state: TopologyState): Promise<void> {
    if (this.failure !== undefined) throw this.failure;
    this.state = state;
  }

  async setConfig(changes: readonly RuntimeChange[]): Promise<void> {
    if (this.failure !== undefined) throw this.failure;
    this.changes.push(...changes);
  }
}

function requestOf(target: string, fields: Partial<HttpRequest> = {}): HttpRequest {
  const { pathname, searchParams } = new URL(target, 'http://host');
  return {
    method: 'GET',
    path: pathname,
    query: searchParams,
    headers: { 'x-heron-token': 'secret' },
    body: Buffer.alloc(0),
    ...fields,
  };
}

async function ask(request: HttpRequest, topology = new StubTopology(), isForeign = false) {
  const id = topologyId('words-1');
  const handle = controlHandler({ topology, topologyId: id, token: 'secret', isForeign });
  const { status, reason, body } = await handle(request);
  return { status, reason, body: body.toString(), state: topology.state };
}

test('the state is changed by path', async () => {
  const topology = new StubTopology();
  assert.deepEqual(await ask(requestOf('/deactivate?topologyid=words-1'), topology), {
    status: 200,
    reason: undefined,
    body: 'Topology successfully deactivated',
    state: 'PAUSED',
  });
  const answer = await ask(requestOf('/activate?topologyid=words-1'), topology);
  assert.equal(answer.body, 'Topology successfully activated');
  assert.equal(answer.state, 'RUNNING');
});

const REFUSED: ReadonlyArray<readonly [string, HttpRequest, number, RegExp]> = [
  ['no id', requestOf('/deactivate'), 400, /Missing 'topologyid'/],
  ['another id', requestOf('/deactivate?topologyid=words-2'), 400, /does not match/],
  ['an unknown path', requestOf('/kill?topologyid=words-1'), 404, /Not Supported/],
  ['no token', requestOf('/deactivate?topologyid=words-1', { headers: {} }), 403, /x-heron-token/],
  [
    'a wrong token',
    requestOf('/deactivate?topologyid=words-1', { headers: { 'x-heron-token': 'guess' } }),
    403,
    /x-heron-token/,
  ],
  [
    'an id in the query of a form',
    requestOf('/deactivate?topologyid=words-1', { method: 'POST' }),
    400,
    /Missing 'topologyid'/,
  ],
];

for (const [name, request, status, reason] of REFUSED) {
  test(`refused: ${name}`, async () => {
    const answer = await ask(request);
    assert.equal(answer.status, status);
    assert.match(answer.reason ?? '', reason);
    assert.equal(answer.state, 'RUNNING');
  });
}

test('tools of another engine need no token for its topologies, none may be wrong', async () => {
  const target = '/deactivate?topologyid=words-1';
  const without = await ask(requestOf(target, { headers: {} }), new StubTopology(), true);
  assert.equal(without.status, 200);
  const headers = { 'x-heron-token': 'guess' };
  const wrong = await ask(requestOf(target, { headers }), new StubTopology(), true);
  assert.equal(wrong.status, 403);
});

test('a command that fails says why', async () => {
  const topology = new StubTopology();
  topology.failure = environmentError('TOPOLOGY_NOT_READY', 'no plan yet');
  const early = await ask(requestOf('/activate?topologyid=words-1'), topology);
  assert.equal(early.status, 500);
  assert.match(early.reason ?? '', /still not initialized/);
  topology.failure = environmentError('STATE_UNAVAILABLE', 'the disk is full');
  const failed = await ask(requestOf('/activate?topologyid=words-1'), topology);
  assert.equal(failed.status, 500);
  assert.match(failed.body, /the disk is full/);
});

const configRequest = (...texts: string[]): HttpRequest => {
  const parameters = texts.map((text) => `&runtime-config=${encodeURIComponent(text)}`).join('');
  return requestOf(`/runtime_config/update?topologyid=words-1${parameters}`);
};

test('config is changed by component, or for the whole topology', async () => {
  const topology = new StubTopology();
  const answer = await ask(configRequest('count:lines:3', 'mine:a b'), topology);
  assert.equal(answer.status, 200);
  assert.equal(answer.body, 'Runtime config updated');
  assert.deepEqual(topology.changes, [
    { component: 'count', key: 'lines', value: '3' },
    { component: undefined, key: 'mine', value: 'a b' },
  ]);
});

test('config that is missing, malformed or refused is not changed, in words of Heron', async () => {
  const topology = new StubTopology();
  const missing = await ask(configRequest(), topology);
  assert.equal(missing.status, 400);
  assert.match(missing.reason ?? '', /^No runtime config is found\. Usage: runtime-config=/);
  for (const text of ['lines', 'a:b:c:d', 'a::c', ':3', 'lines:']) {
    const malformed = await ask(configRequest('mine:1', text), topology);
    assert.equal(malformed.status, 400);
    assert.match(
      malformed.reason ?? '',
      /^Failed to parse runtime configs\. Possibly bad format\./,
    );
  }
  const outsider = await ask({ ...configRequest('mine:1'), headers: {} }, topology);
  assert.equal(outsider.status, 403);
  assert.deepEqual(topology.changes, []);
  topology.failure = userError('INVALID_CONFIG', 'lines cannot change');
  const refused = await ask(configRequest('lines:3'), topology);
  assert.equal(refused.status, 400);
  assert.equal(refused.reason, 'Failed to validate runtime configs');
  assert.match(refused.body, /lines cannot change/);
  topology.failure = environmentError('STATE_UNAVAILABLE', 'the disk is full');
  const failed = await ask(configRequest('lines:3'), topology);
  assert.equal(failed.status, 500);
  assert.equal(failed.reason, 'Failed to update runtime configs');
});

test('the plan is given as base64, or not at all', async () => {
  const topology = new StubTopology();
  const given = await ask(requestOf('/get_current_physical_plan', { headers: {} }), topology);
  assert.equal(Buffer.from(given.body, 'base64').toString(), 'plan');
  topology.bytes = undefined;
  assert.equal((await ask(requestOf('/get_current_physical_plan'), topology)).status, 400);
});

test('parameters come from the query, or from the form in the body', () => {
  const body = Buffer.from('topologyid=from+body');
  const idOf = (fields: Partial<HttpRequest>) =>
    parametersOf(requestOf('/activate?topologyid=from%20query', { body, ...fields })).get(
      'topologyid',
    );
  const form = { 'content-type': 'application/x-www-form-urlencoded; charset=utf-8' };
  assert.equal(idOf({}), 'from query');
  assert.equal(idOf({ method: 'POST' }), 'from body');
  assert.equal(idOf({ method: 'PUT', headers: form }), 'from body');
  assert.equal(idOf({ method: 'POST', headers: { 'content-type': 'text/plain' } }), 'from query');
});
