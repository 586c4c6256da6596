import assert from 'node:assert/strict';
import { test } from 'node:test';
import { OrderChecker } from '../../../../src/simulation/checkers/order-checker.ts';
import { aFinishedRun, ANY_FAULT } from './finished-run.ts';
import { aBoltPlan, aWorkloadPlan } from '../workload/small-workloads.ts';
import { HandWritten } from './hand-written.ts';

function problemsOf({ workload }: HandWritten): readonly string[] {
  return new OrderChecker().finish(aFinishedRun(workload, { explanation: ANY_FAULT }));
}

test('each task gets what comes from one source in order, gaps and others aside', () => {
  const run = new HandWritten();
  const tuples = Array.from({ length: 6 }, () => run.emit());
  for (const tuple of [0, 2, 5]) run.execute(tuples[tuple] ?? 0, run.sink);
  for (const tuple of [1, 3]) run.execute(tuples[tuple] ?? 0, run.otherSink);
  assert.deepEqual(problemsOf(run), []);
});

test('a tuple that is overtaken is named, also when the task was restarted in between', () => {
  const run = new HandWritten();
  const [early, late] = [run.emit(), run.emit()];
  run.execute(late, run.sink);
  run.restart(run.sink);
  run.execute(early, run.sink);
  assert.match(problemsOf(run)[0] ?? '', /^tuple 0 of .* after the later tuple 1$/);
});

test('two lives of a source are two sources', () => {
  const run = new HandWritten();
  const early = run.emit();
  run.restart(run.source);
  run.execute(run.emit(), run.sink);
  run.execute(early, run.sink);
  assert.deepEqual(problemsOf(run), []);
});

test('a repeated tuple is left to another checker', () => {
  const run = new HandWritten();
  const tuple = run.emit();
  run.execute(tuple, run.sink);
  run.execute(tuple, run.sink);
  assert.deepEqual(problemsOf(run), []);
});

test('a bolt with several calls under way keeps the order of each key, where it keeps any', () => {
  for (const [order, grouping, problems] of [
    ['key', { kind: 'fields', fields: ['first'] }, 1],
    ['none', { kind: 'fields', fields: ['first'] }, 0],
    ['key', { kind: 'shuffle' }, 0],
  ] as const) {
    const bolts = [aBoltPlan({ concurrency: { count: 3, order } }, grouping)];
    const run = new HandWritten(grouping, aWorkloadPlan({ bolts }));
    const [early, other, late] = [run.emit(1), run.emit(2), run.emit(1)];
    run.execute(late, run.sink);
    run.execute(other, run.sink);
    assert.deepEqual(problemsOf(run), []);
    run.execute(early, run.sink);
    assert.equal(problemsOf(run).length, problems);
  }
});
