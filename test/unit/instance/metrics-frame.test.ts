import assert from 'node:assert/strict';
import { test } from 'node:test';
import { decodeMetricsFrame, encodeMetricsFrames } from '../../../src/instance/metrics-frame.ts';
import { MetricsRegistry } from '../../../src/metrics/metrics-registry.ts';

function aRegistry(entries: number): MetricsRegistry {
  const registry = new MetricsRegistry();
  for (let index = 0; index < entries; index += 1) {
    registry.counter(`__emit-count/stream-${index}`).add(index + 1);
    registry.mean(`__execute-latency/stream-${index}`).observe(index);
    registry.assign(`queued/${index}`, index);
  }
  return registry;
}

for (const entries of [0, 1, 7, 500]) {
  test(`${entries} counts and means arrive in frames that fit`, () => {
    const received = new MetricsRegistry();
    for (const frame of encodeMetricsFrames(aRegistry(entries).drain(), 2_000)) {
      assert.ok(frame.length <= 2_000);
      received.absorb(decodeMetricsFrame(frame));
    }
    assert.deepEqual(received.collect(), aRegistry(entries).collect());
  });
}

test('a name that fits nowhere is left out, and nothing else', () => {
  const registry = aRegistry(3);
  registry.counter('x'.repeat(3_000)).add(1);
  const received = new MetricsRegistry();
  for (const frame of encodeMetricsFrames(registry.drain(), 2_000)) {
    received.absorb(decodeMetricsFrame(frame));
  }
  assert.deepEqual(received.collect(), aRegistry(3).collect());
});
