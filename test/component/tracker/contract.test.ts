import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { create } from '@bufbuild/protobuf';
import type { z } from '@hono/zod-openapi';
import { paths } from '../../../src/state-manager/paths.ts';
import {
  executionStateSchema,
  metadataSchema,
} from '../../../src/tracker/answers/execution-state.ts';
import { schedulerLocationSchema } from '../../../src/tracker/answers/locations.ts';
import { logicalPlanSchema } from '../../../src/tracker/answers/logical-plan.ts';
import { packingPlanSchema } from '../../../src/tracker/answers/packing-plan.ts';
import { physicalPlanSchema } from '../../../src/tracker/answers/physical-plan.ts';
import { configSchema } from '../../../src/tracker/answers/stored-config.ts';
import { topologyInfoSchema } from '../../../src/tracker/answers/topology-info.ts';
import { topologiesPageSchema } from '../../../src/tracker/pages/topologies-page.ts';
import { topologyPageSchema } from '../../../src/tracker/pages/topology-page.ts';
import { StMgrSchema } from '../../../src/wire/generated/physical_plan_pb.js';
import { StoredPhysicalPlan } from '../../../src/wire/messages.ts';
import { packingPlanOf } from '../../support/packing-plans.ts';
import { aBolt, anInput, aSpout, aTopology } from '../../support/topologies.ts';
import {
  aTracker,
  inMemory,
  writeHeronTopology,
  writeSubmitted,
  writeTopology,
} from '../../support/tracked-trees.ts';

/*
  Every path of Heron's Tracker, with the answers that its clients expect. Those of a topology that
  Heron's own Tracker accepted are recorded, word by word.
*/

const RECORDED = JSON.parse(
  readFileSync(join(import.meta.dirname, 'recorded-answers.json'), 'utf8'),
) as Readonly<Record<string, unknown>>;

/** Of Heron's Tracker, all of them. */
const HERONS_PATHS = [
  '/clusters',
  '/machines',
  '/health',
  '/topologies',
  '/topologies/states',
  '/topologies/info',
  '/topologies/config',
  '/topologies/packingplan',
  '/topologies/physicalplan',
  '/topologies/executionstate',
  '/topologies/metadata',
  '/topologies/schedulerlocation',
  '/topologies/logicalplan',
  '/topologies/runtimestate',
  '/topologies/exceptions',
  '/topologies/exceptionsummary',
  '/topologies/metrics',
  '/topologies/metrics/timeline',
  '/topologies/metricstimeline',
  '/topologies/metrics/query',
  '/topologies/pid',
  '/topologies/jstack',
  '/topologies/jmap',
  '/topologies/histo',
  '/topologies/container/filedata',
  '/topologies/container/filedownload',
  '/topologies/container/filestats',
];

const LINK = {
  name: 'Logs',
  formatter: 'https://logs.example.net/${CLUSTER}/${ENVIRON}/${ROLE}/${TOPOLOGY}?by=${USER}',
};

/** Those that the state tree answers, with what an answer has to be like. */
const SCHEMAS: Readonly<Record<string, z.ZodType>> = {
  info: topologyInfoSchema,
  config: configSchema,
  packingplan: packingPlanSchema,
  physicalplan: physicalPlanSchema,
  executionstate: executionStateSchema,
  metadata: metadataSchema,
  schedulerlocation: schedulerLocationSchema,
  logicalplan: logicalPlanSchema,
};

const OF_LIVE = 'cluster=local&environ=default&topology=g-live';

test('the OpenAPI document has every path of Heron, each with its parameters', async (t) => {
  const { ask } = await aTracker(t, []);
  const { body } = await ask('/openapi.json');
  const { openapi, paths: described } = body as {
    readonly openapi: string;
    readonly paths: Readonly<Record<string, { readonly get?: object }>>;
  };
  assert.equal(openapi, '3.1.0');
  for (const path of HERONS_PATHS) assert.ok(described[path]?.get !== undefined, path);
  const info = JSON.stringify(described['/topologies/info']);
  for (const name of ['cluster', 'environ', 'topology', 'role']) {
    assert.match(info, new RegExp(`"name":"${name}"`));
  }
  const page = await ask('/docs');
  for (const path of HERONS_PATHS) assert.match(String(page.body), new RegExp(`GET ${path}<`));
  assert.doesNotMatch(String(page.body), /<script|https?:/);
});

for (const [path, recorded] of Object.entries(RECORDED)) {
  test(`GET ${path} answers for Heron's topology what was recorded`, async (t) => {
    const cluster = inMemory('local');
    await writeHeronTopology(cluster.stateManager);
    const { ask } = await aTracker(t, [cluster], { links: [LINK] });
    const { status, body, headers } = await ask(`${path}?${OF_LIVE}`);
    assert.equal(status, 200);
    assert.deepEqual(body, recorded);
    assert.match(headers.get('x-process-time') ?? '', /^\d+\.\d+$/);
  });
}

test('/health answers in plain text', async (t) => {
  const { ask } = await aTracker(t, []);
  const { status, body } = await ask('/health');
  assert.deepEqual([status, body], [200, 'ok']);
});

test('/topologies, /states and /machines choose by place and name', async (t) => {
  const [one, two] = [inMemory('local'), inMemory('second')];
  await writeHeronTopology(one.stateManager);
  const words = aTopology([aSpout('words'), aBolt('count', ['words'])]);
  await writeTopology(two.stateManager, words, packingPlanOf({ 1: ['words:1', 'count:2'] }));
  const { ask } = await aTracker(t, [one, two]);
  const names = async (query: string): Promise<unknown> => (await ask(`/topologies?${query}`)).body;
  const ofHeron = { tester: { default: ['g-live'] } };
  const ofOurs = { ada: { dev: ['words'] } };
  assert.deepEqual(await names(''), { local: { ...ofHeron, ...ofOurs } });
  assert.deepEqual(await names('role=ada'), { local: ofOurs });
  assert.deepEqual(await names('environ=dev&environ=default'), {
    local: { ...ofHeron, ...ofOurs },
  });
  assert.deepEqual(await names('environ=default'), { local: ofHeron });
  assert.deepEqual(
    await names('cluster=second'),
    { local: ofOurs },
    'by the name it is tracked by',
  );
  assert.deepEqual(await names('cluster=nowhere'), {});
  assert.deepEqual((await ask('/machines?topology=words')).body, {
    local: { dev: { words: ['127.0.0.1'] } },
  });
  const states = (await ask('/topologies/states?role=tester')).body as Record<string, object>;
  assert.deepEqual(Object.keys(states['local'] ?? {}), ['default']);
  assert.deepEqual((await ask('/clusters')).body, ['local', 'second']);
});

test('every answer is of its form, whatever the tree holds', async (t) => {
  const cluster = inMemory('local');
  const { stateManager } = cluster;
  await writeHeronTopology(stateManager);
  await writeSubmitted(stateManager, 'g-jsubmit');
  await writeSubmitted(stateManager, 'g-pysubmit');
  const loop = aTopology([
    aSpout('words'),
    aBolt('there', ['words', 'back']),
    aBolt('back', ['there']),
  ]);
  await writeTopology(stateManager, loop, packingPlanOf({ 1: ['words:1', 'there:2', 'back:3'] }));
  await stateManager.write('topologies/broken', Buffer.from('no protobuf'));
  await stateManager.write('pplans/broken', Buffer.from([0xff, 0xff]));
  await stateManager.write('executionstate/orphan', Buffer.from('no protobuf either'));
  const { ask } = await aTracker(t, [cluster]);
  const topologies = [
    ['default', 'g-live'],
    ['default', 'g-jsubmit'],
    ['default', 'g-pysubmit'],
    ['dev', 'words'],
    ['', 'broken'],
    ['', 'orphan'],
  ];
  for (const [environ, topology] of topologies) {
    const query = `cluster=local&environ=${environ}&topology=${topology}`;
    for (const [name, schema] of Object.entries(SCHEMAS)) {
      const { status, body } = await ask(`/topologies/${name}?${query}`);
      assert.equal(status, 200, `${name} of ${topology}: ${JSON.stringify(body)}`);
      assert.deepEqual(schema.parse(body), body, `${name} of ${topology}`);
    }
  }
  const { body } = await ask('/topologies/logicalplan?cluster=local&environ=dev&topology=words');
  assert.equal((body as { readonly stages: unknown }).stages, null, 'the bolts form a cycle');
  const all = (await ask('/topologies')).body;
  assert.deepEqual(all, {
    local: {
      '': { '': ['broken', 'orphan'] },
      tester: { default: ['g-jsubmit', 'g-live', 'g-pysubmit'] },
      ada: { dev: ['words'] },
    },
  });
});

test('a stream manager that says nothing of shell, folder or pid has null there', async (t) => {
  const cluster = inMemory('local');
  const { stateManager } = cluster;
  await writeHeronTopology(stateManager);
  const bytes = await stateManager.read('pplans/g-live');
  assert.ok(bytes !== undefined);
  const plan = StoredPhysicalPlan.decode(bytes);
  plan.stmgrs = plan.stmgrs.map(({ id, hostName, dataPort, localEndpoint }) =>
    create(StMgrSchema, { id, hostName, dataPort, localEndpoint }),
  );
  await stateManager.write('pplans/g-live', StoredPhysicalPlan.encode(plan));
  const { ask } = await aTracker(t, [cluster]);
  const { status, body } = await ask(`/topologies/physicalplan?${OF_LIVE}`);
  assert.equal(status, 200);
  const { stmgrs, instances } = physicalPlanSchema.parse(body);
  const { shell_port, cwd, pid, joburl, logfiles } = stmgrs['stmgr-1'] ?? {};
  assert.deepEqual([shell_port, cwd, pid, joburl, logfiles], [null, null, null, null, null]);
  assert.equal(instances['container_1_word_1']?.logfile, null);
});

test('mistakes are told in Heron’s form, with a status that says whose it is', async (t) => {
  const cluster = inMemory('local');
  await writeHeronTopology(cluster.stateManager);
  const { ask } = await aTracker(t, [cluster]);
  const told = async (path: string) => {
    const { status, body } = await ask(path);
    return [status, body];
  };
  assert.deepEqual(await told('/topologies/info?cluster=local'), [
    400,
    'request failed: the parameter environ is missing; the parameter topology is missing',
  ]);
  assert.deepEqual(await told('/topologies/info?cluster=local&environ=default&topology=gone'), [
    404,
    "request failed: there is no topology 'gone' in local/default",
  ]);
  assert.deepEqual(await told(`/topologies/info?${OF_LIVE}&role=somebody`), [
    404,
    "request failed: there is no topology 'g-live' in local/somebody/default",
  ]);
  assert.deepEqual(await told('/nowhere'), [
    404,
    'request failed: there is nothing at /nowhere; /docs tells what is',
  ]);
  assert.deepEqual(await told(`/topologies/pid?${OF_LIVE}&instance=container_9_word_1`), [
    404,
    "request failed: g-live has no instance or process 'container_9_word_1'",
  ]);
  const [status] = await told(`/topologies/jmap?${OF_LIVE}&instance=container_1_word_1`);
  assert.equal(status, 403, 'a heap dump is an action');
  const [, ours] = await told('/api/pages/topology?cluster=local&environ=x&topology=y');
  assert.deepEqual(ours, {
    error: { code: 'NOT_FOUND', message: "there is no topology 'y' in local/x" },
  });
});

test('two clusters with the same topology are told apart by their names', async (t) => {
  const [one, two] = [inMemory('east'), inMemory('west')];
  await writeHeronTopology(one.stateManager);
  await writeHeronTopology(two.stateManager);
  const { ask } = await aTracker(t, [one, two]);
  const of = async (cluster: string) =>
    ask(`/topologies/metadata?cluster=${cluster}&environ=default&topology=g-live`);
  assert.equal((await of('east')).status, 200);
  const both = await of('local');
  assert.equal(both.status, 400);
  assert.match(String(both.body), /east, west/);
});

test('the pages hold everything of their topologies, and are of their form', async (t) => {
  const cluster = inMemory('local');
  const { stateManager } = cluster;
  await writeHeronTopology(stateManager);
  const grouped = anInput('words', { kind: 'fields', fields: ['word'] });
  const words = aTopology([aSpout('words'), aBolt('count', [grouped])], {
    'db.password': 'hunter2',
    'topology.max.spout.pending:runtime': '7',
  });
  await writeTopology(stateManager, words, packingPlanOf({ 1: ['words:1'], 2: ['count:2'] }));
  await stateManager.write('topologies/broken', Buffer.from('no protobuf'));
  const { ask } = await aTracker(t, [cluster]);
  const all = topologiesPageSchema.parse((await ask('/api/pages/topologies')).body);
  const [shown] = all.clusters;
  assert.deepEqual(shown?.store, { state: 'reachable', reason: null, since: null });
  assert.deepEqual(
    shown?.topologies.map(({ name, state }) => [name, state]),
    [
      ['broken', 'DAMAGED'],
      ['g-live', 'RUNNING'],
      ['words', 'RUNNING'],
    ],
  );
  const [broken, live, ours] = shown?.topologies ?? [];
  assert.equal(broken?.damage[0]?.node, paths.topology(words.name).replace('words', 'broken'));
  assert.deepEqual(live?.containers, { up: null, wanted: 2 });
  assert.deepEqual(ours?.containers, { up: 3, wanted: 3 });
  assert.deepEqual(ours?.processes, { up: 8, wanted: 8 });

  const { body } = await ask('/api/pages/topology?cluster=local&environ=dev&topology=words');
  assert.doesNotMatch(JSON.stringify(body), /hunter2|secret-of/);
  const page = topologyPageSchema.parse(body);
  assert.equal(page.logicalPlan.stages, 2);
  assert.deepEqual(page.logicalPlan.components[1]?.inputs, [
    { component: 'words', stream: 'default', grouping: 'fields', fields: ['word'] },
  ]);
  assert.equal(page.physicalPlan?.tasks.length, 2);
  assert.equal(page.containers.length, 3);
  const entry = (key: string) => page.config.find((each) => each.key === key);
  assert.deepEqual(
    [entry('topology.max.spout.pending')?.value, entry('topology.max.spout.pending')?.origin],
    ['7', 'runtime'],
  );
  assert.equal(entry('db.password')?.origin, 'submitted');
  assert.equal(entry('topology.debug')?.origin, 'default');
});
