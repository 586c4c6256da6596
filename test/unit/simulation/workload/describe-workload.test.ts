import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createSeededRandom } from '../../../../src/base/random.ts';
import { describeWorkload } from '../../../../src/simulation/workload/describe-workload.ts';
import { createWorkload } from '../../../../src/simulation/workload/workload.ts';
import { sizeOf } from '../../../../src/simulation/workload/workload-size.ts';
import { packingOf } from '../checkers/finished-run.ts';

const SEEDS = Array.from({ length: 400 }, (_, seed) => seed);
const PLANS = SEEDS.map((seed) => describeWorkload(createSeededRandom(seed)));

test('a seed always makes the same workload', () => {
  for (const seed of SEEDS.slice(0, 20)) {
    assert.deepEqual(describeWorkload(createSeededRandom(seed)), PLANS[seed]);
  }
});

test('every workload is a valid topology that can be packed', () => {
  for (const plan of PLANS) {
    const workload = createWorkload(plan);
    assert.equal(packingOf(workload).containers.length, plan.containers);
  }
});

test('all limits are kept', () => {
  const limits = { componentsMax: 5, parallelismMax: 2, containersMax: 2 };
  const sizes = { executionsMax: 500, payloadBytesMax: 200_000 };
  for (const seed of SEEDS) {
    const plan = describeWorkload(createSeededRandom(seed), { ...limits, ...sizes });
    const components = [...plan.spouts, ...plan.bolts];
    assert.ok(components.length <= 5 && plan.containers <= 2);
    assert.ok(components.every(({ parallelism }) => parallelism <= 2));
    // One tuple of each spout task is emitted whatever the limit says.
    const least = { ...plan, spouts: plan.spouts.map((spout) => ({ ...spout, tuples: 1 })) };
    const [size, leastSize] = [sizeOf(plan), sizeOf(least)];
    assert.ok(size.executions <= Math.max(500, leastSize.executions), plan.name);
    assert.ok(size.payloadBytes <= Math.max(200_000, leastSize.payloadBytes), plan.name);
  }
});

test('among the seeds there is everything that a workload can have', () => {
  const spouts = PLANS.flatMap((plan) => plan.spouts);
  const bolts = PLANS.flatMap((plan) => plan.bolts);
  const faults = [...spouts, ...bolts].flatMap((part) => part.faults);
  const inputs = bolts.flatMap((bolt) => bolt.inputs);
  const sorted = (values: readonly string[]) => [...new Set(values)].toSorted();
  assert.deepEqual(sorted(spouts.map(({ pace }) => pace.kind)), [
    'awaited',
    'burst',
    'flood',
    'timer',
    'trickle',
  ]);
  assert.deepEqual(sorted(bolts.map(({ style }) => style.kind)), ['async', 'detached', 'sync']);
  assert.deepEqual(sorted(bolts.map(({ base }) => base)), ['basic', 'plain']);
  assert.deepEqual(sorted(inputs.map(({ grouping }) => grouping.kind)), [
    'all',
    'custom',
    'direct',
    'fields',
    'global',
    'local-or-shuffle',
    'none',
    'shuffle',
  ]);
  assert.deepEqual(sorted(faults.map(({ kind }) => kind)), [
    'hang',
    'throw',
    'throw-at-start',
    'throw-in-finish',
  ]);
  assert.deepEqual(sorted(PLANS.map(({ containers }) => String(containers))), ['1', '2', '3', '4']);
  const counts = PLANS.map((plan) => plan.spouts.length + plan.bolts.length);
  assert.deepEqual([Math.min(...counts), Math.max(...counts)], [2, 12]);
  const orders = bolts.flatMap(({ concurrency }) => concurrency?.order ?? []);
  assert.deepEqual(sorted(orders), ['key', 'none']);
  assert.ok(bolts.some(({ tickMs }) => tickMs !== undefined));
  assert.ok(inputs.some(({ grouping }) => grouping.kind === 'custom' && grouping.copies > 1));
  assert.ok(bolts.some((bolt) => bolt.emitsInFinish > 0));
  assert.ok(bolts.some((bolt) => bolt.inputs.length > 2));
  assert.ok(bolts.some((bolt) => bolt.workMs > 0));
  const payloads = [...spouts, ...bolts].flatMap(({ streams }) =>
    streams.flatMap(({ payloadBytes }) => payloadBytes),
  );
  assert.ok(payloads.includes(0) && payloads.some((bytes) => bytes > 64 * 1024));
});

test('without user faults nobody throws or hangs', () => {
  for (const seed of SEEDS) {
    const plan = describeWorkload(createSeededRandom(seed), { hasUserFaults: false });
    assert.ok([...plan.spouts, ...plan.bolts].every(({ faults }) => faults.length === 0));
  }
});

test('a stream that is read by direct grouping has one reader (D4)', () => {
  for (const { bolts } of PLANS) {
    const inputs = bolts.flatMap((bolt) => bolt.inputs);
    for (const { component, stream, grouping } of inputs) {
      if (grouping.kind !== 'direct') continue;
      const readers = inputs.filter(
        (other) => other.component === component && other.stream === stream,
      );
      assert.equal(readers.length, 1);
    }
  }
});
