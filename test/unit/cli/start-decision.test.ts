import assert from 'node:assert/strict';
import { test } from 'node:test';
import { containerId, topologyId } from '../../../src/base/ids.ts';
import { decideStart, type StartFacts } from '../../../src/cli/start-decision.ts';
import type { ContainerReport, ProcessReport } from '../../../src/model/container-report.ts';
import { expectedProcesses } from '../../../src/model/expected-processes.ts';
import { packingPlanOf } from '../../support/packing-plans.ts';
import { aBolt, aPhysicalPlan, aSpout, aTopology } from '../../support/topologies.ts';

const topology = aTopology([aSpout('words'), aBolt('count', ['words'])]);
const packingPlan = packingPlanOf({ 1: ['words:1'], 2: ['count:2'] });
const UP = { pid: 1, state: 'running', restarts: 0, startedAtMs: 1, readyAtMs: 2 } as const;

function reports(changes: Readonly<Record<string, Partial<ProcessReport>>> = {}) {
  const processes = expectedProcesses(packingPlan).map(
    (name): ProcessReport => ({ name, ...UP, ...changes[name] }),
  );
  const report: ContainerReport = {
    containerId: containerId(0),
    host: 'localhost',
    pid: 1,
    startedAtMs: 1,
    processes,
  };
  return [report];
}

function facts(changes: Partial<StartFacts> = {}): StartFacts {
  return {
    topology,
    packingPlan,
    physicalPlan: aPhysicalPlan(topology, packingPlan),
    reports: reports(),
    completion: undefined,
    executors: [],
    ...changes,
  };
}

function exit(code: number) {
  return { code, signal: null, atMs: 1, reason: 'ended', lastLines: ['why'] };
}

test('it runs when every process is up, the plan is stored and every component is open', () => {
  assert.deepEqual(decideStart(facts()), { kind: 'running' });
});

test('it waits for what is missing, and names it', () => {
  const { readyAtMs: _, ...notReady } = UP;
  const closed = reports().map((report) => ({
    ...report,
    processes: report.processes.map((process) =>
      process.name === 'container_2_count_2' ? { name: process.name, ...notReady } : process,
    ),
  }));
  const cases: readonly (readonly [StartFacts, RegExp])[] = [
    [facts({ reports: [] }), /^heron-tmanager, metricsmgr-0, metricsmgr-1, stmgr-1 and 4 more$/],
    [facts({ reports: reports({ 'stmgr-2': { state: 'restarting', pid: null } }) }), /^stmgr-2$/],
    [facts({ physicalPlan: undefined }), /stream managers/],
    [facts({ reports: closed }), /^the components of container_2_count_2$/],
  ];
  for (const [given, missing] of cases) {
    const decision = decideStart(given);
    assert.equal(decision.kind, 'wait');
    assert.match(decision.kind === 'wait' ? decision.missing : '', missing);
  }
});

test('the plan of an earlier topology of the same name does not count', () => {
  const earlier = aPhysicalPlan({ ...topology, id: topologyId('earlier') }, packingPlan);
  assert.equal(decideStart(facts({ physicalPlan: earlier })).kind, 'wait');
});

test('user code that fails ends the wait, also while the process is being started again', () => {
  const failed = reports({ container_1_words_1: { state: 'restarting', lastExit: exit(70) } });
  assert.deepEqual(decideStart(facts({ reports: failed })), {
    kind: 'failed',
    process: 'container_1_words_1',
    exit: exit(70),
  });
});

test('a death that another start can mend does not', () => {
  const mended = reports({ container_1_words_1: { restarts: 1, lastExit: exit(69) } });
  assert.deepEqual(decideStart(facts({ reports: mended })), { kind: 'running' });
});

test('an executor that is given up ends the wait', () => {
  const executor: ProcessReport = {
    name: 'executor-1',
    pid: null,
    state: 'failed',
    restarts: 9,
    startedAtMs: 1,
    lastExit: exit(1),
  };
  assert.equal(decideStart(facts({ executors: [executor] })).kind, 'failed');
});

test('a topology may have completed before anybody looked', () => {
  const completion = {
    topologyId: topology.id,
    completedAtMs: 1,
    result: 'completed',
    incidents: [],
    recovered: [],
  } as const;
  assert.deepEqual(decideStart(facts({ completion, reports: [] })), { kind: 'completed' });
  const earlier = { ...completion, topologyId: topologyId('earlier') };
  assert.equal(decideStart(facts({ completion: earlier, reports: [] })).kind, 'wait');
});

test('instances of other languages do not say when they are open', () => {
  const foreign = aTopology([aSpout('words', { language: 'python' }), aBolt('count', ['words'])]);
  const { readyAtMs: _, ...notReady } = UP;
  const given = reports().map((report) => ({
    ...report,
    processes: report.processes.map((process) =>
      process.name === 'container_1_words_1' ? { name: process.name, ...notReady } : process,
    ),
  }));
  const physicalPlan = aPhysicalPlan(foreign, packingPlan);
  const decision = decideStart(facts({ topology: foreign, physicalPlan, reports: given }));
  assert.deepEqual(decision, { kind: 'running' });
});
