import assert from 'node:assert/strict';
import { test } from 'node:test';
import { aCluster, PATIENTLY } from '../../support/cluster.ts';
import { eventually } from '../../support/eventually.ts';
import { RunningPipeline } from '../../support/running-pipeline.ts';

/*
  Everything that a topology has is killed, as when its machine ends: the next command brings all
  of it back, as it was wanted to be, and nothing is missing.
*/

/** Kills every process of the topology; who they were. */
async function killAll(pipeline: RunningPipeline): Promise<ReadonlyMap<string, number>> {
  const before = pipeline.pids();
  assert.ok(before.has('scheduler') && before.has('executor-0') && before.has('stmgr-2'));
  // Those that start others first, so that nobody is started meanwhile.
  const order = ['scheduler', 'executor-0', 'executor-1', 'executor-2', ...before.keys()];
  for (const name of order) {
    try {
      process.kill(before.get(name) ?? 0, 'SIGKILL');
    } catch {
      // It has ended with its executor.
    }
  }
  await eventually(() => {
    assert.deepEqual([...pipeline.pids().keys()], []);
  }, PATIENTLY);
  return before;
}

test('kill -9 of every process: one command brings all back, paused or not', async (t) => {
  const cluster = await aCluster(t);
  const pipeline = await RunningPipeline.begin(cluster);
  const { name } = pipeline;
  try {
    await t.test('while it runs', async () => {
      const before = await killAll(pipeline);
      const { code, stderr } = await cluster.heron('list', cluster.name);
      assert.equal(code, 0, stderr);
      assert.match(stderr, /the scheduler of pipeline had died; it runs again/);
      await pipeline.areReplaced([...before.keys()], before);
      await pipeline.untilState('RUNNING');
      await pipeline.goesOn();
    });

    await t.test('O30: while it is deactivated, which it stays', async () => {
      assert.equal((await cluster.heron('deactivate', cluster.place, name)).code, 0);
      const before = await killAll(pipeline);
      await cluster.heron('list', cluster.name);
      await pipeline.areReplaced([...before.keys()], before);
      await pipeline.untilState('PAUSED');
      for (const victim of ['heron-tmanager', 'executor-1']) {
        const pids = pipeline.pids();
        await cluster.killProcess(victim);
        await pipeline.areReplaced([victim], pids);
        await pipeline.untilState('PAUSED');
      }
      // What was pending comes again when the spouts may emit; there is more in the files.
      assert.ok(pipeline.sunk.distinct.size < pipeline.written);
      pipeline.sunk.read();
      const { size } = pipeline.sunk.distinct;
      assert.equal((await cluster.heron('status', cluster.place, name)).code, 0);
      pipeline.sunk.read();
      assert.equal(pipeline.sunk.distinct.size, size, 'lines came out although it rests');
      assert.equal((await cluster.heron('activate', cluster.place, name)).code, 0);
      await pipeline.untilState('RUNNING');
      await pipeline.goesOn();
    });

    await pipeline.end();
  } finally {
    pipeline.stopWriting();
  }
});

test('O30: a drain that loses command, master and scheduler comes to its end', async (t) => {
  const cluster = await aCluster(t);
  const pipeline = await RunningPipeline.begin(cluster);
  const { name } = pipeline;
  try {
    // What is under way cannot be processed before they go on.
    const sinks = [...pipeline.pids()].filter(([process]) => process.includes('_sink_'));
    for (const [, pid] of sinks) process.kill(pid, 'SIGSTOP');
    pipeline.stopWriting();
    const { child, end } = cluster.begin('kill', '--drain', cluster.place, name);
    await eventually(async () => {
      const { topology } = await cluster.physicalPlan(name);
      assert.equal(topology.state, 'KILLED', 'it is not drained yet');
    }, PATIENTLY);
    child.kill('SIGKILL');
    await end;
    const before = pipeline.pids();
    for (const victim of ['scheduler', 'heron-tmanager']) await cluster.killProcess(victim);
    await cluster.heron('list', cluster.name);
    await pipeline.areReplaced(['scheduler', 'heron-tmanager'], before);
    for (const [, pid] of sinks) process.kill(pid, 'SIGCONT');
    const { result, incidents } = await cluster.completion(name);
    assert.deepEqual([result, incidents], ['completed', []]);
    pipeline.assertNoGaps();
  } finally {
    pipeline.stopWriting();
  }
});
