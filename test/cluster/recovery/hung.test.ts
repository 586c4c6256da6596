import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { delay, systemClock } from '../../../src/base/clock.ts';
import { aCluster, type Cluster, PATIENTLY } from '../../support/cluster.ts';
import { eventually } from '../../support/eventually.ts';
import { RunningPipeline } from '../../support/running-pipeline.ts';

/*
  Processes that are stopped for longer than they may be silent: each is replaced, with that reason,
  and nothing is missing. When it was the watcher that was away, nobody is.
*/

const CHILD_SILENCE_MS = 4_000;
const EXECUTOR_SILENCE_MS = 6_000;
/** Longer than every limit here. */
const AWAY_MS = 9_000;
const CONFIG = {
  'heron.executor.child.silence.ms': CHILD_SILENCE_MS,
  'heron.scheduler.executor.silence.ms': EXECUTOR_SILENCE_MS,
  'heron.tmanager.stmgr.state.timeout.ms': 2_000,
  'heron.streammgr.tmanager.heartbeat.interval.ms': 500,
};

/** One of each container at a time, so that nobody doubts that it hears. */
const ROUNDS: readonly (readonly string[])[] = [
  ['heron-tmanager', 'container_1_slow_3', 'stmgr-2'],
  ['heron-metricscache', 'metricsmgr-1', 'container_2_lines_2'],
  ['metricsmgr-0', 'container_1_sink_7'],
];
const EXECUTORS = ['executor-0', 'executor-2'];

function schedulerLog(cluster: Cluster): string {
  const folder = join(cluster.dataRoot, 'topologies', cluster.name, 'tester', 'pipeline');
  return readFileSync(join(folder, 'scheduler.log'), 'utf8');
}

async function stopped(cluster: Cluster, names: readonly string[]): Promise<readonly number[]> {
  const pids: number[] = [];
  for (const name of names) pids.push((await cluster.killProcess(name, 'SIGSTOP')).pid);
  return pids;
}

test('O14: whatever hangs is killed, with the reason, and started again', async (t) => {
  const cluster = await aCluster(t);
  const pipeline = await RunningPipeline.begin(cluster, { config: CONFIG });
  try {
    for (const names of ROUNDS) {
      await t.test(names.join(', '), async () => {
        const before = pipeline.pids();
        await stopped(cluster, names);
        await pipeline.areReplaced(names, before);
        await pipeline.untilState('RUNNING');
        for (const name of names) {
          const { lastExit } = await cluster.statusOf(pipeline.name, name);
          assert.equal(lastExit?.signal, 'SIGKILL');
          assert.match(lastExit.reason, /^hung: nothing was heard of it for \d+ ms/);
        }
      });
    }
    for (const name of EXECUTORS) {
      await t.test(`O32: ${name}`, async () => {
        const before = pipeline.pids();
        await stopped(cluster, [name]);
        await pipeline.areReplaced([name], before);
        await pipeline.untilState('RUNNING');
        const killed = new RegExp(`${name}.*hung: it had not beaten for \\d+ ms`);
        assert.match(schedulerLog(cluster), killed);
      });
    }
    await pipeline.goesOn();
    await pipeline.end();
  } finally {
    pipeline.stopWriting();
  }
});

test('O21: nobody is killed for what watchers missed while they were away', async (t) => {
  const cluster = await aCluster(t);
  const pipeline = await RunningPipeline.begin(cluster, { config: CONFIG });
  try {
    await pipeline.untilState('RUNNING');
    const before = pipeline.pids();
    // Those that watch, and some whom they watch, as on a machine that sleeps.
    const names = ['scheduler', 'executor-0', 'executor-2', 'heron-tmanager', 'stmgr-2'];
    const pids = await stopped(cluster, names);
    await delay(systemClock, AWAY_MS);
    // Watchers first: they hear of nobody yet.
    for (const pid of pids) process.kill(pid, 'SIGCONT');
    await pipeline.goesOn();
    await pipeline.untilState('RUNNING');
    const { containers } = await cluster.status(pipeline.name);
    const restarted = containers
      .flatMap(({ processes }) => processes)
      .filter(({ restarts }) => restarts > 0);
    assert.deepEqual(restarted, []);
    await eventually(() => {
      assert.deepEqual(pipeline.pids(), before);
    }, PATIENTLY);
    await pipeline.end();
  } finally {
    pipeline.stopWriting();
  }
});
