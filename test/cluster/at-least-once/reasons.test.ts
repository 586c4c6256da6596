import assert from 'node:assert/strict';
import { existsSync, readFileSync } from 'node:fs';
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import {
  aCluster,
  type Cluster,
  ONE_CONTAINER,
  PATIENTLY,
  UNHURRIED,
} from '../../support/cluster.ts';
import { countedByKey, FREQUENT_METRICS } from '../../support/cluster-metrics.ts';
import { eventually } from '../../support/eventually.ts';

/*
  Each reason for which a tuple fails, provoked in real processes (S12, O36): those that are told at
  once, where no tree fails by the clock, and the time-out in a topology of its own. So it does not
  matter how long a process takes to start, or to die.
*/

const REASONS = join(import.meta.dirname, 'fixtures/topologies/reasons.ts');
const TIMEOUT_SECONDS = 2;

interface Told {
  /** The bolt that the tuple was for. */
  readonly stream: string;
  readonly kind: string;
  readonly component?: string;
  readonly task?: number;
  readonly message?: string;
}

function toldSoFar(folder: string): readonly Told[] {
  const file = join(folder, 'told.jsonl');
  if (!existsSync(file)) return [];
  const lines = readFileSync(file, 'utf8').split('\n').slice(0, -1);
  return lines.map((line) => JSON.parse(line) as Told);
}

function told(folder: string, stream: string): Promise<Told> {
  return eventually(() => {
    const found = toldSoFar(folder).find((each) => each.stream === stream);
    assert.ok(found !== undefined, `nothing has been said of the tuple for ${stream}`);
    return found;
  }, PATIENTLY);
}

async function taskOf(cluster: Cluster, component: string) {
  const { instances } = await cluster.physicalPlan('reasons');
  const found = instances.find((instance) => instance.component === component);
  assert.ok(found !== undefined);
  return found;
}

/** Gives the bolts a tuple each, in this order; where the spout writes what it is told. */
async function submitReasons(
  cluster: Cluster,
  bolts: readonly string[],
  config: Readonly<Record<string, string | number>>,
): Promise<string> {
  const folder = join(cluster.folder, 'reasons');
  await mkdir(folder);
  await cluster.submit(REASONS, 'reasons', {
    args: [folder, ...bolts],
    config: { ...FREQUENT_METRICS, 'topology.reliability.mode': 'ATLEAST_ONCE', ...config },
  });
  return folder;
}

async function assertCounted(
  cluster: Cluster,
  expected: Readonly<Record<string, number>>,
): Promise<void> {
  await eventually(() => {
    assert.deepEqual(countedByKey(cluster, 'causes', '__fail-reason/'), expected);
    assert.deepEqual(countedByKey(cluster, '__stmgr__', '__server/__fail_reason/'), expected);
  }, PATIENTLY);
}

test('S12: the spout hears why a tuple has failed, and where', async (t) => {
  const cluster = await aCluster(t);
  const bolts = ['explicit', 'thrower', 'dying', 'far'];
  const folder = await submitReasons(cluster, bolts, {
    'topology.stmgrs': 2,
    ...UNHURRIED,
  });
  await t.test('S12: a bolt that fails it: explicit, with its error', async () => {
    const { task } = await taskOf(cluster, 'explicit');
    assert.deepEqual(await told(folder, 'explicit'), {
      stream: 'explicit',
      kind: 'explicit',
      component: 'explicit',
      task,
      message: 'said by the bolt',
    });
  });
  await t.test('S12: a bolt that throws: thrown, with its error', async () => {
    const { task } = await taskOf(cluster, 'thrower');
    assert.deepEqual(await told(folder, 'thrower'), {
      stream: 'thrower',
      kind: 'thrown',
      component: 'thrower',
      task,
      message: 'thrown by the bolt',
    });
  });
  await t.test('S12: a process that dies with it: lost-instance', async () => {
    const { task } = await taskOf(cluster, 'dying');
    const { kind, component, task: where } = await told(folder, 'dying');
    assert.deepEqual([kind, component, where], ['lost-instance', 'dying', task]);
  });
  await t.test('S12: a stream manager that dies on its way: lost-stream-manager', async () => {
    const { streamManager } = await taskOf(cluster, 'far');
    assert.notEqual(streamManager, (await taskOf(cluster, 'causes')).streamManager);
    await eventually(() => existsSync(join(folder, 'held')), PATIENTLY);
    await cluster.killProcess(streamManager);
    assert.equal((await told(folder, 'far')).kind, 'lost-stream-manager');
  });
  await t.test('S12: each is told once, and counted by its reason', async () => {
    assert.deepEqual(
      toldSoFar(folder).map(({ stream }) => stream),
      bolts,
    );
    await assertCounted(cluster, {
      explicit: 1,
      thrown: 1,
      'lost-instance': 1,
      'lost-stream-manager': 1,
    });
  });
  await cluster.kill('reasons');
});

test('S12, O36: the spout hears of tuples that are never settled', async (t) => {
  const cluster = await aCluster(t);
  const bolts = ['keeper', 'hanging'];
  const folder = await submitReasons(cluster, bolts, {
    ...ONE_CONTAINER,
    'topology.message.timeout.secs': TIMEOUT_SECONDS,
    'heron.instance.blocked.task.ms': 500,
  });
  await t.test('S12: a bolt that never acks it: time-out', async () => {
    const { kind, message } = await told(folder, 'keeper');
    assert.deepEqual([kind, message], ['time-out', undefined]);
  });
  await t.test('O36: a bolt that never returns: shown as blocked, and a time-out', async () => {
    assert.equal((await told(folder, 'hanging')).kind, 'time-out');
    await eventually(async () => {
      const { blocked } = (await cluster.status('reasons')).errors;
      const found = blocked.find(({ component }) => component === 'hanging');
      assert.match(found?.stack ?? '', /neverReturns/);
    }, PATIENTLY);
  });
  await t.test('S12: each is told once, and counted as a time-out', async () => {
    assert.deepEqual(
      toldSoFar(folder).map(({ stream }) => stream),
      bolts,
    );
    await assertCounted(cluster, { 'time-out': bolts.length });
  });
  await cluster.kill('reasons');
});
