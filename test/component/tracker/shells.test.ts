import assert from 'node:assert/strict';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { type TestContext, test } from 'node:test';
import type { StateManager } from '../../../src/state-manager/state-manager.ts';
import { StoredPhysicalPlan } from '../../../src/wire/messages.ts';
import { TOKEN_HEADER } from '../../../src/wire/token-header.ts';
import { packingPlanOf } from '../../support/packing-plans.ts';
import { aSpout, aTopology } from '../../support/topologies.ts';
import {
  aReport,
  aTracker,
  inMemory,
  writeHeronTopology,
  writeReport,
  writeTopology,
} from '../../support/tracked-trees.ts';

/* Questions that the shells of containers answer: ours with its token, and Heron's without. */

interface Asked {
  readonly path: string;
  readonly token: string | undefined;
}

/** A shell that answers as a test tells it, by the beginning of the path. */
async function aShell(t: TestContext, answers: Readonly<Record<string, string>>) {
  const asked: Asked[] = [];
  const server = createServer((request, response) => {
    const path = request.url ?? '';
    const token = request.headers[TOKEN_HEADER.toLowerCase()];
    asked.push({ path, token: typeof token === 'string' ? token : undefined });
    const found = Object.entries(answers).find(([start]) => path.startsWith(start));
    response.statusCode = found === undefined ? 404 : 200;
    response.end(found?.[1] ?? 'there is no such thing');
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  t.after(() => server.close());
  return { asked, port: (server.address() as AddressInfo).port };
}

const OUTPUT = JSON.stringify({ command: 'c', stdout: 'a stack', stderr: '' });
const STATS = JSON.stringify({
  'log-files': { formatted_stat: 'drwx', is_dir: true, path: 'log-files' },
});

async function ofHeron(store: StateManager, shellPort: number): Promise<void> {
  await writeHeronTopology(store);
  const plan = StoredPhysicalPlan.decode((await store.read('pplans/g-live')) ?? new Uint8Array());
  for (const manager of plan.stmgrs) manager.shellPort = shellPort;
  await store.write('pplans/g-live', StoredPhysicalPlan.encode(plan));
}

const LIVE = 'cluster=local&environ=default&topology=g-live';
const OURS = 'cluster=local&environ=dev&topology=words';

test("Heron's shell is asked by pid, and what it escapes is told as it was written", async (t) => {
  const shell = await aShell(t, {
    '/pid/container_1_word_1': JSON.stringify({ command: 'cat', stdout: '4711\n', stderr: '' }),
    '/jstack/4711': OUTPUT,
    '/histo/4711': OUTPUT,
    '/filedata/log-files/a%20b.log?offset=5&length=10': JSON.stringify({
      offset: 5,
      length: 10,
      data: '&lt;a&gt; &amp;amp;',
    }),
    '/filedata/end': '{}',
    '/filestats/': STATS,
    '/download/log-files/x': 'bytes of it',
  });
  const cluster = inMemory('local');
  await ofHeron(cluster.stateManager, shell.port);
  const { ask } = await aTracker(t, [cluster]);
  const told = async (path: string, more: string) =>
    (await ask(`/topologies/${path}?${LIVE}&${more}`)).body;
  const process = 'instance=container_1_word_1';
  assert.deepEqual(await told('pid', process), { command: 'cat', stdout: '4711\n', stderr: '' });
  assert.deepEqual(await told('jstack', process), JSON.parse(OUTPUT));
  assert.deepEqual(await told('histo', process), JSON.parse(OUTPUT));
  const file = 'container=1&path=log-files/a b.log&offset=5&length=10';
  assert.deepEqual(await told('container/filedata', file), {
    offset: 5,
    length: 10,
    data: '<a> &amp;',
  });
  const end = 'container=1&path=end&offset=7&length=1';
  assert.deepEqual(await told('container/filedata', end), { offset: 7, length: 0 });
  assert.deepEqual(await told('container/filestats', 'container=1&path=.'), JSON.parse(STATS));
  assert.equal(await told('container/filedownload', 'container=1&path=log-files/x'), 'bytes of it');
  assert.ok(shell.asked.every(({ token }) => token === undefined));
});

test('what a look into a process has left is for whoever may have it made', async (t) => {
  const { asked, port } = await aShell(t, { '/': '{}' });
  const cluster = inMemory('local');
  await ofHeron(cluster.stateManager, port);
  const { ask } = await aTracker(t, [cluster]);
  for (const folder of ['inspections', './inspections', 'x/../inspections', './/inspections']) {
    for (const path of ['filedownload', 'filedata', 'filestats']) {
      const where = `container=1&offset=0&length=1&path=${folder}/x.heapsnapshot`;
      const { status } = await ask(`/topologies/container/${path}?${LIVE}&${where}`);
      assert.equal(status, 403, `${path} ${folder}`);
    }
  }
  assert.deepEqual(asked, []);
});

test('our shell is asked by name, with the token of the topology', async (t) => {
  const shell = await aShell(t, {
    '/pid/stmgr-1': OUTPUT,
    '/stack/container_1_words_1': OUTPUT,
    '/filedata/log-files/x.log': JSON.stringify({ offset: 0, length: 3, data: '<a>' }),
    '/filestats/.': STATS,
    '/download/log-files/x.log': 'bytes of it',
  });
  const cluster = inMemory('local');
  const { stateManager } = cluster;
  const topology = aTopology([aSpout('words')]);
  await writeTopology(stateManager, topology, packingPlanOf({ 1: ['words:1'] }));
  const report = { ...aReport(1, ['stmgr-1', 'container_1_words_1']), host: '127.0.0.1' };
  await writeReport(stateManager, topology, { ...report, shellPort: shell.port });
  const { ask } = await aTracker(t, [cluster]);
  const told = async (path: string, more: string) => ask(`/topologies/${path}?${OURS}&${more}`);
  assert.deepEqual((await told('pid', 'instance=stmgr-1')).body, JSON.parse(OUTPUT));
  const stack = await told('jstack', 'instance=container_1_words_1');
  assert.deepEqual(stack.body, JSON.parse(OUTPUT));
  const data = await told(
    'container/filedata',
    'container=1&path=log-files/x.log&offset=0&length=-1',
  );
  assert.deepEqual(data.body, { offset: 0, length: 3, data: '<a>' });
  const file = await told('container/filedownload', 'container=1&path=log-files/x.log');
  assert.equal(file.body, 'bytes of it');
  const disposition = file.headers.get('content-disposition');
  assert.equal(disposition, 'attachment; filename="x.log"');
  assert.ok(shell.asked.every(({ token }) => token === 'secret-of-this-topology'));
  assert.ok(
    shell.asked.some(({ path }) => path.includes('length=1048576')),
    'what one answer holds is bounded',
  );
  const plan = (await ask(`/topologies/physicalplan?${OURS}`)).body as {
    readonly stmgrs: Readonly<Record<string, { readonly logfiles: string }>>;
  };
  const link = plan.stmgrs['stmgr-1']?.logfiles ?? '';
  assert.match(link, /^\/topologies\/container\/filestats\?.*container=1&path=log-files$/);
});

test('a shell that is away, refuses or is not known is told apart', async (t) => {
  const shell = await aShell(t, {});
  const cluster = inMemory('local');
  const { stateManager } = cluster;
  const topology = aTopology([aSpout('words')]);
  await writeTopology(stateManager, topology, packingPlanOf({ 1: ['words:1'] }));
  const report = { ...aReport(1, ['stmgr-1']), host: '127.0.0.1' };
  await writeReport(stateManager, topology, { ...report, shellPort: shell.port });
  await writeReport(stateManager, topology, { ...aReport(0, []), host: '127.0.0.1', shellPort: 1 });
  const { ask, pass } = await aTracker(t, [cluster]);
  const told = async (more: string) => {
    const { status, body } = await ask(`/topologies/container/filestats?${OURS}&${more}`);
    return `${status} ${String(body)}`;
  };
  assert.match(await told('container=1&path=gone'), /^400 .*there is no such thing/);
  assert.match(await told('container=0&path=.'), /^502 .*no answer from the container/);
  assert.match(await told('container=9&path=.'), /^404 .*words has no container 9/);
  assert.match(await told('container=x&path=.'), /^400 .*container: /);
  await writeReport(stateManager, topology, report);
  await pass(0);
  assert.match(await told('container=1&path=.'), /^503 .*has no shell now/);
});
