import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { FinishedRun } from '../../../../src/simulation/checkers/checker.ts';
import { ShuffleChecker } from '../../../../src/simulation/checkers/shuffle-checker.ts';
import { ANY_FAULT, aFinishedRun, anEnd } from './finished-run.ts';
import { HandWritten } from './hand-written.ts';

function problemsOf({ workload }: HandWritten, change: Partial<FinishedRun> = {}) {
  return new ShuffleChecker().finish(aFinishedRun(workload, change));
}

/** Three tuples to one sink, none to the other. */
function anUnevenRun(run = new HandWritten()): HandWritten {
  for (let count = 0; count < 3; count += 1) run.execute(run.emit(), run.sink);
  return run;
}

test('a turn for each task is even, wherever it began and ended', () => {
  const run = new HandWritten();
  for (const sink of [run.otherSink, run.sink, run.otherSink]) run.execute(run.emit(), sink);
  assert.deepEqual(problemsOf(run), []);
});

test('a task that is skipped is told, with what each of them got', () => {
  const run = anUnevenRun();
  const { source, sink, otherSink } = run;
  const [problem, ...others] = problemsOf(run);
  assert.match(problem ?? '', /^source default by stmgr-\d → sink: /);
  assert.match(problem ?? '', new RegExp(`: 3 to task ${sink}, 0 to task ${otherSink}$`));
  assert.deepEqual(others, []);
  assert.notEqual(source, sink);
});

test('other groupings need not be even', () => {
  assert.deepEqual(problemsOf(anUnevenRun(new HandWritten({ kind: 'global' }))), []);
  assert.deepEqual(
    problemsOf(anUnevenRun(new HandWritten({ kind: 'fields', fields: ['first'] }))),
    [],
  );
});

test('where something began anew, nothing is said', () => {
  const run = anUnevenRun();
  const command = {
    command: 'activate',
    givenAtMs: 1,
    returnedAtMs: 2,
    error: undefined,
    reachedAtMs: 2,
  } as const;
  assert.deepEqual(problemsOf(run, { explanation: ANY_FAULT }), []);
  assert.deepEqual(problemsOf(run, { ends: [anEnd('stmgr-1', 80_000)] }), []);
  assert.deepEqual(problemsOf(run, { commands: [command] }), []);
  assert.deepEqual(problemsOf(run, { outcome: 'time' }), []);
  assert.equal(problemsOf(run, { ends: [anEnd('stmgr-1', 95_000)] }).length, 1);
});
