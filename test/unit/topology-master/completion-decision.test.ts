import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  componentName,
  containerId,
  epoch,
  instanceIdOf,
  taskId,
  topologyId,
} from '../../../src/base/ids.ts';
import type { Incident } from '../../../src/model/completion.ts';
import type { ContainerReport, ProcessExit } from '../../../src/model/container-report.ts';
import { REPLAYS_KEY } from '../../../src/model/replaying-spouts.ts';
import {
  type CompletionFacts,
  completionOf,
  cutShortIncidents,
  earlyEndsOf,
  hasEnded,
  isComplete,
  type EndsByPlan,
  lostInstances,
  replacedProcesses,
} from '../../../src/topology-master/completion-decision.ts';
import { anAddress, anInstance } from '../../support/placements.ts';
import { aBolt, aSpout, aTopology } from '../../support/topologies.ts';

function endsBy(plan: number, tasks: readonly number[]): EndsByPlan {
  return new Map(tasks.map((task) => [taskId(task), epoch(plan)]));
}

test('a topology is complete when each of its tasks has ended', () => {
  const instances = [anInstance(1, 1), anInstance(1, 2)];
  const ended = (...tasks: number[]) => isComplete(instances, endsBy(1, tasks));
  assert.equal(ended(), false);
  assert.equal(ended(1), false);
  assert.equal(ended(1, 3), false);
  assert.equal(ended(1, 2), true);
  assert.equal(isComplete([], new Map()), false);
});

const EXIT: ProcessExit = {
  code: 1,
  signal: null,
  atMs: 500,
  reason: 'ended after an unexpected failure (code 1)',
  lastLines: [],
};

type Exits = Readonly<Record<string, ProcessExit | undefined>>;

const FACTS: CompletionFacts = {
  topologyId: topologyId('words-1'),
  topology: aTopology(),
  instances: [anInstance(1, 1), anInstance(1, 2)],
  nowMs: 1_000,
  firstPlanAtMs: 0,
  earlyEnds: [],
  seen: [],
  pastIncidents: [],
  reports: [],
};

function recordOf(processes: Exits, firstPlanAtMs = 0, seen: readonly Incident[] = []) {
  return completionOf({ ...FACTS, firstPlanAtMs, seen, reports: [reportOf(processes)] });
}

function reportOf(processes: Exits): ContainerReport {
  return {
    containerId: containerId(1),
    host: '127.0.0.1',
    pid: 1,
    startedAtMs: 0,
    processes: Object.entries(processes).map(([name, lastExit]) => ({
      name,
      pid: 2,
      state: 'running' as const,
      restarts: 0,
      startedAtMs: 0,
      ...(lastExit && { lastExit }),
    })),
  };
}

test('a run without exits has lost nothing', () => {
  assert.deepEqual(recordOf({ 'stmgr-1': undefined, container_1_word_1: undefined }), {
    topologyId: 'words-1',
    completedAtMs: 1_000,
    result: 'completed',
    incidents: [],
    recovered: [],
  });
});

test('exits of stream managers and instances are losses, oldest first', () => {
  const record = recordOf({ container_1_word_1: { ...EXIT, atMs: 700 }, 'stmgr-1': EXIT });
  assert.equal(record.result, 'completed-with-losses');
  assert.deepEqual(record.incidents, [
    { atMs: 500, container: 1, process: 'stmgr-1', reason: EXIT.reason },
    { atMs: 700, container: 1, process: 'container_1_word_1', reason: EXIT.reason },
  ]);
});

test('no loss: other processes, a port in use, and what was before the first plan', () => {
  const processes = {
    'heron-tmanager': EXIT,
    'metricsmgr-1': EXIT,
    'stmgr-1': { ...EXIT, code: 73 },
    container_1_word_1: { ...EXIT, atMs: 399 },
  };
  assert.equal(recordOf(processes, 400).result, 'completed');
});

test('what the master saw counts where the reports know nothing', () => {
  const replaced = { atMs: 10, container: 1, process: 'stmgr-1', reason: 'started again' };
  assert.deepEqual(completionOf({ ...FACTS, seen: [replaced] }).incidents, [replaced]);
  const [report] = [recordOf({ 'stmgr-1': EXIT })];
  assert.equal(report.incidents.length, 1);
});

test('a stream manager with another pid is another process', () => {
  const before = [anAddress(1), anAddress(2)];
  const after = [anAddress(1), anAddress(2, { pid: 77 })];
  assert.deepEqual(replacedProcesses(before, after, 5), [
    {
      atMs: 5,
      container: 2,
      process: 'stmgr-2',
      reason: 'started again: process 1002 on 127.0.0.1, now 77 on 127.0.0.1',
    },
  ]);
  assert.deepEqual(replacedProcesses(before, before, 5), []);
  assert.deepEqual(replacedProcesses([], after, 5), []);
});

test('what a stream manager has lost is named as the executor names it', () => {
  const registration = { address: anAddress(2), instances: [anInstance(2, 3), anInstance(2, 4)] };
  const lost = [
    { taskId: 4, lostAt: 7n },
    { taskId: 9, lostAt: 8n }, // Not one of its own.
  ];
  assert.deepEqual(lostInstances(registration, lost), [
    {
      atMs: 7,
      container: 2,
      process: anInstance(2, 4).id,
      reason: 'stmgr-2 lost the connection with it',
    },
  ]);
});

test('the same loss is not named twice: the report says more', () => {
  const { id } = anInstance(1, 1);
  const lost = { atMs: 501, container: 1, process: id, reason: 'lost' };
  assert.deepEqual(recordOf({ [id]: EXIT }, 0, [lost]).incidents, [
    { atMs: EXIT.atMs, container: 1, process: id, reason: EXIT.reason },
  ]);
  assert.deepEqual(recordOf({ [id]: { ...EXIT, atMs: 3 } }, 400, [lost]).incidents, [lost]);
});

test('what the plan says had ended before it is no loss; a later end of it is', () => {
  const reports = [reportOf({ 'stmgr-1': EXIT, container_1_word_1: { ...EXIT, atMs: 700 } })];
  const earlyEnds = [
    { process: 'stmgr-1', atMs: EXIT.atMs },
    { process: 'container_1_word_1', atMs: 500 },
  ];
  const { incidents } = completionOf({ ...FACTS, earlyEnds, reports });
  assert.deepEqual(
    incidents.map(({ process, atMs }) => ({ process, atMs })),
    [{ process: 'container_1_word_1', atMs: 700 }],
  );
});

test('of what has ended before the first plan, those that carry data are noted', () => {
  const report = reportOf({
    'stmgr-1': EXIT,
    'metricsmgr-1': EXIT,
    container_1_word_1: undefined,
    container_1_word_2: { ...EXIT, atMs: 7 },
  });
  assert.deepEqual(earlyEndsOf([report]), [
    { process: 'stmgr-1', atMs: EXIT.atMs },
    { process: 'container_1_word_2', atMs: 7 },
  ]);
});

/** Spouts `lines`, which replays, and `clicks`; bolts `split` and `join` of both. */
const INSTANCES = ['lines', 'clicks', 'split', 'join'].map((name, index) => ({
  ...anInstance(1, index + 1),
  id: instanceIdOf(containerId(1), componentName(name), taskId(index + 1)),
  component: componentName(name),
}));

function outcomeOf(config: Readonly<Record<string, string>>, doesClicksReplay = false) {
  const marked = new Map([[REPLAYS_KEY, 'true']]);
  const components = [
    aSpout('lines', { config: marked }),
    aSpout('clicks', { config: doesClicksReplay ? marked : new Map() }),
    aBolt('split', ['lines']),
    aBolt('join', ['split', 'clicks']),
  ];
  const names = ['stmgr-1', ...INSTANCES.map(({ id }) => id)];
  const { result, incidents, recovered } = completionOf({
    ...FACTS,
    topology: aTopology(components, config),
    instances: INSTANCES,
    reports: [reportOf(Object.fromEntries(names.map((name) => [name, EXIT])))],
  });
  const processes = (list: readonly Incident[]) => list.map(({ process }) => process);
  return { result, incidents: processes(incidents), recovered: processes(recovered) };
}

const AT_LEAST_ONCE = { 'topology.reliability.mode': 'ATLEAST_ONCE' };

test('at most once, every death is a loss', () => {
  const { result, incidents, recovered } = outcomeOf({}, true);
  assert.equal(result, 'completed-with-losses');
  assert.equal(incidents.length, 5);
  assert.deepEqual(recovered, []);
});

test('at least once, deaths cost nothing where only spouts that replay reach', () => {
  assert.deepEqual(outcomeOf(AT_LEAST_ONCE), {
    result: 'completed-with-losses',
    incidents: ['stmgr-1', 'container_1_clicks_2', 'container_1_join_4'],
    recovered: ['container_1_lines_1', 'container_1_split_3'],
  });
});

test('at least once, with spouts that all replay no death is a loss', () => {
  const { result, incidents, recovered } = outcomeOf(AT_LEAST_ONCE, true);
  assert.equal(result, 'completed');
  assert.deepEqual(incidents, []);
  assert.equal(recovered.length, 5);
});

test('an end of what has left the plan costs nothing any more; what befell it before stays', () => {
  const past = { atMs: 9, container: 1, process: 'container_1_word_7', reason: 'killed' };
  const { incidents } = completionOf({
    ...FACTS,
    pastIncidents: [past],
    seen: [{ ...past, atMs: 10 }],
    reports: [reportOf({ container_1_word_7: EXIT, container_1_word_8: EXIT })],
  });
  assert.deepEqual(incidents, [past]);
});

test('at least once, what befell a bolt that has left the plan is judged by its component', () => {
  const of = (process: string) => ({ atMs: 9, container: 1, process, reason: 'killed' });
  const record = completionOf({
    ...FACTS,
    topology: aTopology(
      [
        aSpout('lines', { config: new Map([[REPLAYS_KEY, 'true']]) }),
        aSpout('clicks'),
        aBolt('split_up', ['lines']),
      ],
      AT_LEAST_ONCE,
    ),
    pastIncidents: [of('container_1_split_up_7'), of('container_1_clicks_8')],
  });
  assert.deepEqual(
    record.recovered.map(({ process }) => process),
    ['container_1_split_up_7'],
  );
  assert.deepEqual(
    record.incidents.map(({ process }) => process),
    ['container_1_clicks_8'],
  );
});

test('a task that an update takes away too early is named', () => {
  assert.deepEqual(cutShortIncidents([anInstance(2, 5)], 77), [
    {
      atMs: 77,
      container: 2,
      process: 'container_2_word_5',
      reason: 'an update took it away before it had worked off its input',
    },
  ]);
});

test('a component has ended with all of its tasks, or with one that reads from it', () => {
  const topology = aTopology([
    aSpout('lines'),
    aSpout('clicks'),
    aBolt('split', ['lines']),
    aBolt('join', ['split', 'clicks']),
  ]);
  const of = (name: string, ...ended: number[]) =>
    hasEnded(componentName(name), topology, INSTANCES, endsBy(1, ended));
  assert.equal(of('lines'), false);
  assert.equal(of('lines', 1), true);
  assert.equal(of('lines', 2), false);
  assert.equal(of('lines', 3), true);
  assert.equal(of('lines', 4), false);
  assert.equal(of('split', 4), true);
  assert.equal(of('join', 1, 2, 3), false);
  assert.equal(of('unknown', 1, 2, 3, 4), false);
});
