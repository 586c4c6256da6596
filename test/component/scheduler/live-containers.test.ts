import assert from 'node:assert/strict';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { containerId, epoch } from '../../../src/base/ids.ts';
import { isAlive, type ProcessIdentity } from '../../../src/base/process-identity.ts';
import { systemFiles } from '../../../src/base/system-files.ts';
import { parseContainerReport } from '../../../src/model/container-report.ts';
import { runningDeadLetterFolders } from '../../../src/scheduler/local/dead-letter-folders.ts';
import { runningLogFolders } from '../../../src/scheduler/local/log-folders.ts';
import { containerFolder, keptLogsOf } from '../../../src/scheduler/local/working-folder.ts';
import { paths } from '../../../src/state-manager/paths.ts';
import { readPidFile } from '../../../src/supervision/pid-file.ts';
import { systemProcessTable } from '../../../src/supervision/system-process-table.ts';
import { findTopologyProcesses } from '../../../src/supervision/topology-processes.ts';
import { encodePackingPlan } from '../../../src/wire/packing-plan.ts';
import { eventually } from '../../support/eventually.ts';
import { packingPlanOf } from '../../support/packing-plans.ts';
import { startedIn } from '../executor/container.ts';
import { aSubmittedTopology, type Submitted } from './topology.ts';

/* A real scheduler process whose topology gains and loses containers while it runs. */

type Instances = Readonly<Record<number, readonly string[]>>;

interface Live extends Submitted {
  readonly writePlan: (instances: Instances, number?: number) => Promise<void>;
  /** Waits until this child has been started so often; its pid. */
  readonly started: (container: number, name: string, times?: number) => Promise<number>;
  readonly executorOf: (container: number) => ProcessIdentity | undefined;
  readonly path: (container: number, ...names: readonly string[]) => string;
  /** Waits until nothing is left of the container but what is kept. */
  readonly gone: (container: number) => Promise<void>;
  readonly schedulerLog: () => string;
}

async function aLiveTopology(t: TestContext, instances: Instances): Promise<Live> {
  const topology = await aSubmittedTopology(t, packingPlanOf(instances));
  const { folder, request, stateManager, scheduler } = topology;
  const path = (container: number, ...names: readonly string[]): string =>
    join(containerFolder(folder, containerId(container)), ...names);
  const executorOf = (container: number): ProcessIdentity | undefined =>
    readPidFile(systemFiles, folder.root, `executor-${container}`);
  const live: Live = {
    ...topology,
    path,
    executorOf,
    writePlan: async (changed, number) => {
      const plan = packingPlanOf(changed);
      const numbered = number === undefined ? plan : { ...plan, epoch: epoch(number) };
      await stateManager.write(
        paths.packingPlan(request.topologyName),
        encodePackingPlan(numbered),
      );
    },
    started: (container, name, times = 1) =>
      eventually(() => {
        const lives = startedIn(path(container)).filter((life) => life.name === name);
        assert.equal(lives.length, times, `${name} has been started`);
        return lives.at(-1)?.pid ?? 0;
      }),
    gone: async (container) => {
      const node = paths.container(request.topologyName, containerId(container));
      await eventually(async () => {
        assert.ok(!existsSync(path(container)), 'its folder is gone');
        assert.equal(await stateManager.read(node), undefined, 'its report is gone');
        assert.equal(executorOf(container), undefined, 'its pid file is gone');
        const { executors } = await scheduler.describe(request);
        assert.ok(executors.every(({ name }) => name !== `executor-${container}`));
      });
    },
    schedulerLog: () => readFileSync(folder.schedulerLog, 'utf8'),
  };
  await topology.submit();
  await scheduler.launch(request);
  for (const [container, names] of Object.entries(instances)) {
    for (const name of names) {
      await live.started(Number(container), `container_${container}_${name.replace(':', '_')}`);
    }
  }
  return live;
}

async function killScheduler(live: Live): Promise<void> {
  const identity = readPidFile(systemFiles, live.folder.root, 'scheduler');
  assert.ok(identity !== undefined);
  process.kill(identity.pid, 'SIGKILL');
  await eventually(() => !isAlive(identity));
}

test('containers come and go with the plan; what stays is not touched', async (t) => {
  const live = await aLiveTopology(t, { 1: ['words:1'] });
  const { request, stateManager, scheduler } = live;
  const stays = [live.executorOf(0), live.executorOf(1)];
  const words = await live.started(1, 'container_1_words_1');

  await live.writePlan({ 1: ['words:1'], 2: ['words:2'], 3: ['words:3'] });
  const second = await live.started(2, 'container_2_words_2');
  await live.started(3, 'container_3_words_3');
  const report = await eventually(async () => {
    const node = paths.container(request.topologyName, containerId(2));
    const bytes = await stateManager.read(node);
    return bytes !== undefined && parseContainerReport(bytes);
  });
  assert.equal(report.host, '127.0.0.1', 'hosts are given in turn');
  await eventually(async () => (await scheduler.describe(request)).executors.length === 4);

  writeFileSync(live.path(2, 'log-files', 'words.log'), 'what it said');
  mkdirSync(live.path(2, 'dead-letters'));
  writeFileSync(live.path(2, 'dead-letters', 'words-2.jsonl'), 'a letter');
  const processes = findTopologyProcesses(systemProcessTable, request.topologyId);
  await live.writePlan({ 1: ['words:1'], 3: ['words:3'] });
  await live.gone(2);
  assert.ok(!processes.some((identity) => identity.pid === second && isAlive(identity)));
  const kept = keptLogsOf(live.dataRoot, request.topologyId, containerId(2));
  assert.equal(readFileSync(join(kept, 'words.log'), 'utf8'), 'what it said');
  assert.equal(readFileSync(join(kept, 'dead-letters', 'words-2.jsonl'), 'utf8'), 'a letter');
  assert.deepEqual([live.executorOf(0), live.executorOf(1)], stays);
  assert.equal(await live.started(1, 'container_1_words_1'), words);

  const logs = await runningLogFolders(systemFiles, live.dataRoot, request);
  assert.deepEqual(
    logs.map(({ container, path }) => [container, path]),
    [0, 1, 2, 3].map((id) => [id, id === 2 ? kept : live.path(id, 'log-files')]),
    'tools find the logs of a container that has left',
  );
  const letters = await runningDeadLetterFolders(systemFiles, live.dataRoot, request);
  assert.equal(letters[2]?.path, join(kept, 'dead-letters'));

  await scheduler.kill(request);
  assert.deepEqual(live.files(), []);
  assert.deepEqual(findTopologyProcesses(systemProcessTable, request.topologyId), []);
});

test('a container that comes back finds its logs and dead letters', async (t) => {
  const live = await aLiveTopology(t, { 1: ['words:1'], 2: ['words:2'] });
  writeFileSync(live.path(2, 'log-files', 'words.log'), 'first life');
  mkdirSync(live.path(2, 'dead-letters'));
  writeFileSync(live.path(2, 'dead-letters', 'words-2.jsonl'), 'a letter');
  await live.writePlan({ 1: ['words:1'] });
  await live.gone(2);
  await live.writePlan({ 1: ['words:1'], 2: ['words:4'] });
  await live.started(2, 'container_2_words_4');
  assert.equal(readFileSync(live.path(2, 'log-files', 'words.log'), 'utf8'), 'first life');
  assert.ok(existsSync(live.path(2, 'dead-letters', 'words-2.jsonl')));
  const kept = keptLogsOf(live.dataRoot, live.request.topologyId, containerId(2));
  assert.ok(!existsSync(kept), 'nothing is kept twice');
  await live.writePlan({ 1: ['words:1'] });
  await live.gone(2);
  assert.equal(readFileSync(join(kept, 'words.log'), 'utf8'), 'first life');
});

test('a container that is wanted again while it is cleared away is set up anew', async (t) => {
  const live = await aLiveTopology(t, { 1: ['words:1'], 2: ['words:2'] });
  const name = 'container_2_words_2';
  // Its executor waits for this one, so that the change of mind comes in the middle.
  writeFileSync(live.path(2, `${name}.behaviour`), 'ignore-sigterm');
  process.kill(await live.started(2, name), 'SIGKILL');
  await live.started(2, name, 2);
  const before = live.executorOf(2);
  await live.writePlan({ 1: ['words:1'] });
  const log = live.path(2, 'log-files', 'executor.log');
  await eventually(() => readFileSync(log, 'utf8').includes('the process stops'));
  await live.writePlan({ 1: ['words:1'], 2: ['words:4'] });
  await live.started(2, 'container_2_words_4');
  assert.notDeepEqual(live.executorOf(2), before);
  assert.ok(before !== undefined && !isAlive(before));
});

test('plans that follow each other closely come to what the last one says', async (t) => {
  const live = await aLiveTopology(t, { 1: ['words:1'], 2: ['words:2'] });
  for (let round = 0; round < 5; round += 1) {
    await live.writePlan({ 1: ['words:1'] });
    await live.writePlan({ 1: ['words:1'], 3: ['words:3'] });
    await live.writePlan({ 1: ['words:1'], 2: ['words:2'], 3: ['words:3'] });
  }
  await live.writePlan({ 1: ['words:1'], 3: ['words:3'] });
  await live.gone(2);
  await live.started(3, 'container_3_words_3');
  assert.equal(startedIn(live.path(1)).filter(({ name }) => name === 'stmgr-1').length, 1);
});

test('a scheduler that takes over in the middle of a change completes it', async (t) => {
  const live = await aLiveTopology(t, { 1: ['words:1'], 2: ['words:2'] });
  const { scheduler, request, stateManager } = live;
  const words = await live.started(1, 'container_1_words_1');
  await killScheduler(live);
  // As a removal leaves them that was cut off: a node without a folder, a folder without a node.
  const node = paths.container(request.topologyName, containerId(7));
  await stateManager.write(node, Buffer.from('{}'));
  mkdirSync(live.path(8));
  await live.writePlan({ 1: ['words:1'], 3: ['words:3'] });
  assert.equal(await scheduler.repair(request), 'restarted');
  for (const container of [2, 7, 8]) await live.gone(container);
  await live.started(3, 'container_3_words_3');
  assert.equal(await live.started(1, 'container_1_words_1'), words);
});

test('plans that are gone, damaged or old take nothing down, also at a restart', async (t) => {
  const live = await aLiveTopology(t, { 1: ['words:1'], 2: ['words:2'] });
  const { scheduler, request, stateManager } = live;
  const node = paths.packingPlan(request.topologyName);
  await live.writePlan({ 1: ['words:1'], 2: ['words:2'] }, 5);
  await live.writePlan({ 1: ['words:1'] }, 4);
  await eventually(() => live.schedulerLog().includes('an old packing plan is passed over'));
  await stateManager.delete(node);
  await stateManager.write(node, Buffer.from('not a plan'));
  await eventually(() => live.schedulerLog().includes('the packing plan cannot be read'));
  const before = [0, 1, 2].map(live.executorOf);
  await killScheduler(live);
  assert.equal(await scheduler.repair(request), 'restarted');
  await eventually(async () => (await scheduler.describe(request)).executors.length === 3);
  assert.deepEqual([0, 1, 2].map(live.executorOf), before);
  await live.writePlan({ 1: ['words:1'] }, 6);
  await live.gone(2);
});

test('a new container that cannot be set up is tried again; the others go on', async (t) => {
  const live = await aLiveTopology(t, { 1: ['words:1'] });
  const { scheduler, request } = live;
  const before = live.executorOf(1);
  writeFileSync(request.archive, 'damaged');
  await live.writePlan({ 1: ['words:1'], 2: ['words:2'] });
  await eventually(async () => {
    const { executors } = await scheduler.describe(request);
    const found = executors.find(({ name }) => name === 'executor-2');
    assert.equal(found?.state, 'restarting');
    assert.match(found.lastExit?.reason ?? '', /^container 2 cannot be set up: the archive is dam/);
  });
  writeFileSync(request.archive, 'fine');
  await live.started(2, 'container_2_words_2');
  await eventually(async () => {
    const { executors } = await scheduler.describe(request);
    return executors.length === 3 && executors.every(({ state }) => state === 'running');
  });
  assert.deepEqual(live.executorOf(1), before);
});

test('a container that leaves takes along what a killed executor has left', async (t) => {
  const live = await aLiveTopology(t, { 1: ['words:1'], 2: ['words:2'] });
  const name = 'container_2_words_2';
  writeFileSync(live.path(2, `${name}.behaviour`), 'ignore-sigterm');
  process.kill(await live.started(2, name), 'SIGKILL');
  const left = systemProcessTable.identityOf(await live.started(2, name, 2));
  assert.ok(left !== undefined);
  await killScheduler(live);
  const executor = live.executorOf(2);
  assert.ok(executor !== undefined);
  process.kill(executor.pid, 'SIGKILL');
  await eventually(() => !isAlive(executor));
  await live.writePlan({ 1: ['words:1'] });
  assert.equal(await live.scheduler.repair(live.request), 'restarted');
  await live.gone(2);
  assert.ok(!isAlive(left));
});

test('a container that leaves takes along what ignores SIGTERM', async (t) => {
  const live = await aLiveTopology(t, { 1: ['words:1'], 2: ['words:2'] });
  const name = 'container_2_words_2';
  writeFileSync(live.path(2, `${name}.behaviour`), 'ignore-sigterm');
  process.kill(await live.started(2, name), 'SIGKILL');
  const stubborn = await live.started(2, name, 2);
  const identity = systemProcessTable.identityOf(stubborn);
  assert.ok(identity !== undefined);
  await live.writePlan({ 1: ['words:1'] });
  await live.gone(2);
  assert.ok(!isAlive(identity));
});
