/*
  The metrics cache as a process of its own.
*/
import assert from 'node:assert/strict';
import { test, type TestContext } from 'node:test';
import { tcpNetwork } from '../../../src/net/tcp-network.ts';
import { paths } from '../../../src/state-manager/paths.ts';
import { MetricsCacheLocation } from '../../../src/wire/messages.ts';
import { type StartOptions, SubmittedTopology } from '../../support/engine-process.ts';
import { eventually } from '../../support/eventually.ts';
import { aPackingPlan } from '../../support/placements.ts';
import { aSpout, aTopology } from '../../support/topologies.ts';

const TOPOLOGY = aTopology([aSpout('word')]);
const FLAGS = {
  id: 'heron-metricscache',
  'server-port': 0,
  'stats-port': 0,
  'metrics-manager-port': 1,
};

async function submit(t: TestContext) {
  const submitted = await SubmittedTopology.create(t, TOPOLOGY, aPackingPlan([1]));
  const start = ({ flags, ...options }: StartOptions = {}) =>
    submitted.start('metrics-cache/main', { ...options, flags: { ...FLAGS, ...flags } });
  const log = () => submitted.readLog('heron-metricscache.log');
  return {
    submitted,
    start,
    serves: () => eventually(async () => (await log()).includes('serves')),
  };
}

test('it is found in the state tree, and SIGTERM ends it and its node', async (t) => {
  const { submitted, start } = await submit(t);
  const { child, end } = start();
  const node = () => submitted.stateManager.read(paths.metricsCache(TOPOLOGY.name));
  const location = MetricsCacheLocation.decode(
    await eventually(async () => (await node()) ?? false),
  );
  const stream = await tcpNetwork.connect({ host: location.host, port: location.serverPort });
  stream.destroy();
  child.kill('SIGTERM');
  assert.equal((await end).code, 0);
  assert.equal(await node(), undefined);
});

test('it needs no state manager to serve', async (t) => {
  const { start, serves } = await submit(t);
  start({ flags: { state: 'file:///dev/null/state' } });
  await serves();
});

test('73: a port that is taken', async (t) => {
  const { start } = await submit(t);
  const address = { host: '127.0.0.1', port: 0 };
  const taken = await tcpNetwork.listen(address, (stream) => stream.destroy());
  t.after(() => taken.close());
  for (const flag of ['server-port', 'stats-port']) {
    const { code, stderr } = await start({ flags: { [flag]: taken.address.port } }).end;
    assert.equal(code, 73);
    assert.match(stderr, new RegExp(`127.0.0.1:${taken.address.port}`));
  }
});
