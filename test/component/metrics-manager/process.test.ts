/*
  The metrics manager as a process of its own.
*/
import assert from 'node:assert/strict';
import { test, type TestContext } from 'node:test';
import { tcpNetwork } from '../../../src/net/tcp-network.ts';
import { type StartOptions, SubmittedTopology } from '../../support/engine-process.ts';
import { eventually } from '../../support/eventually.ts';
import { aPackingPlan } from '../../support/placements.ts';
import { aSpout, aTopology } from '../../support/topologies.ts';

const TOPOLOGY = aTopology([aSpout('word')]);

async function submit(t: TestContext) {
  const submitted = await SubmittedTopology.create(t, TOPOLOGY, aPackingPlan([1]));
  const start = ({ flags, ...options }: StartOptions = {}) =>
    submitted.start('metrics-manager/main', {
      ...options,
      flags: { id: 'metricsmgr-1', port: 0, 'http-port': 0, ...flags },
    });
  const serves = () =>
    eventually(async () => (await submitted.readLog('heron-metricsmgr-1.log')).includes('serves'));
  return { submitted, start, serves };
}

test('it serves, and SIGTERM ends it in an orderly way', async (t) => {
  const { submitted, start, serves } = await submit(t);
  const { child, end } = start();
  await serves();
  child.kill('SIGTERM');
  assert.equal((await end).code, 0);
  assert.match(await submitted.readLog('metricsmgr-1-metrics.jsonl'), /"__metricsmgr__"/);
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
  const { code, stderr } = await start({ flags: { port: taken.address.port } }).end;
  assert.equal(code, 73);
  assert.match(stderr, new RegExp(`127.0.0.1:${taken.address.port}`));
});

test('64: no token, or a flag that is wrong', async (t) => {
  const { start } = await submit(t);
  assert.equal((await start({ token: '' }).end).code, 64);
  const { code, stderr } = await start({ flags: { port: 'many' } }).end;
  assert.equal(code, 64);
  assert.match(stderr, /--port/);
});
