import assert from 'node:assert/strict';
import { symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { aCluster, PATIENTLY } from '../../support/cluster.ts';
import { COMPILE_CACHE } from '../../support/compile-cache.ts';
import { eventually } from '../../support/eventually.ts';
import { RunningPipeline } from '../../support/running-pipeline.ts';
import { SmallDisk, withoutSmallDisks } from '../../support/small-disk.ts';

/*
  Disks without any room left, below real processes: tuples flow on, what needs the disk waits and
  says so, and all of it goes on when there is room again.
*/

/** What a full disk keeps from being stored: by the topology master, and by the command itself. */
const REFUSED = [
  [100, 'deactivate'],
  [104, 'update', '--component-parallelism', 'slow:4'],
  [100, 'update', '--runtime-config', 'mood:good'],
] as const;
/** The unpacked archive, three containers' logs, and the compiled engine is elsewhere. */
const DATA_MB = 32;
const STATE_MB = 2;
const VICTIM = 'container_1_slow_3';

test('full disks: nothing is lost, and what waited goes on', {
  skip: withoutSmallDisks(),
}, async (t) => {
  const cluster = await aCluster(t);
  using data = new SmallDisk(cluster.dataRoot, DATA_MB);
  symlinkSync(COMPILE_CACHE, join(cluster.dataRoot, 'compile-cache'));
  using state = new SmallDisk(join(cluster.dataRoot, 'repository', 'state'), STATE_MB);
  const pipeline = await RunningPipeline.begin(cluster);
  const { name } = pipeline;
  try {
    await pipeline.untilState('RUNNING');
    const begun = pipeline.pids();

    await t.test('where logs, pid files and beats are', async () => {
      data.fill();
      await pipeline.goesOn();
      await cluster.killProcess(VICTIM);
      // It finds the room that its own pid file has left, or waits for some.
      await eventually(async () => {
        const { state: phase, restarts, lastExit } = await cluster.statusOf(name, VICTIM);
        assert.ok(restarts > 0 && lastExit !== null);
        assert.ok(phase === 'running' || /disk is full|ENOSPC/.test(lastExit.reason));
      }, PATIENTLY);
      data.free();
      await pipeline.areReplaced([VICTIM], begun);
      await pipeline.untilState('RUNNING');
      await pipeline.goesOn();
    });

    await t.test('where the state is', async () => {
      state.fill();
      await pipeline.goesOn();
      for (const [expected, command, ...options] of REFUSED) {
        const { code, stderr } = await cluster.heron(command, ...options, cluster.place, name);
        assert.match(stderr, /^error: .*the disk is full\nNext: /m);
        assert.equal(code, expected, `${command}: ${stderr}`);
      }
      state.free();
      await pipeline.untilState('RUNNING');
      await pipeline.goesOn();
    });

    const same = [...begun].filter(([process]) => process !== VICTIM);
    const now = pipeline.pids();
    assert.deepEqual(
      same.map(([process]) => [process, now.get(process)]),
      same,
    );
    await pipeline.end();
  } finally {
    pipeline.stopWriting();
  }
});
