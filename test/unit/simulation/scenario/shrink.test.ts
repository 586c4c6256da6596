import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Fault, FaultPlan } from '../../../../src/simulation/faults/fault.ts';
import { shrink, type Trial } from '../../../../src/simulation/scenario/shrink.ts';
import type { Verdict } from '../../../../src/simulation/scenario/verdict.ts';
import { aVerdict } from '../../../support/verdicts.ts';
import { aBolt, aSpout, aWorkload } from '../../../support/workload-descriptions.ts';

const crashOf = (index: number): Fault => ({
  atMs: index,
  kind: 'crash',
  processes: [`instance#${index}`],
});
const plan: FaultPlan = Array.from({ length: 10 }, (_, index) => crashOf(index));
const workload = aWorkload({
  spouts: [aSpout('s1'), aSpout('s2')],
  bolts: [aBolt('b1', ['s1']), aBolt('b2', ['s2'])],
});

/** What a run of the trial says: `complaint` names the checker that complains, if any. */
function running(complaint: (trial: Required<Trial>) => string | undefined) {
  const trials: Trial[] = [];
  const run = (trial: Trial): Promise<Verdict> => {
    trials.push(trial);
    const ran = { faults: trial.faults, workload: trial.workload ?? workload };
    const checker = complaint(ran);
    const problems = checker === undefined ? [] : [{ checker, text: 'wrong' }];
    return Promise.resolve(aVerdict({ ...ran, problems }));
  };
  return { trials, run };
}

const failed = aVerdict({
  faults: plan,
  workload,
  problems: [{ checker: 'order', text: 'wrong' }],
});

test('the fewest faults are found', async () => {
  const needs = [plan[2], plan[7]];
  const { run } = running(({ faults }) =>
    needs.every((fault) => fault !== undefined && faults.includes(fault)) ? 'order' : undefined,
  );
  const { trial } = await shrink(failed, { run, runsMax: 200 });
  assert.deepEqual(trial.faults, needs);
});

test('then a simpler workload', async () => {
  const { run } = running(({ workload: { bolts } = workload }) =>
    bolts.some(({ name }) => name === 'b2') ? 'order' : undefined,
  );
  const { trial, verdict } = await shrink(failed, { run, runsMax: 200 });
  assert.deepEqual(trial.faults, []);
  assert.deepEqual(trial.workload?.bolts, [aBolt('b2', ['s2'])]);
  assert.deepEqual(trial.workload?.spouts, [aSpout('s2', { tuples: 1 })]);
  assert.deepEqual(verdict.workload, trial.workload, 'the verdict is that of the smallest');
});

test('a fault that a simpler workload does without is left out at last', async () => {
  const { run } = running(({ faults, workload: { spouts } = workload }) => {
    const needed = spouts.length > 1 ? [plan[1], plan[2]] : [plan[1]];
    return needed.every((fault) => fault !== undefined && faults.includes(fault))
      ? 'order'
      : undefined;
  });
  const { trial } = await shrink(failed, { run, runsMax: 200 });
  assert.deepEqual(trial.faults, [plan[1]]);
});

test('a run that fails in another way does not count (H1)', async () => {
  const { run } = running(({ faults }) => (faults.length === plan.length ? 'order' : 'losses'));
  const { trial } = await shrink(failed, { run, runsMax: 200 });
  assert.deepEqual(trial.faults, plan);
});

test('the number of runs is kept (H2)', async () => {
  const { run, trials } = running(() => undefined);
  const { runs, trial, verdict } = await shrink(failed, { run, runsMax: 9 });
  assert.equal(trials.length, 9);
  assert.equal(runs, 9);
  assert.deepEqual(trial, { faults: plan, workload: undefined });
  assert.equal(verdict, failed, 'nothing smaller failed');
});
