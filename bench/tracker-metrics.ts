/*
  What the Tracker's paths for metrics take with 3,000 instances and three hours of metrics in a
  metrics cache: in all, in the store (looking up, adding and encoding), and what is left: the
  Tracker's own work and the loopback connection between the two. All in one process, one request
  after the other, each a new question. Processor time of the one thread, the median of some rounds:
  on a busy machine the clock on the wall would tell of the others.

  Left out: the Tracker's own HTTP server, and other processes of the machine.

  Run: node bench/tracker-metrics.ts
*/
import { listenHttp } from '../src/net/http-server.ts';
import { MetricsStore } from '../src/metrics-store/metrics-store.ts';
import { statsHandler } from '../src/metrics-store/stats-handler.ts';
import { silentLogger } from '../src/base/logger.ts';
import { PublishMetricsToMaster } from '../src/wire/messages.ts';
import { ManualClock } from '../test/support/manual-clock.ts';
import { aView, MetricsTracker } from '../test/support/metrics-tracker.ts';
import { aPhysicalPlan } from '../test/support/topologies.ts';
import { sizedTopology } from './scale/sized-topology.ts';

const CONTAINERS = 300;
const MINUTES = 180;
const MINUTE_MS = 60_000;
const ROUNDS = 9;
const START_MS = 28_000_000 * MINUTE_MS;
const START = START_MS / 1000;

const { topology, packing } = sizedTopology(CONTAINERS);
const plan = aPhysicalPlan(topology, packing);
const clock = new ManualClock(START_MS);
const store = new MetricsStore(clock, { joinsRepeats: true });

const METRICS: Readonly<Record<string, (turn: number) => Readonly<Record<string, number>>>> = {
  sentences: (turn) => ({ '__emit-count/default': turn, '__pending-acked-count': turn }),
  split: (turn) => ({
    '__emit-count/default': 9 * turn,
    '__execute-count/sentences/default': turn,
    '__execute-latency/sentences/default': 1_000 * turn,
    '__ack-count/sentences/default': turn,
    '__process-latency/sentences/default': 1_100.5 * turn,
  }),
  count: (turn) => ({
    '__execute-count/split/default': 9 * turn,
    '__execute-latency/split/default': 1_234.5 * turn,
    '__ack-count/split/default': 9 * turn,
    '__process-latency/split/default': 1_300 * turn,
    '__fail-count/split/default': turn % 3,
  }),
};

function publishMinute(minute: number): void {
  plan.instances.forEach(({ id, component }, index) => {
    const numbers = METRICS[component]?.(1_000 + ((minute * 7 + index) % 50)) ?? {};
    const metrics = Object.entries(numbers).map(([name, value]) => {
      const source = { componentName: component, instanceId: id };
      return { ...source, name, value: String(value), timestamp: 0n };
    });
    store.add(PublishMetricsToMaster.create({ metrics }));
  });
  for (const { id } of plan.streamManagers) {
    const own = plan.instances.filter(({ streamManager }) => streamManager === id);
    const metrics = own.map((instance) => ({
      componentName: '__stmgr__',
      instanceId: id,
      name: `__connection_buffer_by_instanceid/${instance.id}/bytes`,
      value: String(minute * 100),
      timestamp: 0n,
    }));
    store.add(PublishMetricsToMaster.create({ metrics }));
  }
  clock.advance(MINUTE_MS);
}

for (let minute = 0; minute < MINUTES; minute += 1) publishMinute(minute);

let storeMs = 0;
let answerBytes = 0;
const answer = statsHandler(() => ({
  metrics: store.metrics,
  exceptions: store.exceptions,
  components: new Set(topology.components.map(({ name }) => name as string)),
  nowSeconds: store.nowSeconds,
  sinceSeconds: store.sinceSeconds,
  dialect: 'metrics-cache',
}));
const server = await listenHttp({
  host: '127.0.0.1',
  port: 0,
  bodyBytesMax: 1024 * 1024,
  logger: silentLogger,
  async handle(request) {
    const startMs = busyMs();
    const answered = await answer(request);
    storeMs += busyMs() - startMs;
    answerBytes = answered.body.length;
    return answered;
  },
});
const view = {
  ...aView({ metricsCache: { host: '127.0.0.1', statsPort: server.port, serverPort: 1 } }),
  topology,
  physicalPlan: plan,
};
const tracker = new MetricsTracker(clock, view);

/** Milliseconds: in all, and of that in the store. */
interface Round {
  readonly wholeMs: number;
  readonly storeMs: number;
  readonly bytes: number;
}

async function timed(ask: () => Promise<string>): Promise<Round> {
  clock.advance(1_100); // No answer is given twice.
  storeMs = 0;
  const startMs = busyMs();
  const { length } = await ask();
  return { wholeMs: busyMs() - startMs, storeMs, bytes: length };
}

/** Processor time of this thread. */
function busyMs(): number {
  const { user, system } = process.threadCpuUsage();
  return (user + system) / 1000;
}

function median(values: readonly number[]): number {
  return values.toSorted((one, other) => one - other)[Math.floor(values.length / 2)] ?? Number.NaN;
}

async function measure(name: string, ask: () => Promise<string>): Promise<void> {
  const rounds: Round[] = [];
  for (let round = 0; round < ROUNDS; round += 1) rounds.push(await timed(ask));
  const own = median(rounds.map((round) => round.wholeMs - round.storeMs));
  const [whole, inStore] = [
    median(rounds.map((round) => round.wholeMs)),
    median(rounds.map((round) => round.storeMs)),
  ];
  const [sent, asked] = [(rounds[0]?.bytes ?? 0) / 1000, answerBytes / 1000];
  const times = [whole, inStore, own].map((ms) => ms.toFixed(1).padStart(7)).join('');
  console.log(
    `${name.padEnd(46)} ${times} ms` +
      `${sent.toFixed(0).padStart(8)} kB${asked.toFixed(0).padStart(7)} kB`,
  );
}

const path = (name: string, query: Readonly<Record<string, string | readonly string[]>>) =>
  measure(`${name} ${JSON.stringify(query['component'] ?? query['query']).slice(0, 34)}`, () =>
    tracker.text(name, query),
  );

const EXECUTED = '__execute-count/split/default';
const count = (task: number): string => {
  const tasks = plan.instances.filter(({ component }) => component === 'count');
  return tasks[task]?.id ?? '';
};
const span = { starttime: String(START), endtime: String(START + MINUTES * 60) };
const TS = `TS(count, *, ${EXECUTED})`;

console.log(`${plan.instances.length} instances, ${MINUTES} minutes`.padEnd(46));
console.log(`${''.padEnd(46)}  whole  store    own       answer  of store`);
await path('metrics', { component: 'count', metricname: EXECUTED });
await path('metrics', { component: 'count', interval: '3600' });
await path('metrics/timeline', {
  component: 'count',
  metricname: [EXECUTED, '__execute-latency/split/default'],
  instance: Array.from({ length: 20 }, (_, task) => count(task)),
  ...span,
});
await path('metrics/timeline', { component: 'count', metricname: EXECUTED, ...span });
await path('metrics/query', { query: `SUM(${TS})`, ...span });
await path('metrics/query', { query: `PERCENTILE(99, ${TS})`, ...span });
await path('metrics/query', {
  query: `SUM(DIVIDE(${TS}, TS(count, *, __ack-count/split/default)))`,
  ...span,
});
await path('exceptions', { component: 'count' });
await path('exceptionsummary', { component: 'count' });
await measure('page of all topologies (this one)', async () =>
  JSON.stringify([...(await tracker.figures.summaries([{ ...view, key: String(clock.now()) }]))]),
);
for (const range of ['3m', '10m', '1h', '3h', 'all'] as const) {
  await measure(`page of the topology, ${range}`, async () =>
    JSON.stringify(await tracker.figures.topology(view, range)),
  );
}
await server.close();
