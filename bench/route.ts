/*
  What routing costs a stream manager: one source's tuple sets are taken apart, each tuple is hashed
  and copied to its destination's batch, and full batches are sealed. One core, no sockets: what is
  left out is reading and writing them. Medians of several rounds of this thread's processor time.
  Aim: 200 ns for a small tuple. With acks each tuple is the root of a tree, gets a key, is put into
  the ledger and is acked there, by sets as an instance folds them.

  Run: node bench/route.ts
*/

import { taskId, type TaskId } from '../src/base/ids.ts';
import { createSeededRandom } from '../src/base/random.ts';
import type { Grouping } from '../src/model/logical-topology.ts';
import { PlanIndex } from '../src/model/plan-index.ts';
import { StreamRouter } from '../src/routing/stream-router.ts';
import { AckPath, type AckPathOptions } from '../src/stream-manager/ack-path.ts';
import { AckTraffic } from '../src/stream-manager/ack-traffic.ts';
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
import { AckFold } from '../src/wire/ack-fold.ts';
import { StreamHeaders } from '../src/wire/stream-header.ts';
import { TupleSetReader } from '../src/wire/tuple-set-reader.ts';
import { ManualClock } from '../test/support/manual-clock.ts';
import { aPlanOf } from '../test/support/planned-tasks.ts';
import { aBolt, anInput, aSpout, aTopology } from '../test/support/topologies.ts';
import { aTuple, tupleSetBytes } from '../test/support/tuple-sets.ts';

const SPOUT = taskId(1);
const TUPLES_PER_SET = 1_000;
const ROUNDS = 7;
const SETS_PER_ROUND = 2_000;

interface Case {
  readonly name: string;
  readonly grouping: Grouping;
  readonly tasks: number;
  readonly word: (index: number) => string;
  readonly hasAcks?: boolean;
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
  {
    name: 'shuffle, 8 tasks, acks',
    grouping: { kind: 'shuffle' },
    tasks: 8,
    word: shortWord,
    hasAcks: true,
  },
  { name: 'fields, 1 task, acks', grouping: byWord, tasks: 1, word: shortWord, hasAcks: true },
  { name: 'fields, 8 tasks, acks', grouping: byWord, tasks: 8, word: shortWord, hasAcks: true },
];

function report(one: Case): void {
  const run = prepare(one);
  run();
  const times = Array.from(
    { length: ROUNDS },
    () => (run() * 1e3) / (SETS_PER_ROUND * TUPLES_PER_SET),
  ).toSorted((a, b) => a - b);
  const median = times[Math.floor(ROUNDS / 2)] ?? Number.NaN;
  const best = times[0] ?? Number.NaN;
  const figures = `median ${median.toFixed(0)} ns a tuple, best ${best.toFixed(0)}`;
  console.log(`${one.name.padEnd(36)} ${figures}`);
}

/** Processor time of this thread in microseconds. */
function cpuMicros(): number {
  const { user, system } = process.threadCpuUsage();
  return user + system;
}

/**
 * A dispatcher whose sets are consumed as soon as they leave. Returns the run, which returns the
 * microseconds that it took; what the bolts do to make the acks does not count.
 */
function prepare({ grouping, tasks, word, hasAcks = false }: Case): () => number {
  const topology = aTopology([aSpout('word'), aBolt('count', [anInput('word', grouping)])]);
  const counts = Array.from({ length: tasks }, () => ['count', 1] as const);
  const plan = new PlanIndex(aPlanOf(topology, ['word', 1], ...counts));
  const clock = new ManualClock();
  const schedule = new FlushSchedule(clock);
  const bolts = new Bolts();
  const outboxes = new Map(
    plan.plan.instances.map(({ task }) => {
      const outbox = new Outbox(task, new SendWindow(1 << 30), schedule);
      outbox.connect({
        send: (set: OutgoingSet) => {
          outbox.refill(set.byteLength);
          if (hasAcks) bolts.take(set);
          set.release();
        },
      });
      return [task, outbox];
    }),
  );
  const pool = new BatchPool();
  const random = createSeededRandom(1);
  const traffic = new InstanceTraffic(new MetricsRegistry());
  const acks = hasAcks ? acksOf({ plan, clock, random, schedule, pool, traffic }) : undefined;
  const router = new StreamRouter(plan, { keyGroups: 1_024, random, localTasks: [] });
  const logger = silentLogger;
  const dispatcher = new Dispatcher({ router, outboxes, pool, traffic, acks, logger });
  const source = new LocalSource(SPOUT, 1 << 30, schedule);
  const reader = new TupleSetReader(new StreamHeaders());
  const sets = Array.from({ length: 8 }, (_, index) => aSet(index, word, hasAcks));
  const dispatch = (bytes: Uint8Array): void => {
    reader.open(bytes, 0, bytes.length);
    if (reader.stream !== undefined) dispatcher.dispatch(source, reader, reader.stream);
    clock.runSoon();
  };
  return () => {
    let spent = -cpuMicros();
    for (let round = 0; round < SETS_PER_ROUND; round += 1) {
      dispatch(sets[round % sets.length] as Uint8Array);
      if (acks === undefined) continue;
      spent += cpuMicros();
      const acked = bolts.ackAll();
      spent -= cpuMicros();
      for (const { task, bytes, start, end } of acked) {
        acks.handleInstanceSet(task, bytes, start, end);
      }
      clock.runSoon();
    }
    return spent + cpuMicros();
  };
}

interface AckParts extends Pick<AckPathOptions, 'plan' | 'clock' | 'random' | 'schedule' | 'pool'> {
  readonly traffic: InstanceTraffic;
}

function acksOf({ traffic, ...parts }: AckParts): AckPath {
  return new AckPath({
    ...parts,
    timeoutMs: 30_000,
    localTasks: [SPOUT],
    traffic: new AckTraffic(new MetricsRegistry()),
    instanceTraffic: traffic,
    deliver: (_task, _set, release) => {
      release();
      return true;
    },
    queuedBytes: () => 0,
  });
}

function aSet(index: number, word: (index: number) => string, isTracked: boolean): Uint8Array {
  const first = index * TUPLES_PER_SET;
  return tupleSetBytes({
    task: SPOUT,
    tuples: Array.from({ length: TUPLES_PER_SET }, (_, at) => ({
      ...aTuple(word(first + at)),
      ...(isTracked && { roots: [{ task: SPOUT, key: (9n << 32n) | BigInt(first + at) }] }),
    })),
  });
}

/** Keeps what it was sent, and acks it folded, as bolts do. */
class Bolts {
  readonly #reader = new TupleSetReader(new StreamHeaders());
  readonly #control = new TupleSetReader(new StreamHeaders());
  readonly #fold = new AckFold();
  #sets: Uint8Array[] = [];

  take({ bytes, start, end }: OutgoingSet): void {
    this.#sets.push(Uint8Array.prototype.slice.call(bytes, start, end));
  }

  /** The controls of the sets with acks, and where they are. */
  ackAll(): { task: TaskId; bytes: Uint8Array; start: number; end: number }[] {
    const sets = this.#sets;
    this.#sets = [];
    return sets.map((set) => {
      const reader = this.#reader;
      reader.open(set, 0, set.length);
      while (reader.next()) {
        const { roots, keyLow, keyHigh } = reader;
        this.#fold.add(SPOUT, roots.keyLow(0), roots.keyHigh(0), keyLow, keyHigh, 'ack');
      }
      const bytes = new Uint8Array(this.#fold.byteLengthMax);
      const length = this.#fold.writeSet(bytes, 0, 2);
      this.#fold.clear();
      this.#control.open(bytes, 0, length);
      const { controlStart: start, controlEnd: end } = this.#control;
      return { task: taskId(2), bytes, start, end };
    });
  }
}

for (const one of CASES) report(one);
