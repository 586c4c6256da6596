import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { systemClock } from '../../../src/base/clock.ts';
import { containerId } from '../../../src/base/ids.ts';
import { isAlive, type ProcessIdentity } from '../../../src/base/process-identity.ts';
import { systemFiles } from '../../../src/base/system-files.ts';
import { containerFolder } from '../../../src/scheduler/local/working-folder.ts';
import { readPidFile } from '../../../src/supervision/pid-file.ts';
import { eventually } from '../../support/eventually.ts';
import { packingPlanOf } from '../../support/packing-plans.ts';
import { startedIn } from '../executor/container.ts';
import { aSubmittedTopology, type Submitted } from './topology.ts';

/*
  What a scheduler owes its topology, whatever becomes of a container (O32): one that died, that
  hangs or that never gets to its work is replaced within a limit, container 0 like any other.
*/

const SILENCE = { 'heron.scheduler.executor.silence.ms': '1500' };
const CHILD_OF: Readonly<Record<number, string>> = { 0: 'heron-tmanager', 1: 'stmgr-1' };
const HUNG = /^hung: it had not beaten for \d+ ms, and its scheduler killed it$/;

async function aRunningTopology(t: TestContext): Promise<Submitted> {
  const topology = await aSubmittedTopology(t, packingPlanOf({ 1: ['words:1'] }), SILENCE);
  await topology.submit();
  await topology.scheduler.launch(topology.request);
  for (const container of [0, 1]) await livesOf(topology, container, 1);
  return topology;
}

/** Waits until the container's own child has been started so often; all its lives. */
function livesOf({ folder }: Submitted, container: number, times: number): Promise<number[]> {
  return eventually(
    () => {
      const started = startedIn(containerFolder(folder, containerId(container)));
      const lives = started.filter(({ name }) => name === CHILD_OF[container]);
      assert.equal(lives.length, times, `${CHILD_OF[container]} has been started`);
      return lives.map(({ pid }) => pid);
    },
    { timeoutMs: 20_000 },
  );
}

function executorOf({ folder }: Submitted, container: number): ProcessIdentity {
  const identity = readPidFile(systemFiles, folder.root, `executor-${container}`);
  assert.ok(identity !== undefined);
  return identity;
}

/** What is said of a container's executor, once another one is in its place. */
async function replaced(topology: Submitted, container: number, before: ProcessIdentity) {
  const { scheduler, request } = topology;
  return eventually(async () => {
    const { executors } = await scheduler.describe(request);
    const report = executors.find(({ name }) => name === `executor-${container}`);
    assert.equal(report?.state, 'running');
    assert.notEqual(report.pid, before.pid);
    return report;
  });
}

for (const container of [0, 1]) {
  test(`container ${container}: an executor that is killed is replaced (O32)`, async (t) => {
    const topology = await aRunningTopology(t);
    const before = executorOf(topology, container);
    const neighbour = executorOf(topology, 1 - container);
    process.kill(before.pid, 'SIGKILL');
    await livesOf(topology, container, 2);
    await livesOf(topology, 1 - container, 1);
    const { restarts, lastExit } = await replaced(topology, container, before);
    assert.equal(restarts, 1);
    assert.equal(lastExit?.signal, 'SIGKILL');
    assert.deepEqual(executorOf(topology, 1 - container), neighbour);
  });

  test(`container ${container}: one that hangs is replaced, with its children (O32)`, async (t) => {
    const topology = await aRunningTopology(t);
    const before = executorOf(topology, container);
    const [first] = await livesOf(topology, container, 1);
    const child = readPidFile(
      systemFiles,
      containerFolder(topology.folder, containerId(container)),
      CHILD_OF[container] ?? '',
    );
    assert.ok(child !== undefined);
    assert.equal(child.pid, first);
    process.kill(before.pid, 'SIGSTOP');
    await livesOf(topology, container, 2);
    assert.ok(!isAlive(before), 'it would go on where it stood if it were continued');
    assert.ok(!isAlive(child), 'its children have ended with it');
    const { lastExit } = await replaced(topology, container, before);
    assert.match(lastExit?.reason ?? '', HUNG);
  });

  test(`container ${container}: one that never gets to its work is replaced (O32)`, async (t) => {
    const topology = await aRunningTopology(t);
    const before = executorOf(topology, container);
    const folder = containerFolder(topology.folder, containerId(container));
    writeFileSync(join(folder, 'never-ready'), '');
    process.kill(before.pid, 'SIGKILL');
    const idle = await eventually(() => {
      const found = readPidFile(systemFiles, topology.folder.root, `executor-${container}`);
      return found !== undefined && found.pid !== before.pid && found;
    });
    await livesOf(topology, container, 2);
    assert.ok(!isAlive(idle));
    const { restarts, lastExit } = await replaced(topology, container, idle);
    assert.equal(restarts, 2);
    assert.match(lastExit?.reason ?? '', HUNG);
  });
}

test('an executor that another scheduler started is watched like any other', async (t) => {
  const topology = await aRunningTopology(t);
  const { scheduler, request, folder } = topology;
  const first = readPidFile(systemFiles, folder.root, 'scheduler');
  assert.ok(first !== undefined);
  process.kill(first.pid, 'SIGKILL');
  await eventually(() => !isAlive(first));
  assert.equal(await scheduler.repair(request), 'restarted');
  const before = executorOf(topology, 1);
  process.kill(before.pid, 'SIGSTOP');
  await livesOf(topology, 1, 2);
  const { lastExit } = await replaced(topology, 1, before);
  assert.match(lastExit?.reason ?? '', HUNG);
});

test('a scheduler that was stopped itself replaces nobody when it goes on (O21)', async (t) => {
  const topology = await aRunningTopology(t);
  const before = [executorOf(topology, 0), executorOf(topology, 1)];
  const scheduler = readPidFile(systemFiles, topology.folder.root, 'scheduler');
  assert.ok(scheduler !== undefined);
  process.kill(scheduler.pid, 'SIGSTOP');
  const stoppedAtMs = systemClock.now();
  await eventually(() => systemClock.now() - stoppedAtMs > 4_000, { timeoutMs: 20_000 });
  process.kill(scheduler.pid, 'SIGCONT');
  const continuedAtMs = systemClock.now();
  await eventually(() => systemClock.now() - continuedAtMs > 3_000, { timeoutMs: 20_000 });
  assert.deepEqual([executorOf(topology, 0), executorOf(topology, 1)], before);
});
