import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { taskId } from '../../../src/base/ids.ts';
import { MetricsRegistry } from '../../../src/metrics/metrics-registry.ts';
import { BatchPool } from '../../../src/stream-manager/batch-pool.ts';
import { FlushSchedule } from '../../../src/stream-manager/flush-schedule.ts';
import { LocalDestination } from '../../../src/stream-manager/local-destination.ts';
import { LocalSource } from '../../../src/stream-manager/local-source.ts';
import { LocalTasks } from '../../../src/stream-manager/local-tasks.ts';
import { InstanceTraffic } from '../../../src/stream-manager/traffic-metrics.ts';
import { ManualClock } from '../../support/manual-clock.ts';

const tasks = (...numbers: readonly number[]) => numbers.map(taskId);

function localTasks() {
  const metrics = new MetricsRegistry();
  const traffic = new InstanceTraffic(metrics);
  const schedule = new FlushSchedule(new ManualClock());
  const pool = new BatchPool();
  const locals = new LocalTasks((task) => ({
    source: new LocalSource(task, 1_000, schedule),
    destination: new LocalDestination(task, { grant: () => undefined }, pool, traffic),
    isPlanned: false,
  }));
  const here = (): readonly number[] => locals.holdings.map(({ task }) => task);
  return { locals, here, traffic };
}

describe('LocalTasks', () => {
  it('L1: are here as soon as they are expected, and stay the same when a plan has them', () => {
    const { locals, here } = localTasks();
    locals.expect(new Set(tasks(1, 2)));
    const first = locals.get(taskId(1));
    assert.equal(first?.isPlanned, false);
    locals.plan(tasks(1));
    assert.equal(locals.get(taskId(1)), first);
    assert.equal(first?.isPlanned, true);
    assert.equal(locals.get(taskId(2))?.isPlanned, false);
    assert.deepEqual(here(), [1, 2]);
  });

  it('L2: are gone when a plan leaves them out, and here again if their instance registers', () => {
    const { locals, here } = localTasks();
    locals.expect(new Set(tasks(1, 2)));
    locals.plan(tasks(1, 2));
    locals.plan(tasks(1));
    assert.deepEqual(here(), [1]);
    locals.expect(new Set(tasks(1, 2, 3)));
    assert.deepEqual(here(), [1, 3]);
    assert.equal(locals.register(taskId(2)).isPlanned, false);
    assert.deepEqual(here(), [1, 3, 2]);
  });

  it('L3: are gone when nobody expects them any more, unless the plan has them', () => {
    const { locals, here } = localTasks();
    locals.expect(new Set(tasks(1, 2)));
    locals.plan(tasks(1));
    locals.expect(new Set());
    assert.deepEqual(here(), [1]);
    locals.plan([]);
    assert.deepEqual(here(), []);
  });

  it('give back, as lost, the credit for what waited for one that is gone', () => {
    const { locals, traffic } = localTasks();
    const granted: (readonly number[])[] = [];
    locals.plan(tasks(1));
    const sender = { grant: (...grant: readonly number[]) => void granted.push(grant) };
    locals.get(taskId(1))?.destination.deliver(sender, new Uint8Array(30), 0, 30, 4);
    locals.plan([]);
    assert.deepEqual(granted, [[1, 30, 30]]);
    assert.equal(traffic.tuplesToInstancesLost.value, 4);
  });
});
