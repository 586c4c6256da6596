import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Histogram } from '../../../src/metrics/histogram.ts';
import { LatencySampler } from '../../../src/metrics/latency-sampler.ts';

/** Steps whose durations are known; the sampler sees the clock only where it asks for it. */
function run(durationsMs: readonly number[], { isOn = true, pauseMs = 0 } = {}) {
  const sampler = new LatencySampler(7, isOn);
  const histogram = new Histogram();
  const slow = { steps: 0, stoodFor: 0 };
  let nowMs = 1_000;
  let timed = 0;
  for (const durationMs of durationsMs) {
    const isDue = sampler.isDue();
    nowMs += durationMs;
    if (durationMs > 1) slow.steps += 1;
    if (isDue) {
      timed += 1;
      histogram.record(durationMs * 1e6, sampler.weight);
      if (durationMs > 1) slow.stoodFor += sampler.weight;
      sampler.done(nowMs);
    }
    nowMs += pauseMs;
  }
  return { histogram, timed, slow };
}

test('L2: slow steps are all timed', () => {
  const { histogram, timed } = run(Array.from({ length: 500 }, () => 0.2));
  assert.equal(timed, 500);
  assert.equal(histogram.count, 500);
});

test('of quick steps about one is timed in 50 microseconds, and stands for those before it', () => {
  const steps = 1_000_000;
  const { histogram, timed } = run(Array.from({ length: steps }, () => 0.0005));
  // 500 ms hold 10,000 times 50 microseconds.
  assert.ok(timed > 8_000 && timed < 13_000, `${timed} were timed`);
  assert.ok(histogram.count <= steps && histogram.count > steps - 250, `${histogram.count}`);
});

test('L1: what is slow in every 64th step is not missed, nor taken for more', () => {
  const durations = Array.from({ length: 640_000 }, (_, step) => (step % 64 === 0 ? 2 : 0.0005));
  const { slow } = run(durations);
  const share = slow.stoodFor / slow.steps;
  assert.ok(share > 0.9 && share < 1.1, `${slow.stoodFor} for ${slow.steps}`);
});

test('after a pause steps are timed soon again', () => {
  const quick = Array.from({ length: 20_000 }, () => 0.0005);
  const { timed } = run([...quick, ...Array.from({ length: 1_000 }, () => 30)]);
  assert.ok(timed > 900, `${timed} were timed`);
});

test('when it is off, no step is ever due', () => {
  const { timed } = run(
    Array.from({ length: 5_000 }, () => 0.2),
    { isOn: false },
  );
  assert.equal(timed, 0);
});
