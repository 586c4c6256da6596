import assert from 'node:assert/strict';
import { test } from 'node:test';
import { TerminalChecker } from '../../../../src/simulation/checkers/terminal-checker.ts';
import { TrackedRun } from './tracked-run.ts';

function problemsOf(run: TrackedRun, change: Parameters<TrackedRun['finished']>[0] = {}) {
  return new TerminalChecker().finish(run.finished(change));
}

test('one ack or fail for each message is right', () => {
  const run = new TrackedRun();
  run.ack(run.send());
  run.fail(run.send());
  assert.deepEqual(problemsOf(run), []);
});

test('a second one is not, whichever it is', () => {
  const run = new TrackedRun();
  const tuple = run.send();
  run.fail(tuple, { kind: 'time-out' });
  run.ack(tuple);
  assert.match(problemsOf(run)[0] ?? '', /message 0: ack at 0 ms after fail \(time-out\)/);
});

test('one of what was never emitted, or by another incarnation, is not', () => {
  const run = new TrackedRun();
  run.ack(5);
  const tuple = run.send();
  run.restart(run.source);
  run.ack(tuple);
  const problems = problemsOf(run);
  assert.match(problems[0] ?? '', /got an ack at 0 ms of 5, never emitted/);
  assert.match(problems[1] ?? '', /went to another incarnation/);
});

test('what is never settled is missed at the end, unless its incarnation died', () => {
  const run = new TrackedRun();
  run.send();
  run.restart(run.source);
  assert.deepEqual(problemsOf(run), []);
  run.send();
  assert.match(problemsOf(run)[0] ?? '', /message 1 of task .* was never settled/);
  assert.deepEqual(problemsOf(run, { outcome: 'killed' }), []);
});

test('calls beside too many pending messages are told', () => {
  const run = new TrackedRun();
  run.trees.exceed('nextTuple was called with 7 messages pending');
  assert.deepEqual(problemsOf(run), ['nextTuple was called with 7 messages pending']);
});
