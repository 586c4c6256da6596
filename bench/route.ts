/*
  What routing costs a stream manager: one source's tuple sets are taken apart, each tuple is hashed
  and copied to its destination's batch, and full batches are sealed. One core, no sockets: what is
  left out is reading and writing them. Medians of several rounds of this thread's processor time.
  Aim: 200 ns for a small tuple.

  Run: node bench/route.ts
*/

import { taskId } from '../src/base/ids.ts';
import { createSeededRandom } from '../src/base/random.ts';
import type { Grouping } from '../src/model/logical-topology.ts';
import { PlanIndex } from '../src/model/plan-index.ts';
import { StreamRouter } from '../src/routing/stream-router.ts';
import { BatchPool } from '../src/stream-manager/batch-pool.ts';
import { SendWindow } from '../src/stream-manager/credits.ts';
import { Dispatcher } from '../src/stream-manager/dispatcher.ts';
import { FlushSchedule } from '../src/stream-manager/flush-schedule.ts';
import { LocalSource } from '../src/stream-manager/local-source.ts';
import { Outbox } from '../src/stream-manager/outbox.ts';
import type { OutgoingSet } from '../src/stream-manager/outgoing-set.ts';
import { InstanceTraffic } from '../src/stream-manager/traffic-metrics.ts';
import { MetricsRegistry } from '../src/metrics/metrics-registry.ts';
import { silentLogger } from '../src/base/logger.ts';
import { StreamHeaders } from '../src/wire/stream-header.ts';
import { TupleSetReader } from '../src/wire/tuple-set-reader.ts';
import { ManualClock } from '../test/support/manual-clock.ts';
import { aPlanOf } from '../test/support/planned-tasks.ts';
import { aBolt, anInput, aSpout, aTopology } from '../test/support/topologies.ts';
import { aTuple, tupleSetBytes } from '../test/support/tuple-sets.ts';

const TUPLES_PER_SET = 1_000;
const ROUNDS = 7;
const SETS_PER_ROUND = 2_000;

interface Case {
  readonly name: string;
  readonly grouping: Grouping;
  readonly tasks: number;
  readonly word: (index: number) => string;
}

const shortWord = (index: number): string => `word${((index * 7_919) % 100_003).toString(36)}`;
const longWord = (index: number): string => shortWord(index).repeat(16).slice(0, 100);
const byWord: Grouping = { kind: 'fields', fields: ['word'] };

const CASES: readonly Case[] = [
  {
    name: 'shuffle, 8 tasks, short words',
    grouping: { kind: 'shuffle' },
    tasks: 8,
    word: shortWord,
  },
  { name: 'fields, 1 task, short words', grouping: byWord, tasks: 1, word: shortWord },
  { name: 'fields, 8 tasks, short words', grouping: byWord, tasks: 8, word: shortWord },
  { name: 'fields, 100 tasks, short words', grouping: byWord, tasks: 100, word: shortWord },
  { name: 'fields, 8 tasks, 100 characters', grouping: byWord, tasks: 8, word: longWord },
  { name: 'all, 8 tasks, short words', grouping: { kind: 'all' }, tasks: 8, word: shortWord },
];

for (const one of CASES) report(one);

function report(one: Case): void {
  const run = prepare(one);
  run();
  const times = Array.from({ length: ROUNDS }, () => {
    const start = process.threadCpuUsage();
    run();
    const { user, system } = process.threadCpuUsage(start);
    return ((user + system) * 1e3) / (SETS_PER_ROUND * TUPLES_PER_SET);
  }).toSorted((a, b) => a - b);
  const median = times[Math.floor(ROUNDS / 2)] ?? Number.NaN;
  const best = times[0] ?? Number.NaN;
  const figures = `median ${median.toFixed(0)} ns a tuple, best ${best.toFixed(0)}`;
  console.log(`${one.name.padEnd(36)} ${figures}`);
}

/** A dispatcher whose sets are consumed as soon as they leave. */
function prepare({ grouping, tasks, word }: Case): () => void {
  const topology = aTopology([aSpout('word'), aBolt('count', [anInput('word', grouping)])]);
  const counts = Array.from({ length: tasks }, () => ['count', 1] as const);
  const plan = new PlanIndex(aPlanOf(topology, ['word', 1], ...counts));
  const clock = new ManualClock();
  const schedule = new FlushSchedule(clock);
  const outboxes = new Map(
    plan.plan.instances.map(({ task }) => {
      const outbox = new Outbox(task, new SendWindow(1 << 30), schedule);
      outbox.connect({
        send: (set: OutgoingSet) => {
          outbox.refill(set.byteLength);
          set.release();
        },
      });
      return [task, outbox];
    }),
  );
  const dispatcher = new Dispatcher({
    router: new StreamRouter(plan, {
      keyGroups: 1_024,
      random: createSeededRandom(1),
      localTasks: [],
    }),
    outboxes,
    pool: new BatchPool(),
    traffic: new InstanceTraffic(new MetricsRegistry()),
    logger: silentLogger,
  });
  const source = new LocalSource(taskId(1), 1 << 30, schedule);
  const reader = new TupleSetReader(new StreamHeaders());
  const sets = Array.from({ length: 8 }, (_, set) =>
    tupleSetBytes({
      task: 1,
      tuples: Array.from({ length: TUPLES_PER_SET }, (_tuple, index) =>
        aTuple(word(set * TUPLES_PER_SET + index)),
      ),
    }),
  );
  return () => {
    for (let round = 0; round < SETS_PER_ROUND; round += 1) {
      const bytes = sets[round % sets.length] as Uint8Array;
      reader.open(bytes, 0, bytes.length);
      if (reader.stream !== undefined) dispatcher.dispatch(source, reader, reader.stream);
      clock.runSoon();
    }
  };
}
