import assert from 'node:assert/strict';
import { test } from 'node:test';
import { aCluster, PATIENTLY } from '../../support/cluster.ts';
import { eventually } from '../../support/eventually.ts';
import { RunningPipeline } from '../../support/running-pipeline.ts';
import { twinOf } from '../../support/twin-process.ts';

/* Two processes that stand for the same task: the one that was started later is it (S41). */

const REFUSED = 77;
const TASK = 'container_1_slow_3';
const ENTRY = 'instance/main';
/** Its executor would kill the stopped one before it can go on. */
const CONFIG = { 'heron.executor.child.silence.ms': 600_000 };

test('S41: a stopped instance that has been replaced is refused when it goes on', async (t) => {
  const cluster = await aCluster(t);
  const pipeline = await RunningPipeline.begin(cluster, { config: CONFIG });
  try {
    const zombie = await cluster.process(TASK);
    process.kill(zombie.pid, 'SIGSTOP');
    const registrations = async (): Promise<number> => {
      const log = await cluster.log(pipeline.name, 1, 'heron-stmgr-1.log');
      return log.match(new RegExp(`an instance registered.*"${TASK}"`, 'g'))?.length ?? 0;
    };
    const registered = await registrations();
    const twin = twinOf(t, zombie, ENTRY);
    await eventually(async () => {
      assert.equal(await registrations(), registered + 1);
    }, PATIENTLY);
    // It does the work now: without it lines would be missing that shuffles send there.
    await pipeline.goesOn();
    process.kill(zombie.pid, 'SIGCONT');
    const { lastExit } = await eventually(async () => {
      const found = await cluster.statusOf(pipeline.name, TASK);
      assert.notEqual(found.lastExit, null);
      return found;
    }, PATIENTLY);
    assert.equal(lastExit?.code, REFUSED, JSON.stringify(lastExit));

    // Its executor has started another one, which is the latest.
    const { code, output } = await twin.end;
    assert.equal(code, REFUSED, output);
    await pipeline.untilState('RUNNING');
    assert.equal(cluster.processes().filter(({ name }) => name === TASK).length, 1);
    await pipeline.end();
  } finally {
    pipeline.stopWriting();
  }
});
