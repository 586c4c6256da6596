import assert from 'node:assert/strict';
import { rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import { aCluster, PATIENTLY } from '../../support/cluster.ts';
import { eventually } from '../../support/eventually.ts';

/*
  A process that dies as soon as it lives is started again with growing pauses, until a limit; then
  it is left alone, with the reason, and nobody else is harmed.
*/

const STORM = join(import.meta.dirname, '../fixtures/topologies/storm.ts');
const VICTIM = 'container_1_frail_2';
const ATTEMPTS_MAX = 5;
const BACKOFF_MIN_MS = 100;
const USER_CODE = 70;

test('a restart storm ends at its limit, and what is mended starts by command', async (t) => {
  const cluster = await aCluster(t);
  const [broken, seen] = [join(cluster.folder, 'broken'), join(cluster.folder, 'seen')];
  await cluster.submit(STORM, 'storm', {
    args: [broken, seen],
    config: {
      'heron.executor.restart.attempts.max': ATTEMPTS_MAX,
      'heron.executor.restart.backoff.min.ms': BACKOFF_MIN_MS,
    },
  });
  await writeFile(broken, '');
  const others = (): readonly string[] =>
    cluster
      .processes()
      .filter(({ name }) => name !== VICTIM && !name.includes(' '))
      .map(({ name, pid }) => `${name} ${pid}`)
      .toSorted();
  const before = others();
  await cluster.killProcess(VICTIM);

  await t.test('it is given up, with the reason that user code gave', async () => {
    const { restarts, lastExit } = await eventually(async () => {
      const found = await cluster.statusOf('storm', VICTIM);
      assert.equal(found.state, 'failed');
      return found;
    }, PATIENTLY);
    // The kill was the first death; each start that followed was another one.
    assert.equal(restarts, ATTEMPTS_MAX);
    assert.equal(lastExit?.code, USER_CODE);
    assert.match(lastExit.reason, /prepare of 'frail' \(task 2\) failed: it is broken/);
    assert.equal((await cluster.status('storm')).state, 'DEGRADED');
  });

  await t.test('the pauses between its starts have grown', async () => {
    const log = await cluster.log('storm', 1, 'heron-executor-1.log');
    const pauses = [...log.matchAll(/"restartInMs":(\d+)/g)].map(([, ms]) => Number(ms));
    assert.equal(pauses.length, ATTEMPTS_MAX, log);
    for (const [at, ms] of pauses.entries()) {
      const fullMs = BACKOFF_MIN_MS * 2 ** at;
      assert.ok(ms <= fullMs && ms >= (fullMs * 4) / 5, `pause ${at + 1}: ${ms} ms`);
    }
  });

  await t.test('its sibling goes on, and everybody else is who they were', async () => {
    assert.deepEqual(others(), before);
    await writeFile(seen, '');
    await eventually(async () => {
      const { errors } = await cluster.status('storm');
      assert.deepEqual(errors.blocked, []);
    }, PATIENTLY);
  });

  await t.test('mended, it runs again by heron restart', async () => {
    await rm(broken);
    const { code, stderr } = await cluster.heron('restart', cluster.place, 'storm', VICTIM);
    assert.equal(code, 0, stderr);
    const { state } = await cluster.statusOf('storm', VICTIM);
    assert.equal(state, 'running');
    assert.equal((await cluster.status('storm')).state, 'RUNNING');
  });
  await cluster.kill('storm');
});
