import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { systemClock } from '../../../src/base/clock.ts';
import { epoch } from '../../../src/base/ids.ts';
import { identityOf, isAlive } from '../../../src/base/process-identity.ts';
import type { PackingPlan } from '../../../src/model/packing-plan.ts';
import { eventually } from '../../support/eventually.ts';
import { packingPlanOf } from '../../support/packing-plans.ts';
import { aContainer, type Container } from './container.ts';

/* What an executor does with children that hang, that keep dying, or that an update takes away. */

const plan = packingPlanOf({ 1: ['split:1', 'count:2'] });
const NAMES = ['metricsmgr-1', 'stmgr-1', 'container_1_split_1', 'container_1_count_2'];
const [, , SPLIT = '', COUNT = ''] = NAMES;
const FAST = {
  'heron.shutdown.grace.ms': '100',
  'heron.executor.child.silence.ms': '2000',
  'heron.executor.restart.backoff.min.ms': '20',
  'heron.executor.restart.backoff.max.ms': '50',
};

interface Running {
  readonly container: Container;
  readonly executor: number;
  /** The process at hand of a name, once it is up and reported. */
  readonly pidOf: (name: string) => Promise<number>;
  readonly pids: () => Promise<readonly number[]>;
  readonly logged: (text: string) => boolean;
}

/** A container whose processes are all up. */
async function aRunningContainer(
  t: TestContext,
  settings: Readonly<Record<string, string>> = FAST,
): Promise<Running> {
  const container = await aContainer(t);
  const { pid } = container.startExecutor(settings);
  assert.ok(pid !== undefined);
  await container.writePlan(plan);
  const pidOf = (name: string): Promise<number> =>
    eventually(async () => {
      const reported = await container.reported(name);
      const life = container.lives(name).at(-1);
      assert.equal(reported.state, 'running');
      assert.equal(life?.pid, reported.pid);
      return life.pid;
    });
  const log = join(container.arguments.logDirectory, 'executor.log');
  const running = {
    container,
    executor: pid,
    pidOf,
    pids: () => Promise.all(NAMES.map(pidOf)),
    logged: (text: string) => readFileSync(log, 'utf8').includes(text),
  };
  await running.pids();
  return running;
}

test('a child that is stopped is killed after its limit and started again (O14)', async (t) => {
  const { container, pidOf, pids } = await aRunningContainer(t);
  const before = await pids();
  const stopped = identityOf(await pidOf(SPLIT));
  assert.ok(stopped !== undefined);
  process.kill(stopped.pid, 'SIGSTOP');
  await eventually(() => container.lives(SPLIT).length === 2);
  assert.ok(!isAlive(stopped), 'it would go on where it stood if it were continued');
  const after = await pids();
  assert.deepEqual(
    after.filter((pid) => !before.includes(pid)),
    [await pidOf(SPLIT)],
    'the others have not been touched',
  );
  const { lastExit, restarts } = await container.reported(SPLIT);
  assert.equal(restarts, 1);
  assert.equal(lastExit?.signal, 'SIGKILL');
  assert.match(
    lastExit?.reason ?? '',
    /^hung: nothing was heard of it for \d+ ms, and its executor killed it$/,
  );
});

test('so is one whose only thread waits for ever', async (t) => {
  const container = await aContainer(t);
  container.behave('stmgr-1', 'hang once');
  container.startExecutor({ ...FAST, 'heron.executor.child.silence.ms': '1000' });
  await container.writePlan(plan);
  await eventually(() => container.lives('stmgr-1').length === 2);
  const { lastExit } = await container.reported('stmgr-1');
  assert.match(lastExit?.reason ?? '', /^hung: /);
});

test('an executor that was stopped itself kills nobody when it goes on (O21)', async (t) => {
  const { container, executor, pids, logged } = await aRunningContainer(t);
  const before = await pids();
  const frozen = await eventually(() => identityOf(executor) ?? false);
  process.kill(executor, 'SIGSTOP');
  // Another one is stopped for good: its limit begins anew with the executor.
  const [, , split] = before;
  assert.ok(split !== undefined);
  process.kill(split, 'SIGSTOP');
  const stoppedAtMs = systemClock.now();
  await eventually(() => systemClock.now() - stoppedAtMs > 4_500, { timeoutMs: 20_000 });
  process.kill(executor, 'SIGCONT');
  const continuedAtMs = systemClock.now();
  await eventually(() => container.lives(SPLIT).length === 2);
  assert.ok(systemClock.now() - continuedAtMs > 1_500, 'its silence was not held against it');
  assert.ok(isAlive(frozen));
  const after = await pids();
  assert.deepEqual(
    after.map((pid, index) => pid === before[index]),
    [true, true, false, true],
  );
  assert.ok(logged('process hangs and is killed'));
});

test('all children that are stopped are replaced, after twice the limit', async (t) => {
  const { pids } = await aRunningContainer(t, {
    ...FAST,
    'heron.executor.child.silence.ms': '1000',
  });
  const before = await pids();
  for (const pid of before) process.kill(pid, 'SIGSTOP');
  await eventually(async () => (await pids()).every((pid) => !before.includes(pid)));
});

test('a child that keeps dying disturbs no neighbour, and the report says why', async (t) => {
  const { container, pids } = await aRunningContainer(t);
  const before = await pids();
  container.behave(COUNT, 'throw storms');
  process.kill(before[3] ?? 0, 'SIGKILL');
  const reported = await eventually(async () => {
    const found = await container.reported(COUNT);
    return found.restarts >= 8 && found;
  });
  assert.match(reported.lastExit?.reason ?? '', /code 1.*: RangeError: storms$/);
  assert.equal((await container.reported('stmgr-1')).restarts, 0);
  const names = NAMES.slice(0, 3);
  const neighbours = await Promise.all(names.map((name) => container.reported(name)));
  assert.deepEqual(
    neighbours.map(({ pid }) => pid),
    before.slice(0, 3),
  );
  container.behave(COUNT, '');
  await eventually(async () => (await container.reported(COUNT)).state === 'running');
});

test('what dies while an update stops it counts as stopped (O26)', async (t) => {
  const { container, pidOf } = await aRunningContainer(t, {
    ...FAST,
    'heron.shutdown.grace.ms': '60000',
  });
  container.behave(COUNT, 'ignore-sigterm once');
  const gentle = await pidOf(COUNT);
  process.kill(gentle, 'SIGKILL');
  await eventually(() => container.lives(COUNT).length === 2);
  const stubborn = await pidOf(COUNT);
  const split = await pidOf(SPLIT);
  const written = container.writePlan(packingPlanOf({ 1: ['join:3'] }));
  process.kill(split, 'SIGKILL'); // Just before it would be told to end.
  await written;
  await eventually(() => container.lives('container_1_join_3').length === 1);
  await eventually(async () => (await container.report())?.processes.length === 3);
  assert.equal(container.lives(SPLIT).length, 1);
  // Nothing but its death ends the wait for this one; then its place is free again.
  process.kill(stubborn, 'SIGKILL');
  await container.writePlan(plan);
  await eventually(() => container.lives(COUNT).length === 3);
  assert.equal((await container.reported(COUNT)).lastExit, undefined);
});

test('a container that has left the plan ends its processes and waits', async (t) => {
  const { container, executor, pids } = await aRunningContainer(t);
  const before = (await pids()).map((pid) => identityOf(pid));
  await container.writePlan(packingPlanOf({ 2: ['join:3'] }));
  await eventually(async () => (await container.report())?.processes.length === 0);
  await eventually(() => before.every((identity) => identity && !isAlive(identity)));
  assert.equal((await container.report())?.pid, executor);
  await container.writePlan(plan);
  await pids();
  assert.equal((await container.report())?.pid, executor);
});

test('a plan that is older than the one at hand changes nothing', async (t) => {
  const { container, pids, logged } = await aRunningContainer(t);
  const write = (number: number, instances: readonly string[]): Promise<void> => {
    const numbered: PackingPlan = { ...packingPlanOf({ 1: instances }), epoch: epoch(number) };
    return container.writePlan(numbered);
  };
  await write(5, ['split:1', 'count:2', 'join:3']);
  await eventually(() => container.lives('container_1_join_3').length === 1);
  const before = await pids();
  await write(4, ['split:1']);
  await eventually(() => logged('an old packing plan is passed over'));
  assert.deepEqual(await pids(), before);
  assert.equal((await container.report())?.processes.length, NAMES.length + 1);
  await write(6, ['split:1', 'count:2']);
  await eventually(async () => (await container.report())?.processes.length === NAMES.length);
  assert.deepEqual(await pids(), before);
});
