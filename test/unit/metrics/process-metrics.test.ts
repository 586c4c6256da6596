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
