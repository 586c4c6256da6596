import assert from 'node:assert/strict';
import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { join } from 'node:path';
import { test } from 'node:test';
import { containerId } from '../../../src/base/ids.ts';
import { systemFiles } from '../../../src/base/system-files.ts';
import { encodeRestartRequest, restartRequestOf } from '../../../src/model/restart-request.ts';
import { paths } from '../../../src/state-manager/paths.ts';
import { listPidFiles } from '../../../src/supervision/pid-file.ts';
import { systemProcessTable } from '../../../src/supervision/system-process-table.ts';
import { findTopologyProcesses } from '../../../src/supervision/topology-processes.ts';
import { eventually } from '../../support/eventually.ts';
import { packingPlanOf } from '../../support/packing-plans.ts';
import { aContainer, type Container } from './container.ts';

/* One real executor process with real children, which are stubs. */

const plan = packingPlanOf({ 1: ['split:1', 'count:2'] });
const NAMES = ['metricsmgr-1', 'stmgr-1', 'container_1_split_1', 'container_1_count_2'];
const FAST = {
  'heron.shutdown.grace.ms': '100',
  'heron.executor.restart.backoff.min.ms': '20',
  'heron.executor.restart.backoff.max.ms': '50',
};

/** The pids of all wanted processes, once each of them is up and reported. */
async function allUp(container: Container, names: readonly string[] = NAMES) {
  return eventually(async () => {
    const report = await container.report();
    return names.map((name) => {
      const reported = report?.processes.find((process) => process.name === name);
      const life = container.lives(name).at(-1);
      assert.equal(reported?.state, 'running', `${name} is ${reported?.state}`);
      assert.equal(life?.pid, reported.pid, `${name} is up`);
      return life.pid;
    });
  });
}

test('the processes of the plan run once it is there, and are reported', async (t) => {
  const container = await aContainer(t);
  const executor = container.startExecutor();
  await eventually(async () => (await container.report())?.pid === executor.pid);
  assert.deepEqual(
    (await container.report())?.processes,
    [],
    'nothing runs before there is a plan',
  );
  await container.writePlan(plan);
  const pids = await allUp(container);
  assert.equal(new Set(pids).size, 4);
  const report = await container.report();
  assert.equal(report?.containerId, 1);
  assert.equal(report.host, '127.0.0.2');
  assert.deepEqual(
    report.processes.map(({ name, restarts }) => [name, restarts]),
    NAMES.map((name) => [name, 0]),
  );
  const records = listPidFiles(systemFiles, container.arguments.workingDirectory);
  assert.deepEqual(records.map(({ name }) => name).toSorted(), NAMES.toSorted());
  const output = join(container.arguments.logDirectory, 'stmgr-1.out');
  await eventually(() => readFileSync(output, 'utf8') === 'stmgr-1 is up\n');
});

test('a changed plan stops, keeps and starts by difference', async (t) => {
  const container = await aContainer(t);
  container.startExecutor(FAST);
  await container.writePlan(plan);
  await allUp(container);
  const kept = container.lives('container_1_split_1');
  await container.writePlan(packingPlanOf({ 1: ['split:1', 'join:3'] }));
  await eventually(() => container.lives('container_1_join_3').length === 1);
  await eventually(async () => {
    const report = await container.report();
    return report?.processes.every(({ name }) => name !== 'container_1_count_2') ?? false;
  });
  assert.deepEqual(container.lives('container_1_split_1'), kept);
  assert.equal(container.lives('stmgr-1').length, 1, 'it follows the plan by itself');
});

test('a plan that is gone or damaged takes nothing down', async (t) => {
  const container = await aContainer(t);
  const executor = container.startExecutor(FAST);
  const path = paths.packingPlan(container.arguments.topologyName);
  await container.writePlan(plan);
  const pids = await allUp(container);
  await container.stateManager.write(path, Buffer.from('not a plan'));
  const log = join(container.arguments.logDirectory, 'executor.log');
  await eventually(() => readFileSync(log, 'utf8').includes('the packing plan cannot be read'));
  const before = readFileSync(log, 'utf8').length;
  await container.stateManager.delete(path);
  await eventually(() => readFileSync(log, 'utf8').slice(before).includes('no packing plan'));
  assert.deepEqual(await allUp(container), pids);
  assert.equal((await container.report())?.pid, executor.pid);
});

test('a plan that is damaged from the start is reported, and another one waited for', async (t) => {
  const container = await aContainer(t);
  const path = paths.packingPlan(container.arguments.topologyName);
  await container.stateManager.write(path, Buffer.from('not a plan'));
  const executor = container.startExecutor(FAST);
  const report = await eventually(async () => {
    const found = await container.report();
    assert.match(found?.problem ?? '', /^the packing plan cannot be read: /);
    return found;
  });
  assert.deepEqual(report?.processes, []);
  await container.writePlan(plan);
  await allUp(container);
  assert.equal((await container.report())?.problem, undefined);
  assert.equal((await container.report())?.pid, executor.pid);
});

const deaths: readonly [behaviour: string, code: number | null, reason: RegExp, line: RegExp][] = [
  ['throw words', 1, /after an unexpected failure \(code 1\): RangeError: words/, /RangeError/],
  ['exit 7', 7, /^ended with code 7$/, /^$/],
  ['exit 137', 137, /want of memory/, /^$/],
];

for (const [behaviour, code, reason, line] of deaths) {
  test(`a child that does '${behaviour}' is started again, and the report says why`, async (t) => {
    const container = await aContainer(t);
    container.behave('container_1_count_2', `${behaviour} once`);
    container.startExecutor(FAST);
    await container.writePlan(plan);
    await allUp(container);
    const { restarts, lastExit } = await container.reported('container_1_count_2');
    assert.equal(restarts, 1);
    assert.equal(lastExit?.code, code);
    assert.match(lastExit?.reason ?? '', reason);
    assert.match(lastExit?.lastLines.find((text) => line.test(text)) ?? '', line);
    assert.equal((await container.reported('stmgr-1')).restarts, 0);
  });
}

test('a child that is killed is started again on the same ports', async (t) => {
  const container = await aContainer(t);
  container.startExecutor(FAST);
  await container.writePlan(plan);
  const [, streamManager] = await allUp(container);
  assert.ok(streamManager !== undefined);
  process.kill(streamManager, 'SIGKILL');
  const [first, second] = await eventually(() => {
    const lives = container.lives('stmgr-1');
    return lives.length === 2 && lives;
  });
  assert.deepEqual(second?.ports, first?.ports);
  const { lastExit } = await container.reported('stmgr-1');
  assert.equal(lastExit?.signal, 'SIGKILL');
  assert.match(lastExit?.reason ?? '', /killed by SIGKILL/);
});

test('a child is restarted once on request, the others live on', async (t) => {
  const container = await aContainer(t);
  const { topologyName, containerId: id } = container.arguments;
  const executor = container.startExecutor(FAST);
  await container.writePlan(plan);
  await allUp(container);
  const kept = container.lives('stmgr-1');
  const request = restartRequestOf(await container.reported('container_1_split_1'));
  const path = paths.restart(topologyName, id);
  await container.stateManager.write(path, encodeRestartRequest(request));
  await eventually(() => container.lives('container_1_split_1').length === 2);
  await allUp(container);
  const { lastExit, restarts } = await container.reported('container_1_split_1');
  assert.equal(restarts, 1);
  assert.match(lastExit?.reason ?? '', /restart asked for/);

  // Neither the same request, read again, nor one that is damaged does anything.
  const log = join(container.arguments.logDirectory, 'executor.log');
  const logged = (text: string): boolean => readFileSync(log, 'utf8').includes(text);
  const sameAgain = Buffer.from(` ${Buffer.from(encodeRestartRequest(request)).toString()}`);
  await container.stateManager.write(path, sameAgain);
  await eventually(() => logged('a restart request is done already'));
  await container.stateManager.write(path, Buffer.from('?'));
  await eventually(() => logged('the restart request is passed over'));
  assert.equal(readFileSync(log, 'utf8').match(/is restarted on request/g)?.length, 1);
  assert.equal(container.lives('container_1_split_1').length, 2);
  assert.deepEqual(container.lives('stmgr-1'), kept);
  assert.equal((await container.report())?.pid, executor.pid);
});

test('a child that keeps dying is given up; the others live on', async (t) => {
  const container = await aContainer(t);
  container.behave('container_1_count_2', 'exit 70');
  container.startExecutor({ ...FAST, 'heron.executor.restart.attempts.max': '3' });
  await container.writePlan(plan);
  await eventually(async () => {
    const { state, pid, restarts } = await container.reported('container_1_count_2');
    return state === 'failed' && pid === null && restarts === 3;
  });
  await allUp(container, NAMES.slice(0, 3));
});

test('a port in use moves the whole container to other ports', async (t) => {
  const container = await aContainer(t);
  container.startExecutor(FAST);
  await container.writePlan(plan);
  const [, streamManager] = await allUp(container);
  assert.ok(streamManager !== undefined);
  container.behave('stmgr-1', 'take-port once');
  process.kill(streamManager, 'SIGKILL');
  const lives = await eventually(() => {
    const found = NAMES.map((name) => container.lives(name));
    return found.every(({ length }) => length === 2) && found;
  });
  await allUp(container);
  const { lastExit, restarts } = await container.reported('stmgr-1');
  assert.equal(lastExit?.code, 73);
  assert.equal(restarts, 2);
  for (const [first, second] of lives.slice(0, 2)) {
    assert.ok(second?.ports.every((port) => !first?.ports.includes(port)));
  }
});

test('SIGTERM ends everything: children, ports, pid files and the report', async (t) => {
  const container = await aContainer(t);
  const executor = container.startExecutor(FAST);
  await container.writePlan(plan);
  await allUp(container);
  const ports = NAMES.flatMap((name) => container.lives(name).at(-1)?.ports ?? []);
  assert.equal(ports.length, 3);
  executor.signal('SIGTERM');
  assert.deepEqual(await executor.ended, { code: 0, signal: null, lastLines: [] });
  assert.deepEqual(findTopologyProcesses(systemProcessTable, container.arguments.topologyId), []);
  assert.deepEqual(listPidFiles(systemFiles, container.arguments.workingDirectory), []);
  assert.equal(await container.report(), undefined);
  for (const port of ports) assert.equal(await isOpen(port), false, `port ${port} is closed`);
});

test('a child that ignores SIGTERM is killed after the grace time', async (t) => {
  const container = await aContainer(t);
  container.behave('container_1_count_2', 'ignore-sigterm');
  const executor = container.startExecutor(FAST);
  await container.writePlan(plan);
  const pids = await allUp(container);
  executor.signal('SIGTERM');
  assert.equal((await executor.ended).code, 0);
  const left = findTopologyProcesses(systemProcessTable, container.arguments.topologyId).map(
    ({ pid }) => pid,
  );
  assert.ok(pids.every((pid) => !left.includes(pid)));
});

test('children end with a killed executor; the next one says so and goes on', async (t) => {
  const container = await aContainer(t);
  // This one would stay: it has to be ended by the next executor, by its pid file.
  container.behave('container_1_count_2', 'ignore-sigterm once');
  const first = container.startExecutor(FAST);
  await container.writePlan(plan);
  const pids = await allUp(container);
  first.signal('SIGKILL');
  await first.ended;
  const foreign = join(container.arguments.workingDirectory, 'foreign.pid');
  const mine = JSON.stringify({ bootId: 'another boot', pid: process.pid, startTicks: 1 });
  writeFileSync(foreign, mine);
  container.startExecutor(FAST);
  const next = await eventually(async () => {
    const current = await allUp(container);
    return current.every((pid) => !pids.includes(pid)) && current;
  });
  const alive = findTopologyProcesses(systemProcessTable, container.arguments.topologyId).map(
    ({ pid }) => pid,
  );
  assert.ok(pids.every((pid) => !alive.includes(pid)));
  assert.ok(next.every((pid) => alive.includes(pid)));
  assert.ok(!existsSync(foreign), 'a record of another boot is cleared away');
  const { restarts, lastExit } = await container.reported('container_1_split_1');
  assert.equal(restarts, 1);
  assert.equal(lastExit?.reason, `ended with its executor (pid ${first.pid}), which died`);
});

test('container 0 runs the topology master and the metrics cache', async (t) => {
  const container = await aContainer(t, { containerId: containerId(0), host: '127.0.0.1' });
  container.startExecutor(FAST);
  await container.writePlan(plan);
  await allUp(container, ['metricsmgr-0', 'heron-tmanager', 'heron-metricscache']);
});

test('a state manager that is away is waited for, but not for ever', async (t) => {
  const container = await aContainer(t);
  const { state } = container.arguments;
  assert.ok(state.kind === 'file');
  writeFileSync(state.folder, 'a file where the folder should be');
  const limit = { 'heron.check.tmanager.location.interval.ms': '300' };
  const { code, lastLines } = await container.startExecutor({ ...FAST, ...limit }).ended;
  assert.equal(code, 69);
  assert.match(lastLines.join('\n'), /stub-executor cannot go on: /);

  container.startExecutor(FAST);
  const log = join(container.arguments.logDirectory, 'executor.log');
  const before = readFileSync(log, 'utf8').length;
  await eventually(() => readFileSync(log, 'utf8').slice(before).includes('trying again'));
  rmSync(state.folder);
  await container.writePlan(plan);
  await allUp(container);
});

function isOpen(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect({ host: '127.0.0.2', port });
    socket.once('connect', () => resolve(true)).once('error', () => resolve(false));
    socket.once('connect', () => socket.destroy());
  });
}
