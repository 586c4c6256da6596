import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { taskId } from '../../../src/base/ids.ts';
import { silentLogger } from '../../../src/base/logger.ts';
import { createSeededRandom } from '../../../src/base/random.ts';
import { MetricsRegistry } from '../../../src/metrics/metrics-registry.ts';
import type { Grouping } from '../../../src/model/logical-topology.ts';
import { PlanIndex } from '../../../src/model/plan-index.ts';
import { StreamRouter } from '../../../src/routing/stream-router.ts';
import { BATCH_BYTES, BatchPool } from '../../../src/stream-manager/batch-pool.ts';
import { SendWindow } from '../../../src/stream-manager/credits.ts';
import { Dispatcher } from '../../../src/stream-manager/dispatcher.ts';
import { FlushSchedule } from '../../../src/stream-manager/flush-schedule.ts';
import { LocalSource } from '../../../src/stream-manager/local-source.ts';
import { Outbox } from '../../../src/stream-manager/outbox.ts';
import type { OutgoingSet } from '../../../src/stream-manager/outgoing-set.ts';
import { InstanceTraffic } from '../../../src/stream-manager/traffic-metrics.ts';
import { StreamHeaders } from '../../../src/wire/stream-header.ts';
import { TupleSetReader } from '../../../src/wire/tuple-set-reader.ts';
import { ManualClock } from '../../support/manual-clock.ts';
import { aPlanOf } from '../../support/planned-tasks.ts';
import { aBolt, anInput, aSpout, aTopology } from '../../support/topologies.ts';
import { aTuple, readTupleSet, type TestTuple, tupleSetBytes } from '../../support/tuple-sets.ts';

/** Task 1 of `word` feeds tasks 2 and on of `count`; `arrived` tells what each of these got. */
function aDispatcher(grouping: Grouping, tasks: number) {
  const topology = aTopology([aSpout('word'), aBolt('count', [anInput('word', grouping)])]);
  const counts = Array.from({ length: tasks }, () => ['count', 1] as const);
  const plan = new PlanIndex(aPlanOf(topology, ['word', 1], ...counts));
  const clock = new ManualClock();
  const schedule = new FlushSchedule(clock);
  const arrived = new Map<number, string[]>();
  const setBytes: number[] = [];
  const outboxes = new Map(
    plan.plan.instances.map(({ task }) => {
      const outbox = new Outbox(task, new SendWindow(1 << 30), schedule);
      const send = (set: OutgoingSet): void => {
        const { data } = readTupleSet(set.bytes.subarray(set.start, set.end));
        const words = (data?.tuples ?? []).map(({ values }) => String(values[0]?.subarray(1)));
        assert.equal(words.length, set.tupleCount);
        arrived.set(task, [...(arrived.get(task) ?? []), ...words]);
        setBytes.push(set.byteLength);
        set.release();
      };
      outbox.connect({ send });
      return [task, outbox];
    }),
  );
  const traffic = new InstanceTraffic(new MetricsRegistry());
  const router = new StreamRouter(plan, {
    keyGroups: 64,
    random: createSeededRandom(1),
    localTasks: [],
  });
  const pool = new BatchPool();
  const dispatcher = new Dispatcher({ router, outboxes, pool, traffic, logger: silentLogger });
  const source = new LocalSource(taskId(1), 1 << 30, schedule);
  const set = new TupleSetReader(new StreamHeaders());
  const dispatch = (bytes: Uint8Array): number => {
    set.open(bytes, 0, bytes.length);
    try {
      return dispatcher.dispatch(source, set, set.stream ?? assert.fail('a set with data'));
    } finally {
      bytes.fill(0xee); // The socket reads into it again.
      clock.runSoon();
    }
  };
  return { dispatch, arrived: () => Object.fromEntries(arrived), setBytes, traffic };
}

const setOf = (tuples: readonly TestTuple[]): Uint8Array => tupleSetBytes({ task: 1, tuples });
const wordsOf = (...words: readonly string[]): Uint8Array =>
  setOf(words.map((word) => aTuple(word)));
const byWord: Grouping = { kind: 'fields', fields: ['word'] };

describe('Dispatcher', () => {
  it('hands every tuple to the only task, in order', () => {
    const { dispatch, arrived, setBytes } = aDispatcher(byWord, 1);
    assert.equal(dispatch(wordsOf('a', 'b', 'c')), 3);
    assert.deepEqual(arrived(), { 2: ['a', 'b', 'c'] });
    assert.equal(setBytes.length, 1);
  });

  it('copies every tuple for each task of an all grouping', () => {
    const { dispatch, arrived } = aDispatcher({ kind: 'all' }, 2);
    assert.equal(dispatch(wordsOf('a', 'b')), 2);
    assert.deepEqual(arrived(), { 2: ['a', 'b'], 3: ['a', 'b'] });
  });

  it('keeps batches to their size, however large a set is', () => {
    const { dispatch, arrived, setBytes } = aDispatcher(byWord, 1);
    const words = Array.from({ length: 9_000 }, (_, index) => `word${index}`);
    assert.equal(dispatch(wordsOf(...words)), words.length);
    assert.deepEqual(arrived(), { 2: words });
    assert.ok(setBytes.length > 5);
    for (const bytes of setBytes) assert.ok(bytes < BATCH_BYTES * 1.25, `a set of ${bytes} bytes`);
  });

  it('takes a tuple larger than a batch', () => {
    const { dispatch, arrived } = aDispatcher(byWord, 1);
    const large = 'x'.repeat(28);
    const tuples = ['a', ...Array.from({ length: 3 }, () => large), 'b'].map((word) =>
      aTuple(word),
    );
    tuples.splice(2, 0, aTuple(large, new Uint8Array(60_000)));
    dispatch(setOf(tuples));
    assert.deepEqual(arrived(), { 2: ['a', large, large, large, large, 'b'] });
  });

  it('sends a tuple also where it says itself, once, and keeps the order', () => {
    const { dispatch, arrived, traffic } = aDispatcher({ kind: 'global' }, 2);
    const named = { ...aTuple('b'), destinations: [3, 77] };
    assert.equal(dispatch(setOf([aTuple('a'), named, aTuple('c')])), 3);
    assert.deepEqual(arrived(), { 2: ['a', 'b', 'c'], 3: ['b'] });
    assert.equal(traffic.tuplesWithoutDestination.value, 1);
  });

  it('sends tuples of a direct grouping only where they say', () => {
    const { dispatch, arrived } = aDispatcher({ kind: 'direct' }, 2);
    dispatch(setOf([{ ...aTuple('a'), destinations: [3] }, aTuple('nowhere')]));
    assert.deepEqual(arrived(), { 3: ['a'] });
  });

  for (const tasks of [1, 2]) {
    it(`sends what stands in front of a broken tuple, to ${tasks} tasks`, () => {
      const { dispatch, arrived } = aDispatcher({ kind: 'shuffle' }, tasks);
      assert.throws(() => dispatch(withBrokenEnd(wordsOf('a', 'b', 'broken'))), {
        code: 'PACKET_MALFORMED',
      });
      assert.deepEqual(Object.values(arrived()).flat().toSorted(), ['a', 'b']);
    });
  }
});

/** Gives the key of the last tuple a wire type that is not its own. */
function withBrokenEnd(bytes: Uint8Array): Uint8Array {
  const keyAt = bytes.lastIndexOf(0x09);
  bytes[keyAt] = 0x08;
  return bytes;
}
