import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { decodeMetricsFrame } from '../../../../src/instance/metrics-frame.ts';
import { MetricsReporter } from '../../../../src/instance/task/metrics-reporter.ts';
import { messageOf } from '../../../../src/base/errors.ts';
import { type Metric, MetricsRegistry } from '../../../../src/metrics/metrics-registry.ts';
import { CountMetric } from '../../../../src/metrics/count-metric.ts';
import { createRingMemory, RingReader, RingWriter } from '../../../../src/ring/byte-ring.ts';
import { AtomicsDoorbell } from '../../../../src/ring/atomics-doorbell.ts';
import { ManualClock } from '../../../support/manual-clock.ts';

function aReporter() {
  const memory = createRingMemory(128 * 1024);
  const reader = new RingReader(memory, new AtomicsDoorbell());
  const clock = new ManualClock();
  const errors: string[] = [];
  const reporter = new MetricsReporter({
    ring: new RingWriter(memory, new AtomicsDoorbell(), new AtomicsDoorbell()),
    clock,
    intervalMs: 1_000,
    onError: (error) => void errors.push(messageOf(error)),
  });
  /** What has been reported since the last call. */
  const take = (): Map<string, number> => {
    const counts = new Map<string, number>();
    while (reader.next()) {
      const { counters } = decodeMetricsFrame(reader.bytes.subarray(reader.start, reader.end));
      for (const [name, value] of counters) counts.set(name, (counts.get(name) ?? 0) + value);
      reader.release();
    }
    return counts;
  };
  /** As the gateway publishes it. */
  const takeMetrics = (): Metric[] => {
    const registry = new MetricsRegistry();
    while (reader.next()) {
      registry.absorb(decodeMetricsFrame(reader.bytes.subarray(reader.start, reader.end)));
      reader.release();
    }
    return registry.collect();
  };
  const takeSpans = (): string[] => {
    const spans: string[] = [];
    while (reader.next()) {
      spans.push(...decodeMetricsFrame(reader.bytes.subarray(reader.start, reader.end)).spans);
      reader.release();
    }
    return spans;
  };
  return { reporter, clock, take, takeMetrics, takeSpans, errors };
}

describe('the metrics of a task', () => {
  it('are reported twice an export', () => {
    const { reporter, clock, take } = aReporter();
    reporter.start();
    reporter.registry.counter('a').add(1);
    clock.advance(499);
    assert.deepEqual(take(), new Map());
    clock.advance(1);
    assert.deepEqual(take(), new Map([['a', 1]]));
    clock.advance(1_000);
    assert.deepEqual(take(), new Map(), 'nothing new');
  });

  it('include those of the user', () => {
    const { reporter, take } = aReporter();
    const metric = new CountMetric();
    reporter.registerUserMetric('files', metric);
    metric.incr();
    metric.incr();
    reporter.report();
    assert.deepEqual(take(), new Map([['files', 2]]));
  });

  it('include means, values and names below a metric', () => {
    const { reporter, takeMetrics } = aReporter();
    reporter.registerUserMetric('all', {
      report(to) {
        to.count(1);
        to.mean(6, 2, 'mean');
        to.value(7, 'value');
        to.value(Number.NaN, 'nothing');
        to.count(Number.POSITIVE_INFINITY, 'nothing');
        to.mean(1, Number.NaN, 'nothing');
      },
    });
    reporter.report();
    assert.deepEqual(takeMetrics(), [
      { name: 'all', value: '1', kind: 'count' },
      { name: 'all/mean', value: '3', kind: 'mean' },
      { name: 'all/value', value: '7', kind: 'value' },
    ]);
  });

  it('that fail are an error of the user, and the others are reported', () => {
    const { reporter, take, errors } = aReporter();
    reporter.registerUserMetric('bad', {
      report() {
        throw new RangeError('too far');
      },
    });
    const metric = new CountMetric();
    reporter.registerUserMetric('good', metric);
    metric.incr();
    reporter.report();
    assert.deepEqual(errors, ["metric 'bad' failed: too far"]);
    assert.deepEqual(take(), new Map([['good', 1]]));
  });

  it('R1: are kept while the ring is full, and none is lost', () => {
    const { reporter, take } = aReporter();
    const names = Array.from({ length: 400 }, (_, index) => `${'n'.repeat(150)}${index}`);
    const total = new Map<string, number>();
    for (let round = 1; round <= 10; round += 1) {
      for (const name of names) reporter.registry.counter(name).add(1);
      reporter.report();
    }
    for (let round = 0; round < 10; round += 1) {
      for (const [name, value] of take()) total.set(name, (total.get(name) ?? 0) + value);
      reporter.report();
    }
    assert.deepEqual(total, new Map(names.map((name) => [name, 10])));
  });

  it('are reported for the last time when it is closed', () => {
    const { reporter, clock, take } = aReporter();
    reporter.start();
    reporter.registry.counter('a').add(1);
    reporter.close();
    assert.deepEqual(take(), new Map([['a', 1]]));
    assert.equal(clock.pendingTimers, 0);
  });
});

describe('the spans of a task', () => {
  it('leave together, a second after the first', () => {
    const { reporter, clock, takeSpans } = aReporter();
    reporter.addSpan('{"a":1}');
    clock.advance(600);
    reporter.addSpan('{"b":2}');
    clock.advance(399);
    assert.deepEqual(takeSpans(), []);
    clock.advance(1);
    assert.deepEqual(takeSpans(), ['{"a":1}', '{"b":2}']);
    reporter.addSpan('{"c":3}');
    reporter.close();
    assert.deepEqual(takeSpans(), ['{"c":3}'], 'at the end at once');
  });

  it('R2: wait for room, and are counted where there is none', () => {
    const { reporter, clock, takeSpans, take } = aReporter();
    const span = JSON.stringify('x'.repeat(200));
    for (let count = 0; count < 6_000; count += 1) reporter.addSpan(span);
    clock.advance(1_000);
    let taken = takeSpans().length;
    assert.ok(taken > 0 && taken < 4_096, `${taken} have found room`);
    for (let second = 0; second < 20; second += 1) {
      clock.advance(1_000);
      taken += takeSpans().length;
    }
    assert.equal(taken, 4_096);
    reporter.report();
    assert.equal(take().get('__spans-dropped-count'), 6_000 - 4_096);
  });
});
