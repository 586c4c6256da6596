import assert from 'node:assert/strict';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { environmentError, hasCode } from '../../../src/base/errors.ts';
import { containerId, topologyId } from '../../../src/base/ids.ts';
import { isAlive, type ProcessIdentity } from '../../../src/base/process-identity.ts';
import { encodeCompletion } from '../../../src/model/completion.ts';
import { parseContainerReport } from '../../../src/model/container-report.ts';
import { systemEnvironment } from '../../../src/process-start/system-environment.ts';
import { writeLaunchRecord } from '../../../src/scheduler/local/launch-record.ts';
import {
  liveScheduler,
  startSchedulerProcess,
} from '../../../src/scheduler/local/scheduler-process.ts';
import { containerFolder } from '../../../src/scheduler/local/working-folder.ts';
import { paths } from '../../../src/state-manager/paths.ts';
import type { StateManager } from '../../../src/state-manager/state-manager.ts';
import { readPidFile } from '../../../src/supervision/pid-file.ts';
import { systemProcessTable } from '../../../src/supervision/system-process-table.ts';
import { findTopologyProcesses } from '../../../src/supervision/topology-processes.ts';
import { eventually } from '../../support/eventually.ts';
import { packingPlanOf } from '../../support/packing-plans.ts';
import { startedIn } from '../executor/container.ts';
import { aSubmittedTopology, STUB_SCHEDULER, type Submitted } from './topology.ts';

/* A real scheduler process with real executors, whose children are stubs. */

const machine = systemEnvironment(systemProcessTable);
const plan = packingPlanOf({ 1: ['words:1'] });
const CONTAINERS = [0, 1].map(containerId);
const NAMES = [
  'container_1_words_1',
  'heron-metricscache',
  'heron-tmanager',
  'metricsmgr-0',
  'metricsmgr-1',
  'stmgr-1',
];

/** Waits until every child of every container is up; its pid by name. */
function allUp({ folder }: Submitted): Promise<ReadonlyMap<string, number>> {
  return eventually(() => {
    const started = CONTAINERS.flatMap((container) =>
      startedIn(containerFolder(folder, container)),
    );
    const pids = new Map(started.map(({ name, pid }) => [name, pid]));
    assert.deepEqual([...pids.keys()].toSorted(), NAMES);
    return pids;
  });
}

function executorOf({ folder }: Submitted, container: number) {
  const identity = readPidFile(machine.files, folder.root, `executor-${container}`);
  assert.ok(identity !== undefined && isAlive(identity), `executor ${container} is alive`);
  return identity;
}

function schedulerOf({ folder }: Submitted) {
  const identity = liveScheduler(machine, folder);
  assert.ok(identity !== undefined, 'the scheduler is alive');
  return identity;
}

/** Kills one process and waits until it is gone. */
async function murder(identity: ProcessIdentity): Promise<void> {
  process.kill(identity.pid, 'SIGKILL');
  await eventually(() => !isAlive(identity));
}

function assertNothingLeft(topology: Submitted): void {
  assert.deepEqual(findTopologyProcesses(machine.processes, topology.request.topologyId), []);
  assert.equal(liveScheduler(machine, topology.folder), undefined);
  assert.deepEqual(topology.files(), []);
}

test('launch starts an executor per container, each in its folder and on its host', async (t) => {
  const topology = await aSubmittedTopology(t, plan);
  const { scheduler, request, stateManager, folder } = topology;
  await topology.submit();
  await scheduler.launch(request);
  await allUp(topology);
  const { schedulerPid, executors } = await scheduler.describe(request);
  assert.equal(schedulerPid, schedulerOf(topology).pid);
  assert.deepEqual(
    Object.fromEntries(executors.map(({ name, state }) => [name, state])),
    Object.fromEntries(CONTAINERS.map((container) => [`executor-${container}`, 'running'])),
  );
  const hosts = await eventually(() =>
    Promise.all(
      CONTAINERS.map(async (container) => {
        const bytes = await stateManager.read(paths.container(request.topologyName, container));
        assert.ok(bytes !== undefined);
        return parseContainerReport(bytes).host;
      }),
    ),
  );
  assert.deepEqual(hosts, ['127.0.0.1', '127.0.0.2']);
  assert.ok((await stateManager.read(paths.scheduler(request.topologyName))) !== undefined);
  const log = readFileSync(folder.schedulerLog, 'utf8');
  const everything = topology.files().map((file) => readFileSync(join(topology.dataRoot, file)));
  assert.ok(log.includes('process started'));
  const leaks = everything.filter((bytes) => bytes.includes('a secret'));
  assert.equal(leaks.length, 1, 'the token is in its own node only');
});

test('a repeated launch finds its scheduler and changes nothing', async (t) => {
  const topology = await aSubmittedTopology(t, plan);
  const { scheduler, request } = topology;
  await topology.submit();
  await scheduler.launch(request);
  const pids = await allUp(topology);
  const { pid } = schedulerOf(topology);
  await scheduler.launch(request);
  assert.equal(schedulerOf(topology).pid, pid);
  assert.equal(await scheduler.repair(request), 'alive');
  assert.deepEqual(await allUp(topology), pids);
});

test('a launch that cannot work says why, and can be killed', async (t) => {
  const topology = await aSubmittedTopology(t, plan);
  const { scheduler, request } = topology;
  await topology.submit('damaged');
  await assert.rejects(
    scheduler.launch(request),
    (error) => hasCode(error, 'PROCESS_FAILED') && /the archive is damaged/.test(error.message),
  );
  await scheduler.kill(request);
  assertNothingLeft(topology);
});

test('a topology that was submitted but never launched can be killed', async (t) => {
  const topology = await aSubmittedTopology(t, plan);
  const { scheduler, request } = topology;
  await topology.submit();
  assert.equal(await scheduler.repair(request), 'absent');
  await scheduler.kill(request);
  assertNothingLeft(topology);
});

test('damaged records do not keep anyone from killing', async (t) => {
  const topology = await aSubmittedTopology(t, plan);
  const { scheduler, request, folder, stateManager } = topology;
  await topology.submit();
  await scheduler.launch(request);
  await allUp(topology);
  const { topologyName } = request;
  writeFileSync(folder.launchFile, '{');
  await stateManager.write(paths.packingPlan(topologyName), Buffer.from('damaged'));
  await scheduler.kill(request);
  assertNothingLeft(topology);
});

test('kill leaves nothing behind, whatever ignores SIGTERM', async (t) => {
  const topology = await aSubmittedTopology(t, plan);
  const { scheduler, request, folder } = topology;
  await topology.submit();
  await scheduler.launch(request);
  const [name] = NAMES;
  assert.ok(name !== undefined);
  const gentle = (await allUp(topology)).get(name);
  assert.ok(gentle !== undefined);
  const container = containerFolder(folder, containerId(1));
  writeFileSync(join(container, `${name}.behaviour`), 'ignore-sigterm');
  process.kill(gentle, 'SIGKILL');
  const pids = await eventually(async () => {
    const current = await allUp(topology);
    return current.get(name) !== gentle && current;
  });
  const marked = findTopologyProcesses(machine.processes, request.topologyId);
  assert.equal(marked.length, pids.size + 4, 'children and grandchild, executors, scheduler');
  await scheduler.kill(request);
  assertNothingLeft(topology);
  await scheduler.kill(request);
  assertNothingLeft(topology);
});

test('kill does the work of a dead scheduler', async (t) => {
  const topology = await aSubmittedTopology(t, plan);
  const { scheduler, request } = topology;
  await topology.submit();
  await scheduler.launch(request);
  await allUp(topology);
  await murder(schedulerOf(topology));
  await scheduler.kill(request);
  assertNothingLeft(topology);
});

test('kill finds a scheduler that has only just been started', async (t) => {
  const topology = await aSubmittedTopology(t, plan);
  const { scheduler, request, folder, dataRoot } = topology;
  await topology.submit();
  // A file is no state tree: the scheduler waits for one, and has neither a node nor a pid file.
  const state = { kind: 'file', folder: STUB_SCHEDULER } as const;
  const record = { ...request, state, dataRoot, hosts: ['127.0.0.1'] };
  await writeLaunchRecord(machine, folder, record);
  const { ended } = startSchedulerProcess(folder, record, machine, [STUB_SCHEDULER]);
  await eventually(() => readFileSync(folder.schedulerLog, 'utf8').includes('trying again'));
  await scheduler.kill(request);
  assert.equal((await ended).signal, 'SIGKILL');
  assertNothingLeft(topology);
});

test('kill can keep the logs', async (t) => {
  const topology = await aSubmittedTopology(t, plan);
  const { scheduler, request } = topology;
  await topology.submit();
  await scheduler.launch(request);
  await allUp(topology);
  await scheduler.kill(request, { keepLogs: true });
  const kept = topology.files();
  const logs = join('logs', request.topologyId);
  assert.ok(kept.every((file) => file.startsWith(logs)));
  assert.ok(kept.includes(join(logs, 'container-1', 'stmgr-1.out')));
  assert.ok(kept.includes(join(logs, 'scheduler.log')));
});

test('a kill that is cut off after any step is finished by the next one', async (t) => {
  const topology = await aSubmittedTopology(t, plan);
  const { request, schedulerWith, stateManager } = topology;
  for (let stepsLeft = 0; ; stepsLeft += 1) {
    await topology.submit();
    const state = { kind: 'file', folder: '/state' } as const;
    const record = { ...request, state, dataRoot: '/data', hosts: ['127.0.0.1'] };
    await writeLaunchRecord(machine, topology.folder, record);
    const broken = cutOffAfter(stateManager, stepsLeft);
    const outcome = await schedulerWith(broken)
      .kill(request)
      .then(
        () => 'done',
        () => 'cut off',
      );
    const stillExists = await stateManager.read(paths.topology(request.topologyName));
    if (stillExists === undefined) {
      assert.deepEqual(topology.files(), [], 'what says that it exists goes last (T2)');
    }
    await schedulerWith(stateManager).kill(request);
    assertNothingLeft(topology);
    if (outcome === 'done') break;
  }
});

test('a dead scheduler’s successor adopts the living and repairs the rest', async (t) => {
  const topology = await aSubmittedTopology(t, plan);
  const { scheduler, request } = topology;
  await topology.submit();
  await scheduler.launch(request);
  const before = await allUp(topology);
  const adopted = executorOf(topology, 1);
  const dead = executorOf(topology, 0);
  await murder(schedulerOf(topology));
  await murder(dead);
  assert.equal((await scheduler.describe(request)).schedulerPid, undefined);
  const outcomes = await Promise.all([scheduler.repair(request), scheduler.repair(request)]);
  assert.ok(outcomes.includes('restarted'));
  assert.deepEqual(executorOf(topology, 1), adopted);
  const repaired = await eventually(async () => {
    const pids = await allUp(topology);
    return pids.get('heron-tmanager') !== before.get('heron-tmanager') && pids;
  });
  assert.equal(repaired.get('stmgr-1'), before.get('stmgr-1'), 'what lived goes on');
  await murder(adopted);
  await eventually(async () => {
    const pids = await allUp(topology);
    return pids.get('stmgr-1') !== before.get('stmgr-1');
  });
  await scheduler.kill(request);
  assertNothingLeft(topology);
});

test('restart replaces the executor of one container', async (t) => {
  const topology = await aSubmittedTopology(t, plan);
  const { scheduler, request } = topology;
  await topology.submit();
  await scheduler.launch(request);
  await allUp(topology);
  const [zero, one] = [executorOf(topology, 0), executorOf(topology, 1)];
  await scheduler.restart(request, containerId(1));
  assert.notEqual(executorOf(topology, 1).pid, one.pid);
  assert.deepEqual(executorOf(topology, 0), zero);
  await assert.rejects(scheduler.restart(request, containerId(7)), /has no container 7/);
});

test('a scheduler that is only told to stop leaves the topology to be started again', async (t) => {
  const topology = await aSubmittedTopology(t, plan);
  const { scheduler, request } = topology;
  await topology.submit();
  await scheduler.launch(request);
  await allUp(topology);
  const identity = schedulerOf(topology);
  process.kill(identity.pid, 'SIGTERM');
  await eventually(() => !isAlive(identity));
  assert.deepEqual(findTopologyProcesses(machine.processes, request.topologyId), []);
  assert.equal(await scheduler.repair(request), 'restarted');
  await allUp(topology);
});

test('a completed topology goes away by itself; its logs and its record stay', async (t) => {
  const topology = await aSubmittedTopology(t, plan);
  const { scheduler, request, stateManager, folder } = topology;
  const { topologyName } = request;
  const completion = {
    topologyId: topologyId('words-of-yesterday'),
    completedAtMs: 1,
    result: 'completed',
    incidents: [],
    recovered: [],
  } as const;
  await stateManager.write(paths.completed(topologyName), encodeCompletion(completion));
  await topology.submit();
  await scheduler.launch(request);
  await allUp(topology);
  const identity = schedulerOf(topology);
  await stateManager.write(
    paths.completed(topologyName),
    encodeCompletion({ ...completion, topologyId: request.topologyId }),
  );
  await eventually(() => !isAlive(identity));
  assert.deepEqual(findTopologyProcesses(machine.processes, request.topologyId), []);
  assert.ok(!existsSync(folder.root));
  const kept = topology.files();
  assert.ok(kept.includes(join('logs', request.topologyId, 'container-1', 'stmgr-1.out')));
  assert.deepEqual(
    kept.filter((file) => file.startsWith('state')),
    [join('state', paths.completed(topologyName))],
  );
  assert.equal(await scheduler.repair(request), 'absent');
});

test('what a scheduler began and could not finish is finished by repair', async (t) => {
  const topology = await aSubmittedTopology(t, plan);
  const { scheduler, request, folder } = topology;
  await topology.submit();
  await scheduler.launch(request);
  await allUp(topology);
  await murder(schedulerOf(topology));
  writeFileSync(folder.killFile, '{"keepLogs":false}');
  assert.equal(await scheduler.repair(request), 'ended');
  assertNothingLeft(topology);
});

test('so is a kill of which a living scheduler has not heard', async (t) => {
  const topology = await aSubmittedTopology(t, plan);
  const { scheduler, request, folder } = topology;
  await topology.submit();
  await scheduler.launch(request);
  await allUp(topology);
  writeFileSync(folder.killFile, '{"keepLogs":false}');
  assert.equal(await scheduler.repair(request), 'ended');
  assertNothingLeft(topology);
});

test('the remains of an earlier topology of the same name make way', async (t) => {
  const topology = await aSubmittedTopology(t, plan);
  const { scheduler, request, folder } = topology;
  await topology.submit();
  await scheduler.launch(request);
  await allUp(topology);
  await murder(schedulerOf(topology));
  writeFileSync(folder.killFile, '{"keepLogs":false}');
  const second = { ...request, topologyId: topologyId('words-the-second') };
  // Its nodes are not there, so its scheduler refuses; what counts is that the first is gone.
  await assert.rejects(scheduler.launch(second), /words-the-second/);
  assert.deepEqual(findTopologyProcesses(machine.processes, request.topologyId), []);
  assert.ok(!existsSync(folder.killFile));
});

/** Deletes fail after so many, as if whoever called had been killed. */
function cutOffAfter(stateManager: StateManager, deletesLeft: number): StateManager {
  let left = deletesLeft;
  return new Proxy(stateManager, {
    get(target, key: keyof StateManager) {
      if (key !== 'delete') return (target[key] as () => unknown).bind(target);
      return async (path: string): Promise<void> => {
        if (left === 0) throw environmentError('STATE_UNAVAILABLE', 'cut off');
        left -= 1;
        await target.delete(path);
      };
    },
  });
}
