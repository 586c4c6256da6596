import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { MetricsRegistry } from '../../../src/metrics/metrics-registry.ts';
import { PressureTimes } from '../../../src/stream-manager/pressure-times.ts';
import { ManualClock } from '../../support/manual-clock.ts';

describe('PressureTimes', () => {
  it('counts a stretch once, however many reasons it has', () => {
    const clock = new ManualClock();
    const metrics = new MetricsRegistry();
    const times = new PressureTimes(clock, metrics);
    times.begin('a', 'b');
    clock.advance(100);
    times.begin('a');
    clock.advance(100);
    times.end('a', 'b');
    clock.advance(100);
    times.end('a');
    clock.advance(100);
    times.settle();
    assert.equal(metrics.counter('a').value, 300);
    assert.equal(metrics.counter('b').value, 200);
  });

  it('hands out what has passed so far, each millisecond once', () => {
    const clock = new ManualClock();
    const metrics = new MetricsRegistry();
    const times = new PressureTimes(clock, metrics);
    const collected = (): number => {
      times.settle();
      return Number(metrics.collect().find(({ name }) => name === 'a')?.value);
    };
    times.begin('a');
    clock.advance(70);
    assert.equal(collected(), 70);
    clock.advance(30);
    times.end('a');
    clock.advance(500);
    assert.equal(collected(), 30);
    assert.equal(collected(), 0);
  });

  it('tells no more of what it was told to forget', () => {
    const clock = new ManualClock();
    const metrics = new MetricsRegistry();
    const times = new PressureTimes(clock, metrics);
    times.begin('a', 'b');
    clock.advance(10);
    times.end('a', 'b');
    times.forget('a');
    const collected = () => metrics.collect().map(({ name, value }) => [name, value]);
    assert.deepEqual(collected(), [
      ['a', '10'],
      ['b', '10'],
    ]);
    times.settle();
    assert.deepEqual(collected(), [['b', '0']]);
  });
});
