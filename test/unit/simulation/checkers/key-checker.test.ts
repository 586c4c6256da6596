import assert from 'node:assert/strict';
import { test } from 'node:test';
import { KeyChecker } from '../../../../src/simulation/checkers/key-checker.ts';
import { aFinishedRun, ANY_FAULT } from './finished-run.ts';
import { HandWritten } from './hand-written.ts';

function problemsOf({ workload }: HandWritten): readonly string[] {
  return new KeyChecker().finish(aFinishedRun(workload, { explanation: ANY_FAULT }));
}

test('a key stays with its task, also over restarts', () => {
  const run = new HandWritten({ kind: 'fields', fields: ['first'] });
  run.execute(run.emit(1, 5), run.sink);
  run.execute(run.emit(2, 5), run.otherSink);
  run.restart(run.sink);
  run.execute(run.emit(1, 6), run.sink);
  assert.deepEqual(problemsOf(run), []);
});

test('a key that moves is named, whatever the faults', () => {
  const run = new HandWritten({ kind: 'fields', fields: ['first'] });
  run.execute(run.emit(1, 5), run.sink);
  run.restart(run.source);
  run.execute(run.emit(1, 6), run.otherSink);
  const [problem] = problemsOf(run);
  assert.match(problem ?? '', /^tuple 1 of source .* tuple 0 with the same key to task \d/);
});

test('both fields of a key count', () => {
  const run = new HandWritten({ kind: 'fields', fields: ['first', 'second'] });
  run.execute(run.emit(1, 5), run.sink);
  run.execute(run.emit(1, 6), run.otherSink);
  assert.deepEqual(problemsOf(run), []);
  run.execute(run.emit(1, 6), run.sink);
  assert.equal(problemsOf(run).length, 1);
});

test('other groupings have no keys', () => {
  const run = new HandWritten();
  run.execute(run.emit(1), run.sink);
  run.execute(run.emit(1), run.otherSink);
  assert.deepEqual(problemsOf(run), []);
});
