import assert from 'node:assert/strict';
import { test } from 'node:test';
import { MetricsRegistry } from '../../../src/metrics/metrics-registry.ts';
import { registerProcessMetrics } from '../../../src/metrics/process-metrics.ts';
import { ManualClock } from '../../support/manual-clock.ts';

test('a process tells its age, memory and processor time', () => {
  const clock = new ManualClock();
  const registry = new MetricsRegistry();
  const use = { cpuUserUs: 5, cpuSystemUs: 6, residentBytes: 7 };
  registerProcessMetrics(registry, clock, () => use);
  clock.advance(61_500);
  const values = new Map(registry.collect().map(({ name, value }) => [name, Number(value)]));
  assert.equal(values.get('__process/__uptime_sec'), 61);
  assert.equal(values.get('__process/__mem_used_bytes'), 7);
  assert.equal(values.get('__process/__cpu_user_usec'), 5);
  assert.equal(values.get('__process/__cpu_system_usec'), 6);
});

test('the load is that of all processors since the last collection', () => {
  const clock = new ManualClock();
  const registry = new MetricsRegistry();
  let cpuUserUs = 1_000_000;
  registerProcessMetrics(registry, clock, () => {
    return { cpuUserUs, cpuSystemUs: 0, residentBytes: 7, cores: 4, threads: 9, openFiles: 12 };
  });
  const collect = () => new Map(registry.collect().map(({ name, value }) => [name, Number(value)]));
  clock.advance(10_000);
  cpuUserUs += 20_000_000;
  const first = collect();
  assert.equal(first.get('__jvm-process-cpu-load'), 0.5);
  assert.equal(first.get('__jvm-process-cpu-time-nanos'), 21e9);
  assert.deepEqual([first.get('__jvm-thread-count'), first.get('__jvm-fd-count')], [9, 12]);
  clock.advance(10_000);
  assert.equal(collect().get('__jvm-process-cpu-load'), 0);
  assert.equal(collect().has('__jvm-process-cpu-load'), false, 'no time has passed');
});

test('what nobody can tell is left out', () => {
  const registry = new MetricsRegistry();
  const clock = new ManualClock();
  const use = { cpuUserUs: 5, cpuSystemUs: 6, residentBytes: 7 };
  registerProcessMetrics(registry, clock, () => use);
  clock.advance(1_000);
  const names = registry.collect().map(({ name }) => name);
  assert.deepEqual(
    names.filter((name) => /load|thread|fd|memory|delay/.test(name)),
    [],
  );
});
