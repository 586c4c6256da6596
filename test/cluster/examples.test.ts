import assert from 'node:assert/strict';
import { once } from 'node:events';
import { appendFile, readFile, rm, writeFile } from 'node:fs/promises';
import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { describe, test, type TestContext } from 'node:test';
import { packageRoot } from '../../src/base/entry.ts';
import { aCluster, type Cluster, PATIENTLY, type RunningCommand } from '../support/cluster.ts';
import { eventually } from '../support/eventually.ts';

/*
  The programs of examples/, each run to its end by real processes, as a reader would run it. Word
  count has tests of its own.
*/

/** How many of them at once; each is about ten processes. */
const AT_ONCE = 2;

function begin(cluster: Cluster, name: string, ...args: readonly (string | number)[]) {
  return cluster.beginRun(join(packageRoot(), 'examples', `${name}.ts`), name, { args });
}

/** What the program has written when it has ended without losses. */
async function resultOf(
  cluster: Cluster,
  name: string,
  { end }: RunningCommand,
): Promise<readonly string[]> {
  const { code, stdout, stderr } = await end;
  assert.equal(code, 0, `heron run ${name}: ${stdout}${stderr}`);
  const text = await readFile(cluster.resultFile(name), 'utf8');
  return text.split('\n').slice(0, -1);
}

async function runExample(
  t: TestContext,
  name: string,
  ...args: readonly (string | number)[]
): Promise<readonly string[]> {
  const cluster = await aCluster(t);
  return resultOf(cluster, name, begin(cluster, name, ...args));
}

describe('the examples', { concurrency: AT_ONCE }, () => {
  test('exclamation marks are added by one bolt after the other', async (t) => {
    const words = ['bertels', 'golda', 'jackson', 'mike', 'nathan'];
    const expected = words.flatMap((word) => Array.from({ length: 8 }, () => `${word}!!!!!!`));
    assert.deepEqual(await runExample(t, 'exclamation', 40), expected);
  });

  test('three spouts are read by one bolt', async (t) => {
    const balances = ['ada 16545', 'edsger 16585', 'grace 16565'];
    assert.deepEqual(await runExample(t, 'multi-spout'), balances);
  });

  test('each stream goes its way', async (t) => {
    assert.deepEqual(await runExample(t, 'named-streams'), [
      'attic has no value',
      'cellar warm is not a number',
      'door 20',
      'oven 200',
    ]);
  });

  test('a grouping of its own gives the largest customer a task alone', async (t) => {
    assert.deepEqual(await runExample(t, 'custom-grouping'), [
      'task 0: 7 600',
      'task 1: 0,2,4 300',
      'task 2: 1,3,5 300',
    ]);
  });

  test('direct grouping gives each job to the idlest worker', async (t) => {
    assert.deepEqual(await runExample(t, 'direct-grouping'), [
      'worker 0: jobs 0,7,10 19',
      'worker 1: jobs 1,3,8,11 17',
      'worker 2: jobs 2,4,5,6,9 15',
    ]);
  });

  test('a slow service is asked about every item, and again when it is busy', async (t) => {
    const service = await aSlowService(t);
    const prices = await runExample(t, 'async-bolt', service.address, ITEMS);
    const expected = Array.from({ length: ITEMS }, (_, item) =>
      item === ALWAYS_BUSY ? `${item} unknown` : `${item} ${item * 3}`,
    );
    assert.deepEqual(prices, expected.toSorted());
    assert.equal(service.requestsOf(BUSY_ONCE), 2);
    assert.equal(service.requestsOf(ALWAYS_BUSY), 3);
  });

  test('ticks make parts, and nothing is lost between them', async (t) => {
    assert.deepEqual(await runExample(t, 'ticks', 300), [
      'buy 60 in several parts',
      'click 60 in several parts',
      'view 180 in several parts',
    ]);
  });

  test('what cannot be processed becomes a dead letter, and the rest is counted', async (t) => {
    const cluster = await aCluster(t);
    const file = join(cluster.folder, 'orders.jsonl');
    const orders = Array.from({ length: 100 }, (_, n) =>
      JSON.stringify({ customer: n % 2 === 0 ? 'ada' : 'grace', amount: n === 50 ? -1 : 1 }),
    );
    orders[20] = '{"customer": "ada", ';
    await writeFile(file, orders.map((order) => `${order}\n`).join(''));
    const name = 'dead-letters';
    const sums = await resultOf(cluster, name, begin(cluster, name, file));
    assert.deepEqual(sums, ['ada 48', 'grace 50']);
    const { code, stdout } = await cluster.deadLetters(name);
    assert.equal(code, 0);
    const { letters } = JSON.parse(stdout) as { readonly letters: readonly { reason: unknown }[] };
    assert.equal(letters.length, 2, stdout);
    for (const said of ['unreadable', 'thrown', 'an order of -1']) {
      assert.ok(stdout.includes(said), stdout);
    }
  });

  test('streams of others are read to their ends', async (t) => {
    const cluster = await aCluster(t);
    const file = join(cluster.folder, 'text.txt');
    await writeFile(file, 'one\ntwo\nthree\n');
    const page = await aServer(t, (_request, response) => response.end('Grüße'));
    const run = begin(cluster, 'adapters', file, page);
    const sizes = await resultOf(cluster, 'adapters', run);
    assert.deepEqual(sizes, ['bytes 14', 'lines 11', 'text 5']);
  });

  test('a log is watched while it grows', async (t) => {
    const cluster = await aCluster(t);
    const logFile = join(cluster.folder, 'services.log');
    await writeFile(logFile, logLines('mail', 1, 3));
    const run = begin(cluster, 'log-monitor', logFile);
    await eventually(async () => {
      const { stdout } = await cluster.logs('log-monitor');
      assert.match(stdout, /ALERT mail/);
    }, PATIENTLY);
    const lines = logLines('shop', 1, 4) + logLines('mail', 4, 9) + logLines('chat', 1, 2);
    // A line may be written in two pieces.
    await appendFile(logFile, lines.slice(0, 20));
    await appendFile(logFile, lines.slice(20));
    await rm(logFile);
    assert.deepEqual(await resultOf(cluster, 'log-monitor', run), ['mail error 3', 'shop error 3']);
  });
});

function logLines(service: string, first: number, last: number): string {
  let lines = '';
  for (let n = first; n <= last; n += 1) {
    lines += `${service} INFO all is well\n${service} ERROR error ${n}\n`;
  }
  return lines;
}

const ITEMS = 30;
const ANSWER_AFTER_MS = 20;
const BUSY_ONCE = 7;
const ALWAYS_BUSY = 13;

/** More than the two tasks could ask if each asked one question at a time. */
const OPEN_AT_ONCE = 8;

/**
 * Answers late, to some requests that it is busy, and to none before so many are open at once.
 */
async function aSlowService(t: TestContext) {
  const requests = new Map<number, number>();
  const enough = Promise.withResolvers<void>();
  let total = 0;
  const address = await aServer(t, ({ url = '' }, response) => {
    const item = Number(url.replace('/price/', ''));
    const count = (requests.get(item) ?? 0) + 1;
    requests.set(item, count);
    const isBusy = item === ALWAYS_BUSY || (item === BUSY_ONCE && count === 1);
    total += 1;
    if (total === OPEN_AT_ONCE) enough.resolve();
    const answer = (): void => {
      response.writeHead(isBusy ? 503 : 200).end(isBusy ? 'busy' : String(item * 3));
    };
    void enough.promise.then(() => setTimeout(answer, ANSWER_AFTER_MS));
  });
  return {
    address,
    requestsOf: (item: number) => requests.get(item) ?? 0,
  };
}

/** Where it is. */
async function aServer(t: TestContext, onRequest: RequestListener): Promise<string> {
  const server = createServer(onRequest);
  await once(server.listen(0, '127.0.0.1'), 'listening');
  t.after(() => {
    server.closeAllConnections();
    server.close();
  });
  const { port } = server.address() as AddressInfo;
  return `http://127.0.0.1:${port}`;
}
