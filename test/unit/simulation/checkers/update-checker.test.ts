import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  componentName,
  containerId,
  epoch,
  instanceIdOf,
  streamManagerIdOf,
  taskId,
} from '../../../../src/base/ids.ts';
import type { PackingPlan } from '../../../../src/model/packing-plan.ts';
import type { InstanceAddress, PhysicalPlan } from '../../../../src/model/physical-plan.ts';
import { RunHistory } from '../../../../src/simulation/checkers/run-history.ts';
import { UpdateChecker } from '../../../../src/simulation/checkers/update-checker.ts';
import { aPlacement } from '../../../support/placements.ts';
import { aBoltPlan, aSpoutPlan, aWorkloadPlan } from '../workload/small-workloads.ts';
import { aFinishedRun } from './finished-run.ts';
import { HandWritten } from './hand-written.ts';

const STORED_MS = 20_000;
const NEW = taskId(9);

function instance(component: string, task: number, change: Partial<InstanceAddress> = {}) {
  const [name, place] = [componentName(component), containerId(1)];
  const id = instanceIdOf(place, name, taskId(task));
  const streamManager = streamManagerIdOf(place);
  return { id, streamManager, task: taskId(task), componentIndex: 0, component: name, ...change };
}

/** Plans of these instances, a second after each other. */
function planned(...lists: readonly (readonly InstanceAddress[])[]): RunHistory {
  const history = new RunHistory(aPlacement({ 1: ['1'] }));
  history.notePacking({ ...aPlacement({ 1: ['1'] }), epoch: epoch(2) }, STORED_MS);
  for (const [index, instances] of lists.entries()) {
    const plan = { epoch: epoch(3 + index), streamManagers: [], instances };
    history.notePlan(plan as unknown as PhysicalPlan, STORED_MS + 1_000 * (index + 1));
  }
  return history;
}

function problemsOf(run: HandWritten, history: RunHistory, packing: PackingPlan) {
  const { workload } = run;
  return new UpdateChecker().finish(aFinishedRun(workload, { history, packing }));
}

/** Container 3 is wanted from the update on, and was seen between two times. */
function unwantedProblems(fromMs: number, toMs: number): readonly string[] {
  const history = new RunHistory(aPlacement({ 1: ['1'] }));
  const grown = { ...aPlacement({ 1: ['1'], 3: ['2'] }), epoch: epoch(2) };
  history.notePacking(grown, STORED_MS);
  const checker = new UpdateChecker();
  checker.observe({ kind: 'packing', atMs: 0, plan: grown });
  for (let atMs = fromMs; atMs <= toMs; atMs += 500) {
    checker.observe({ kind: 'living', atMs, processes: [{ name: 'stmgr-3', pid: 7 }] });
  }
  return checker.finish(aFinishedRun(new HandWritten().workload, { history }));
}

test('a process that only begins when a plan names it is in order, one long before is not', () => {
  assert.deepEqual(unwantedProblems(STORED_MS, STORED_MS + 30_000), []);
  assert.deepEqual(unwantedProblems(STORED_MS - 500, STORED_MS + 500), [], 'nor one just before');
  assert.match(unwantedProblems(0, STORED_MS - 1_000)[0] ?? '', /^stmgr-3 was there at 19000 ms/);
  assert.deepEqual(unwantedProblems(0, 10_000), [], 'it ends within some time');
});

test('a task has ended when it leaves the plan, by a clock that may be ahead', () => {
  const problemsWith = (workMs: number, endedMs: number | undefined) => {
    const plan = aWorkloadPlan({ spouts: [aSpoutPlan()], bolts: [aBoltPlan({ workMs })] });
    const run = new HandWritten(undefined, plan);
    run.nowMs = endedMs ?? 0;
    if (endedMs !== undefined) run.workload.ledger.end(run.lifeOf(run.sink));
    const sink = instance('sink', Number(run.sink), { isRetiring: true });
    const others = [instance('source', Number(run.source)), instance('sink', 8)];
    const history = planned([...others, sink], others);
    return problemsOf(run, history, aPlacement({ 1: [String(run.sink)] }));
  };
  const leftMs = STORED_MS + 2_000;
  const late = /left the plan at 22000 ms and had not ended/;
  for (const [workMs, endedMs, isLate] of [
    [0, leftMs, false],
    [0, leftMs + 1, true],
    [10, leftMs + 500, false],
    [10, leftMs + 501, true],
    [10, undefined, true],
  ] as const) {
    const problems = problemsWith(workMs, endedMs).filter((text) => late.test(text));
    assert.equal(problems.length, isLate ? 1 : 0, `${workMs} ms of work, end at ${endedMs}`);
  }
});

test('a new spout does not begin while it is joining', () => {
  const problemsAt = (openedMs: number) => {
    const run = new HandWritten();
    run.nowMs = openedMs;
    run.workload.ledger.open(NEW, 'source', 1);
    const old = instance('source', Number(run.source));
    const joining = instance('source', NEW, { joiningEpoch: epoch(3), componentIndex: 1 });
    const history = planned([old, joining], [old, instance('source', NEW)]);
    return problemsOf(run, history, history.everything);
  };
  assert.match(problemsAt(STORED_MS + 1_500)[0] ?? '', /opened at 21500 ms, still joining/);
  assert.deepEqual(problemsAt(STORED_MS + 2_100), []);
});

test('a new spout comes too late only if all input was read, or a reader had ended', () => {
  const packing = aPlacement({ 1: ['9'] });
  const problemsWith = (write: (run: HandWritten) => void) => {
    const run = new HandWritten();
    write(run);
    const old = [instance('source', Number(run.source)), instance('sink', Number(run.sink))];
    return problemsOf(
      run,
      planned([...old, instance('source', 9, { isWithoutInput: true })]),
      packing,
    );
  };
  assert.match(problemsWith(() => {})[0] ?? '', /task 9 of source is said to come too late/);
  assert.deepEqual(
    problemsWith((run) => run.end()),
    [],
  );
  assert.deepEqual(
    problemsWith((run) => run.workload.ledger.end(run.lifeOf(run.sink))),
    [],
  );
  const opened = problemsWith((run) => {
    run.end();
    run.workload.ledger.open(NEW, 'source', 1);
  });
  assert.match(opened[0] ?? '', /task 9 came too late and was opened/);
});
