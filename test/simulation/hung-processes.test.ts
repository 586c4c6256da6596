import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import { SimulatedRun } from '../support/simulated-run.ts';
import { simulatedWordCount } from '../support/simulated-word-count.ts';

/* Processes that live and do nothing, by their default limits, and disks that take nothing. */

const CHILD_SILENCE_MS = 30_000;
const EXECUTOR_SILENCE_MS = 60_000;

/** Every executor has beaten; that takes longer than to count. */
const STARTED_MS = 15_000;

async function aRun(config: Readonly<Record<string, string>> = {}): Promise<SimulatedRun> {
  const run = new SimulatedRun(simulatedWordCount({ isEndless: true, config }));
  await run.untilCounted(50);
  await run.advance(STARTED_MS);
  return run;
}

suite('hung processes', () => {
  for (const name of ['stmgr-2', 'heron-tmanager', 'metricsmgr-1', 'container_1_count_3']) {
    test(`${name} stands still, and is replaced after its limit (O14)`, async () => {
      const run = await aRun();
      const { cluster } = run;
      const before = cluster.process(name);
      cluster.pause(name);
      await run.advance(CHILD_SILENCE_MS - 2_000);
      assert.equal(cluster.process(name), before);
      await run.advance(8_000);
      assert.equal(before?.state, 'ended');
      assert.notEqual(cluster.process(name)?.pid, before.pid);
      await run.untilCounted(50);
      const reports = cluster.containerReports().flatMap(({ processes }) => processes);
      const reason = reports.find((report) => report.name === name)?.lastExit?.reason;
      assert.match(reason ?? '', /^hung: nothing was heard/);
      assert.equal(cluster.exits().length, 1, 'and no other process has been touched');
    });
  }

  for (const container of [0, 1]) {
    test(`so is executor-${container}, with its children (O32)`, async () => {
      const run = await aRun();
      const { cluster } = run;
      const name = `executor-${container}`;
      const child = cluster.process(`metricsmgr-${container}`);
      const before = cluster.process(name);
      cluster.pause(name);
      await run.advance(EXECUTOR_SILENCE_MS + 15_000);
      assert.equal(before?.state, 'ended');
      assert.equal(child?.state, 'ended');
      await run.untilCounted(50);
      assert.match(run.kernel.log.text, /hung: it had not beaten/);
    });
  }

  test('a task that is busy for minutes is not hung: its gateway beats', async () => {
    const run = await aRun();
    const { cluster } = run;
    const [name] = ['container_2_count_4'];
    const before = cluster.process(name);
    before?.mainThread.spend(5 * CHILD_SILENCE_MS);
    await run.advance(5 * CHILD_SILENCE_MS);
    assert.equal(cluster.process(name), before);
    assert.deepEqual(cluster.exits(), []);
  });

  test('an executor that was away for minutes finds its children alive (O21)', async () => {
    const run = await aRun();
    const { cluster } = run;
    // Its scheduler would replace it; that one is away for as long.
    cluster.pause('scheduler');
    cluster.pause('executor-1');
    await run.advance(3 * EXECUTOR_SILENCE_MS);
    cluster.resume('executor-1');
    cluster.resume('scheduler');
    await run.advance(2 * EXECUTOR_SILENCE_MS);
    assert.deepEqual(cluster.exits(), []);
    await run.untilCounted(50);
  });

  test('a wall clock that steps is no beat, and no silence', async () => {
    const run = await aRun();
    const { cluster } = run;
    for (const stepMs of [-3_600_000, 7_200_000, -1]) {
      cluster.machine.wallClock.step(stepMs);
      await run.advance(EXECUTOR_SILENCE_MS + STARTED_MS);
    }
    assert.deepEqual(cluster.exits(), []);
  });
});

suite('disks that take nothing', () => {
  /** Far more deaths than that would be counted in the time that the disk is full. */
  const PATIENCE = { 'heron.executor.restart.attempts.max': '3' };
  const FULL_MS = 3 * 60_000;

  test('a full disk ends nobody; what died meanwhile comes back with the first room', async () => {
    const run = await aRun(PATIENCE);
    const { cluster } = run;
    const survivors = cluster.processes().filter(({ name }) => name !== 'container_1_count_3');
    const full = cluster.machine.disk.faults.full();
    cluster.kill('container_1_count_3');
    await run.advance(FULL_MS);
    assert.equal(
      cluster.process('container_1_count_3'),
      undefined,
      'it has no room for a pid file',
    );
    assert.ok(survivors.every(({ state }) => state === 'running'));
    full.heal();
    await run.until(() => cluster.process('container_1_count_3')?.object !== undefined);
    await run.untilCounted(50);
    assert.ok(survivors.every(({ state }) => state === 'running'));
    const reports = cluster.containerReports().flatMap(({ processes }) => processes);
    const found = reports.find(({ name }) => name === 'container_1_count_3');
    assert.match(found?.lastExit?.reason ?? '', /cannot be started: .*ENOSPC/);
  });

  test('so do an executor and its children', async () => {
    const run = await aRun(PATIENCE);
    const { cluster } = run;
    const full = cluster.machine.disk.faults.full();
    cluster.kill('executor-2');
    await run.advance(FULL_MS);
    full.heal();
    await run.until(() => cluster.process('stmgr-2')?.object !== undefined);
    await run.untilCounted(50);
  });

  test('a disk that fails in every way is no reason to replace an executor (E1)', async () => {
    const run = await aRun();
    const { cluster } = run;
    const before = [0, 1, 2].map((id) => cluster.process(`executor-${id}`));
    for (const kind of ['failing', 'hanging'] as const) {
      const outage = cluster.machine.disk.faults.outage({ kind, below: '/' });
      await run.advance(EXECUTOR_SILENCE_MS + STARTED_MS);
      outage.heal();
      await run.advance(EXECUTOR_SILENCE_MS + STARTED_MS);
    }
    assert.ok(before.every((process) => process?.state === 'running'));
    await run.untilCounted(50);
  });
});
