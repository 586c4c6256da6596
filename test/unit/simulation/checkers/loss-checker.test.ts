import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { FinishedRun } from '../../../../src/simulation/checkers/checker.ts';
import { LossChecker } from '../../../../src/simulation/checkers/loss-checker.ts';
import { Places } from '../../../../src/simulation/checkers/places.ts';
import { aFinishedRun, ANY_FAULT, anEnd, packingOf } from './finished-run.ts';
import { HandWritten } from './hand-written.ts';

function problemsOf(
  { workload }: HandWritten,
  change: Partial<FinishedRun> = {},
): readonly string[] {
  return new LossChecker().finish(aFinishedRun(workload, change));
}

test('every tuple must arrive, and one that does not is named', () => {
  const run = new HandWritten();
  run.execute(run.emit(), run.sink);
  assert.deepEqual(problemsOf(run), []);
  run.emit();
  assert.match(problemsOf(run)[0] ?? '', /^tuple 1 of source .* never came to any of tasks/);
});

test('of an all grouping each missing copy counts', () => {
  const run = new HandWritten({ kind: 'all' });
  run.execute(run.emit(), run.sink);
  assert.match(problemsOf(run)[0] ?? '', new RegExp(`never came to task ${run.otherSink} of sink`));
});

test('a tuple that was never sent is not missed', () => {
  const run = new HandWritten();
  run.workload.ledger.refuse(run.emit());
  assert.deepEqual(problemsOf(run), []);
});

test('only the end of a process on its way, at its time or later, explains a loss', () => {
  const run = new HandWritten({ kind: 'fields', fields: ['first'] });
  const places = new Places(packingOf(run.workload));
  run.nowMs = 5000;
  run.execute(run.emit(1), run.sink);
  run.execute(run.emit(2), run.otherSink);
  run.emit(1); // Its key says which task it was for.
  const { instance, streamManager } = places.of(run.sink);
  const other = places.of(run.otherSink);
  const explained = (process: string, atMs: number): boolean =>
    problemsOf(run, { ends: [anEnd(process, atMs)] }).length === 0;
  assert.equal(explained(instance, 6000), true);
  assert.equal(explained(streamManager, 6000), true);
  assert.equal(explained(places.of(run.source).instance, 5000), true);
  assert.equal(explained(instance, 4500), true, 'nobody may have noticed yet');
  assert.equal(explained(instance, 3000), false, 'it has been there again for long');
  assert.equal(explained(instance, 95_000), false, 'the topology was taken down then');
  assert.equal(explained(other.instance, 6000), false, 'it is not on the way');
  assert.equal(explained('metricsmgr-1', 6000), false, 'it carries no tuples');
});

test('a broken connection explains a loss', () => {
  const run = new HandWritten();
  run.emit();
  assert.deepEqual(problemsOf(run, { explanation: ANY_FAULT }), []);
});

test('nothing is said of a topology that was killed', () => {
  const run = new HandWritten();
  run.emit();
  assert.deepEqual(problemsOf(run, { outcome: 'killed' }), []);
});
