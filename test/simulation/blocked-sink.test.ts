import assert from 'node:assert/strict';
import { test } from 'node:test';
import { simulatedRequest } from '../../src/simulation/kernel/simulated-http.ts';
import { DEFAULT_HOST } from '../../src/simulation/machine/simulated-machine.ts';
import { inThread } from '../support/in-simulated-thread.ts';
import { parsePrometheus } from '../support/prometheus-parser.ts';
import { SimulatedRun } from '../support/simulated-run.ts';
import { simulatedWordCount } from '../support/simulated-word-count.ts';

/*
  Row O02 with the whole engine: metrics have nowhere to go for ten minutes, and the data does not
  notice. Whoever should take them accepts connections and reads nothing.
*/

const GRAPHITE_PORT = 2003;
const PAGES_PORT = 9000;
const MINUTE_MS = 60_000;

interface Outcome {
  /** Tuples in a minute. */
  readonly rate: number;
  /** By sink, of the metrics manager of container 1. */
  readonly dropped: ReadonlyMap<string, number>;
}

async function minutesWith(minutes: number, sinks: string): Promise<Outcome> {
  const config = {
    'heron.metricsmgr.sinks': sinks,
    'heron.metricsmgr.http.port': String(PAGES_PORT),
    'heron.metricsmgr.graphite.host': DEFAULT_HOST,
    'heron.metrics.export.interval.ms': '500',
  };
  const run = new SimulatedRun(simulatedWordCount({ isEndless: true, config }), {
    quickStart: true,
  });
  const { kernel, cluster, words } = run;
  const thread = kernel.createThread('graphite');
  const network = cluster.machine.network.portOf(thread, DEFAULT_HOST);
  await inThread(kernel, thread, () =>
    network.listen({ host: DEFAULT_HOST, port: GRAPHITE_PORT }, (stream) => {
      stream.start({ onData: () => {}, onClosed: () => {} });
      stream.pause();
    }),
  );
  await run.untilCounted(50);
  const before = words.counted();
  await run.advance(minutes * MINUTE_MS);
  const rate = (words.counted() - before) / minutes;
  const address = { host: DEFAULT_HOST, port: PAGES_PORT + 1 };
  const answer = await inThread(kernel, thread, () =>
    simulatedRequest(network, address, { method: 'GET', path: '/metrics' }),
  );
  const page = parsePrometheus(answer.body.toString());
  const { samples = [] } = page.get('heron_metricsmgr_dropped_count_total') ?? {};
  const dropped = samples.map(({ labels, value }) => [labels['sink'] ?? '', value] as const);
  return { rate, dropped: new Map(dropped) };
}

test('O02: a sink that is blocked for ten minutes loses its metrics and no data', async () => {
  const free = await minutesWith(1, 'file,prometheus');
  const blocked = await minutesWith(10, 'file,prometheus,graphite');
  assert.ok(free.rate > 1_000, `${free.rate} tuples a minute`);
  const share = blocked.rate / free.rate;
  assert.ok(share > 0.99 && share < 1.01, `${blocked.rate} against ${free.rate} a minute`);
  assert.ok((blocked.dropped.get('graphite-sink') ?? 0) > 0);
  assert.equal(blocked.dropped.get('prometheus-sink'), 0);
  assert.equal(blocked.dropped.get('file-sink'), 0);
});
