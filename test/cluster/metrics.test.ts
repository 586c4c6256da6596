import assert from 'node:assert/strict';
import { once } from 'node:events';
import { writeFile } from 'node:fs/promises';
import { type AddressInfo, createServer, type Socket } from 'node:net';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { aCluster, type Cluster, PATIENTLY, UNHURRIED } from '../support/cluster.ts';
import { countedSoFar, FREQUENT_METRICS, publishedMetrics } from '../support/cluster-metrics.ts';
import { documentedMetrics, isDocumented } from '../support/documented-metrics.ts';
import { eventually } from '../support/eventually.ts';

/* Metrics of real processes, and that nobody's trouble with them is the data's. */

const NAME = 'metered';
const OWN = /^(?:seen|parity\/\w+|newest|average|largest|lookup|sizes(?:\/\w+)?)$/;

/** Takes connections, reads nothing of what comes and never answers; its port. */
async function aSilentServer(t: TestContext): Promise<number> {
  const sockets = new Set<Socket>();
  const server = createServer({ pauseOnConnect: true }, (socket) => {
    sockets.add(socket);
    socket.on('error', () => {}); // The metrics manager gives up sooner or later.
  });
  server.unref();
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.after(() => {
    for (const socket of sockets) socket.destroy();
    server.close();
  });
  return (server.address() as AddressInfo).port;
}

function assertNames(cluster: Cluster): void {
  const documented = documentedMetrics();
  for (const [component, metrics] of publishedMetrics(cluster)) {
    const unknown = [...metrics.keys()].filter(
      (name) => !isDocumented(documented, name) && !OWN.test(name),
    );
    assert.deepEqual(unknown, [], `of ${component}: not in docs/metrics.md`);
  }
}

/** Every latency that there is, as a distribution; by component. */
const LATENCIES: Readonly<Record<string, readonly string[]>> = {
  numbers: ['__next-tuple-latency', '__complete-latency/default'],
  double: [
    '__execute-latency/numbers/default',
    '__process-latency/numbers/default',
    '__in-queue-latency/numbers/default',
    'sizes',
  ],
  sum: ['__execute-latency/double/default', '__in-queue-latency/double/default'],
};

function assertLatencies(cluster: Cluster): void {
  const published = publishedMetrics(cluster);
  for (const [component, names] of Object.entries(LATENCIES)) {
    for (const name of names) {
      const at = (key: string): number =>
        published.get(component)?.get(`${name}/${key}`) ?? Number.NaN;
      const largest = at('max');
      assert.ok(largest > 0 && largest < 3_600e9, `${component} ${name}/max is ${largest}`);
      assert.ok(at('p50') <= at('p99') && at('p99') <= largest, `${component} ${name}`);
    }
  }
}

test('O02: a sink that is blocked costs no data, and what it loses is counted', async (t) => {
  const cluster = await aCluster(t);
  const end = join(cluster.folder, 'end');
  const config = {
    ...FREQUENT_METRICS,
    ...UNHURRIED,
    'topology.stmgrs': 2,
    'heron.metricsmgr.sinks': 'file,tmanager,metricscache,prometheus,otlp',
    'heron.metricsmgr.otlp.endpoint': `http://127.0.0.1:${await aSilentServer(t)}/v1/metrics`,
  };
  await cluster.submit(NAME, NAME, { args: [end], config });
  const lost = (): number => countedSoFar(cluster, '__metricsmgr__', 'otlp-sink/dropped-count');
  await eventually(() => assert.ok(lost() > 0, 'nothing is lost yet'), PATIENTLY);
  for (const sink of ['file', 'tmanager', 'prometheus']) {
    assert.equal(countedSoFar(cluster, '__metricsmgr__', `${sink}-sink/dropped-count`), 0);
  }
  assertNames(cluster);
  assertLatencies(cluster);
  const executed = (): number => countedSoFar(cluster, 'sum', '__execute-count/double/default');
  const before = executed();
  await eventually(() => assert.ok(executed() > before + 1_000, 'the data stands'), PATIENTLY);
  await writeFile(end, '');
  await cluster.completion(NAME);
  const { count, sum } = (await cluster.result(NAME)) as { count: number; sum: number };
  assert.ok(count > before);
  assert.equal(sum, count * (count + 1), 'each of 1, 2, … came once, and doubled');
});
