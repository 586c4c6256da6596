import assert from 'node:assert/strict';
import { test } from 'node:test';
import { DuplicateChecker } from '../../../../src/simulation/checkers/duplicate-checker.ts';
import { aFinishedRun, ANY_FAULT } from './finished-run.ts';
import { HandWritten } from './hand-written.ts';

function problemsOf({ workload }: HandWritten): readonly string[] {
  return new DuplicateChecker().finish(aFinishedRun(workload, { explanation: ANY_FAULT }));
}

test('two tasks may each execute a tuple once', () => {
  const run = new HandWritten({ kind: 'all' });
  const tuple = run.emit();
  run.execute(tuple, run.sink);
  run.execute(tuple, run.otherSink);
  assert.deepEqual(problemsOf(run), []);
});

test('one task may not execute it twice, in one life or two, and faults are no excuse', () => {
  const run = new HandWritten();
  const [first, second] = [run.emit(), run.emit()];
  run.execute(first, run.sink);
  run.execute(first, run.sink);
  run.execute(second, run.sink);
  run.restart(run.sink);
  run.execute(second, run.sink);
  const [inOne = '', inTwo = ''] = problemsOf(run);
  assert.match(inOne, /executed tuple 0 twice, in one life$/);
  assert.match(inTwo, /executed tuple 1 twice, in lives \d and \d$/);
});
