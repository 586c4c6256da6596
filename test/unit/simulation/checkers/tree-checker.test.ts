import assert from 'node:assert/strict';
import { test } from 'node:test';
import { taskId } from '../../../../src/base/ids.ts';
import { ExpectedRouting } from '../../../../src/simulation/checkers/expected-routing.ts';
import { TreeChecker } from '../../../../src/simulation/checkers/tree-checker.ts';
import { ANY_FAULT, packingOf } from './finished-run.ts';
import { TrackedRun } from './tracked-run.ts';

function problemsOf(run: TrackedRun): readonly string[] {
  return new TreeChecker().finish(run.finished({ explanation: ANY_FAULT }));
}

function lastTask({ workload }: TrackedRun) {
  const routing = new ExpectedRouting(workload.plan, packingOf(workload));
  return routing.tasksOf('last')[0] ?? taskId(-1);
}

test('a message may be acked when all that descends from it is', () => {
  const run = new TrackedRun();
  const message = run.send();
  const child = run.derive(message, run.sink);
  run.settle(message, run.sink);
  run.settle(child, lastTask(run));
  run.ack(message);
  assert.deepEqual(problemsOf(run), []);
});

test('not before a tuple has come', () => {
  const run = new TrackedRun();
  const message = run.send();
  run.ack(message);
  assert.match(
    problemsOf(run)[0] ?? '',
    /message 0 was acked at 0 ms and tuple 0 never came to sink/,
  );
});

test('not before a task has acked it, which a failure is not', () => {
  for (const how of [undefined, 'failed', 'thrown'] as const) {
    const run = new TrackedRun();
    const message = run.send();
    if (how === undefined) run.execute(message, run.sink);
    else run.settle(message, run.sink, how);
    run.ack(message);
    assert.match(problemsOf(run)[0] ?? '', /before task \d+ of sink had acked tuple 0/);
  }
});

test('not before its descendants, and not by what comes later', () => {
  const run = new TrackedRun();
  const message = run.send();
  const child = run.derive(message, run.sink);
  run.settle(message, run.sink);
  run.ack(message);
  run.settle(child, lastTask(run));
  assert.match(problemsOf(run)[0] ?? '', /before task \d+ of last had acked tuple 1/);
});

test('what was refused, and what is not anchored, is not waited for', () => {
  const run = new TrackedRun();
  const message = run.send();
  run.workload.ledger.refuse(run.derive(message, run.sink));
  run.workload.ledger.emit(run.lifeOf(run.sink), 'default', 0, 0);
  run.settle(message, run.sink);
  run.ack(message);
  assert.deepEqual(problemsOf(run), []);
});
