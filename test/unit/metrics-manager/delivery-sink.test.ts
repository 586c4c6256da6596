import assert from 'node:assert/strict';
import { test } from 'node:test';
import { environmentError } from '../../../src/base/errors.ts';
import { silentLogger } from '../../../src/base/logger.ts';
import { createSeededRandom } from '../../../src/base/random.ts';
import { DeliverySink } from '../../../src/metrics-manager/delivery-sink.ts';
import type { MetricsRecord } from '../../../src/metrics-manager/sink.ts';
import { ManualClock } from '../../support/manual-clock.ts';
import { aMetricsRecord, sinkCounters } from '../../support/metrics-records.ts';
import { settled } from '../../support/settled.ts';

interface Delivery {
  /** The value of each record's only metric. */
  readonly values: readonly string[];
  readonly signal: AbortSignal;
  readonly resolve: () => void;
  readonly reject: (error: unknown) => void;
}

class Fixture {
  readonly clock = new ManualClock();
  readonly counters = sinkCounters();
  readonly deliveries: Delivery[] = [];
  readonly sink: DeliverySink;
  #told = 0;

  constructor(queueBytesMax = 1_000_000) {
    this.sink = new DeliverySink({
      name: 'test-sink',
      delivery: { deliver: (records, signal) => this.#deliver(records, signal) },
      clock: this.clock,
      random: createSeededRandom(1),
      logger: silentLogger,
      counters: this.counters,
      queueBytesMax,
    });
  }

  get newest(): Delivery {
    const delivery = this.deliveries.at(-1);
    assert.ok(delivery);
    return delivery;
  }

  /** Tells records with the values 1, 2, 3 … */
  tell(count = 1): void {
    for (let number = 0; number < count; number += 1) {
      this.#told += 1;
      const metrics = [{ name: '__emit-count/default', value: `${this.#told}` }];
      this.sink.accept(aMetricsRecord({ metrics }));
    }
  }

  async succeed(): Promise<void> {
    this.newest.resolve();
    await settled();
  }

  async fail(error: unknown = environmentError('CONNECTION_LOST', 'x', { retryable: true })) {
    this.newest.reject(error);
    await settled();
  }

  #deliver(records: readonly MetricsRecord[], signal: AbortSignal): Promise<void> {
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    const values = records.map(({ metrics }) => metrics[0]?.value ?? '');
    this.deliveries.push({ values, signal, resolve, reject });
    return promise;
  }
}

test('one delivery at a time; what comes meanwhile goes with the next (D1)', async () => {
  const fixture = new Fixture();
  fixture.tell(3);
  assert.deepEqual(fixture.newest.values, ['1']);
  await fixture.succeed();
  assert.deepEqual(fixture.newest.values, ['2', '3']);
  await fixture.succeed();
  assert.equal(fixture.deliveries.length, 2);
  assert.equal(fixture.sink.queuedRecords, 0);
  assert.deepEqual([fixture.counters.flushed.value, fixture.counters.dropped.value], [2, 0]);
});

test('a failure that may pass is followed by the same records, later (D3)', async () => {
  const fixture = new Fixture();
  fixture.tell(2);
  await fixture.fail();
  fixture.clock.advance(200);
  assert.equal(fixture.deliveries.length, 1);
  fixture.clock.advance(300);
  assert.deepEqual(fixture.newest.values, ['1']);
  await fixture.succeed();
  assert.deepEqual(fixture.newest.values, ['2']);
  assert.equal(fixture.counters.dropped.value, 0);
});

test('any other failure loses these records and no others (D3)', async () => {
  const fixture = new Fixture();
  fixture.tell(2);
  await fixture.fail(new RangeError('poison'));
  assert.equal(fixture.counters.dropped.value, 1);
  fixture.clock.advance(60_000);
  assert.deepEqual(fixture.newest.values, ['2']);
});

test('attempts have an end (D3)', async () => {
  const fixture = new Fixture();
  fixture.tell();
  for (let attempt = 0; attempt < 8; attempt += 1) {
    assert.deepEqual(fixture.newest.values, ['1']);
    await fixture.fail();
    fixture.clock.advance(60_000);
  }
  assert.equal(fixture.deliveries.length, 8);
  assert.deepEqual([fixture.counters.dropped.value, fixture.sink.queuedRecords], [1, 0]);
});

test('a delivery that takes too long is aborted, and tried again when it has ended', async () => {
  const fixture = new Fixture();
  fixture.tell();
  const { signal } = fixture.newest;
  fixture.clock.advance(9_999);
  assert.equal(signal.aborted, false);
  fixture.clock.advance(1);
  assert.equal(signal.aborted, true);
  fixture.clock.advance(60_000);
  assert.equal(fixture.deliveries.length, 1);
  await fixture.fail(new Error('aborted'));
  fixture.clock.advance(60_000);
  assert.equal(fixture.deliveries.length, 2);
  assert.equal(fixture.counters.dropped.value, 0);
});

test('O02: a sink that hangs keeps the newest records, and counts the rest', async () => {
  const fixture = new Fixture(10_000);
  for (let second = 0; second < 600; second += 1) {
    fixture.tell();
    fixture.clock.advance(1_000);
    assert.ok(fixture.sink.queuedBytes <= 10_000);
  }
  const { sink, counters, deliveries } = fixture;
  assert.equal(deliveries.length, 1);
  assert.ok(counters.dropped.value > 0);
  assert.equal(sink.queuedRecords + counters.dropped.value, 600);
  await fixture.succeed();
  assert.equal(fixture.newest.values.at(-1), '600');
});

test('a record beyond the whole queue is dropped alone', () => {
  const fixture = new Fixture(100);
  fixture.tell();
  assert.deepEqual([fixture.counters.dropped.value, fixture.deliveries.length], [1, 0]);
});

test('batches are bounded', async () => {
  const fixture = new Fixture(4_000_000);
  fixture.tell(5_000);
  await fixture.succeed();
  const { length } = fixture.newest.values;
  assert.ok(length > 100 && length < 2_000, `${length} records in one batch`);
});

test('close waits for what is under way and in the queue', async () => {
  const fixture = new Fixture();
  fixture.tell(2);
  let isClosed = false;
  const closing = fixture.sink.close().then(() => (isClosed = true));
  await fixture.succeed();
  assert.equal(isClosed, false);
  await fixture.succeed();
  await closing;
  assert.deepEqual(
    fixture.deliveries.map(({ values }) => values),
    [['1'], ['2']],
  );
  assert.equal(fixture.clock.pendingTimers, 0);
});

test('close gives up a delivery that hangs', async () => {
  const fixture = new Fixture();
  fixture.tell(2);
  const closing = fixture.sink.close();
  fixture.clock.advance(1_000);
  await closing;
  assert.equal(fixture.newest.signal.aborted, true);
  assert.equal(fixture.counters.dropped.value, 2);
  assert.equal(fixture.clock.pendingTimers, 0);
  fixture.tell();
  assert.equal(fixture.counters.dropped.value, 3);
});

test('close does not wait for a back-off', async () => {
  const fixture = new Fixture();
  fixture.tell();
  await fixture.fail();
  await fixture.sink.close();
  await fixture.sink.close();
  assert.equal(fixture.counters.dropped.value, 1);
  assert.equal(fixture.clock.pendingTimers, 0);
});
