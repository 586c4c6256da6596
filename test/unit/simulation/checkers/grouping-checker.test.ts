import assert from 'node:assert/strict';
import { test } from 'node:test';
import { GroupingChecker } from '../../../../src/simulation/checkers/grouping-checker.ts';
import { Places } from '../../../../src/simulation/checkers/places.ts';
import { chosenTasks } from '../../../../src/simulation/workload/task-choice.ts';
import { aFinishedRun, packingOf } from './finished-run.ts';
import { HandWritten } from './hand-written.ts';

function problemsOf({ workload }: HandWritten): readonly string[] {
  return new GroupingChecker().finish(aFinishedRun(workload));
}

test('each tuple to any one task is a shuffle grouping', () => {
  const run = new HandWritten();
  run.execute(run.emit(), run.sink);
  run.execute(run.emit(), run.otherSink);
  run.execute(run.emit(), run.otherSink);
  run.emit(); // A lost one is no business of this checker.
  assert.deepEqual(problemsOf(run), []);
});

test('a tuple that two tasks get is named, with both of them', () => {
  const run = new HandWritten();
  const tuple = run.emit();
  run.execute(tuple, run.sink);
  run.execute(tuple, run.otherSink);
  const [problem, ...others] = problemsOf(run);
  assert.match(problem ?? '', /^tuple 0 of source .* came to tasks \d, \d of sink against its shu/);
  assert.deepEqual(others, []);
});

test('all tasks may get a tuple of an all grouping', () => {
  const run = new HandWritten({ kind: 'all' });
  const tuple = run.emit();
  run.execute(tuple, run.sink);
  run.execute(tuple, run.otherSink);
  assert.deepEqual(problemsOf(run), []);
});

test('of a global grouping only the lowest task gets anything', () => {
  const run = new HandWritten({ kind: 'global' });
  run.execute(run.emit(), run.sink);
  assert.deepEqual(problemsOf(run), []);
  run.execute(run.emit(), run.otherSink);
  const [problem] = problemsOf(run);
  assert.match(problem ?? '', new RegExp(`task ${run.otherSink} of sink against its global`));
});

test('a task that does not read the stream must not get its tuples', () => {
  const run = new HandWritten();
  run.execute(run.emit(), run.source);
  assert.match(problemsOf(run)[0] ?? '', /which does not read that stream/);
});

test('a tuple that nobody emitted is named, and one whose emit was refused', () => {
  const run = new HandWritten();
  run.execute(17, run.sink);
  const refused = run.emit();
  run.workload.ledger.refuse(refused);
  run.execute(refused, run.sink);
  assert.deepEqual(problemsOf(run), [
    'tuple 17 was executed and never emitted',
    'tuple 0 was executed and never emitted',
  ]);
});

test('where the workload chooses tasks, these get the tuple and no others', () => {
  for (const grouping of [{ kind: 'direct' }, { kind: 'custom', copies: 1 }] as const) {
    const run = new HandWritten(grouping);
    const tuple = run.emit();
    const [chosen] = chosenTasks(tuple, run.sinks);
    const other = run.sinks.find((task) => task !== chosen);
    run.execute(tuple, chosen ?? assert.fail());
    assert.deepEqual(problemsOf(run), []);
    run.execute(tuple, other ?? assert.fail());
    assert.match(
      problemsOf(run)[0] ?? '',
      new RegExp(`tasks .*${other}.* of sink against its ${grouping.kind}`),
    );
  }
});

test('a local or shuffle grouping stays in the container of the source where it can', () => {
  const run = new HandWritten({ kind: 'local-or-shuffle' });
  const places = new Places(packingOf(run.workload));
  const { container } = places.of(run.source);
  const local = run.sinks.filter((task) => places.of(task).container === container);
  const distant = run.sinks.filter((task) => !local.includes(task));
  assert.equal(local.length, 1);
  run.execute(run.emit(), local[0] ?? assert.fail());
  assert.deepEqual(problemsOf(run), []);
  run.execute(run.emit(), distant[0] ?? assert.fail());
  assert.match(problemsOf(run)[0] ?? '', /against its local-or-shuffle/);
});
