import assert from 'node:assert/strict';
import { test } from 'node:test';
import { topologyId } from '../../../../src/base/ids.ts';
import type { CompletionResult } from '../../../../src/model/completion.ts';
import type { FinishedRun } from '../../../../src/simulation/checkers/checker.ts';
import { EndOfInputChecker } from '../../../../src/simulation/checkers/end-of-input-checker.ts';
import { Places } from '../../../../src/simulation/checkers/places.ts';
import { aFinishedRun, anEnd, ANY_FAULT, packingOf } from './finished-run.ts';
import { HandWritten } from './hand-written.ts';

function problemsOf(
  { workload }: HandWritten,
  change: Partial<FinishedRun> = {},
): readonly string[] {
  return new EndOfInputChecker().finish(aFinishedRun(workload, change));
}

/** All tuples are emitted, executed and at their end. */
function perfect(): HandWritten {
  const run = new HandWritten();
  run.execute(run.emit(), run.sink);
  run.end();
  return run;
}

function record(result: CompletionResult, ...processes: readonly string[]): Partial<FinishedRun> {
  const incidents = processes.map((process) => ({ atMs: 1, container: 1, process, reason: '' }));
  const id = topologyId('small-1');
  return {
    completion: { topologyId: id, completedAtMs: 90_000, result, incidents, recovered: [] },
  };
}

test('a run in which all come to their end once is in order', () => {
  assert.deepEqual(problemsOf(perfect()), []);
});

test('a task that never ended is named, and a spout that has input left', () => {
  const run = new HandWritten();
  const problems = problemsOf(run);
  assert.ok(problems.includes(`task ${run.sink} of sink never came to its end`));
  assert.ok(problems.includes(`task ${run.source} of source never came to its end`));
  assert.ok(problems.includes(`task ${run.source} of source read 0 of 10 tuples`));
});

test('a killed topology owes no end', () => {
  assert.deepEqual(problemsOf(new HandWritten(), { outcome: 'killed' }), []);
});

test('finish begins once in a life', () => {
  const run = perfect();
  run.workload.ledger.beginFinish(run.lifeOf(run.sink));
  assert.deepEqual(problemsOf(run), [`task ${run.sink} of sink was finished 2 times in one life`]);
});

test('a second life may finish again only when something ended the first', () => {
  const run = perfect();
  const { ledger } = run.workload;
  const again = run.restart(run.sink);
  ledger.beginFinish(again);
  ledger.end(again);
  assert.deepEqual(problemsOf(run), [`task ${run.sink} of sink came to its end twice`]);
  const { instance } = new Places(packingOf(run.workload)).of(run.sink);
  const ends = [anEnd(instance, 5000)];
  assert.deepEqual(problemsOf(run, { ends, ...record('completed-with-losses', instance) }), []);
});

test('nothing is executed once finish has begun', () => {
  const run = perfect();
  run.execute(run.emit(), run.sink);
  assert.deepEqual(problemsOf(run), [
    `task ${run.sink} executed tuple 1 after its finish had begun`,
  ]);
});

test('a completed topology has a record', () => {
  assert.deepEqual(problemsOf(perfect(), { completion: undefined }), [
    'the topology is gone and has no completion record',
  ]);
});

test('the record names processes that ended with data, and no others', () => {
  const run = perfect();
  const { instance, streamManager } = new Places(packingOf(run.workload)).of(run.sink);
  const ends = [anEnd(instance, 5000)];
  assert.deepEqual(problemsOf(run, { ends, ...record('completed-with-losses', instance) }), []);
  assert.match(problemsOf(run, { ends })[0] ?? '', /^the record \(completed\) does not name/);
  assert.deepEqual(
    problemsOf(run, { ends, ...record('completed-with-losses', streamManager, instance) }),
    [`the record names ${streamManager}, which never ended`],
  );
  assert.deepEqual(problemsOf(run, record('completed-with-losses')), [
    'the record says completed-with-losses and names 0 processes',
  ]);
});

test('the record may name a death as recovered, and only one that there was', () => {
  const run = perfect();
  const { instance, streamManager } = new Places(packingOf(run.workload)).of(run.sink);
  const recovered = [instance, streamManager].map((process) => ({
    atMs: 1,
    container: 1,
    process,
    reason: '',
  }));
  const { completion } = record('completed');
  assert.ok(completion !== undefined);
  const ends = [anEnd(instance, 5000)];
  assert.deepEqual(problemsOf(run, { ends, completion: { ...completion, recovered } }), [
    `the record names ${streamManager}, which never ended`,
  ]);
});

test('no late report excuses a record without an instance that its stream manager missed', () => {
  const run = new HandWritten();
  run.execute(run.emit(), run.sink);
  const { instance, streamManager } = new Places(packingOf(run.workload)).of(run.sink);
  const atMs = run.nowMs + 1;
  run.nowMs = 89_900;
  run.restart(run.sink);
  run.end();
  const change = { ends: [anEnd(instance, atMs)], explanation: ANY_FAULT };
  assert.deepEqual(problemsOf(run, change), [
    `the record (completed) does not name ${instance}, which ended at ${atMs} ms`,
  ]);
  const both = { ...change, ends: [anEnd(instance, atMs), anEnd(streamManager, 4)] };
  assert.deepEqual(problemsOf(run, both), []);
});

test('the record may name an instance whose connection a fault has broken', () => {
  const run = perfect();
  const { instance, streamManager } = new Places(packingOf(run.workload)).of(run.sink);
  const cut = record('completed-with-losses', instance);
  assert.deepEqual(problemsOf(run, { ...cut, explanation: ANY_FAULT }), []);
  assert.deepEqual(problemsOf(run, cut), [`the record names ${instance}, which never ended`]);
  const more = record('completed-with-losses', streamManager);
  assert.deepEqual(problemsOf(run, { ...more, explanation: ANY_FAULT }), [
    `the record names ${streamManager}, which never ended`,
  ]);
});

test('a process that ended shortly before the completion may not be in a report yet', () => {
  const run = perfect();
  const { instance } = new Places(packingOf(run.workload)).of(run.sink);
  assert.deepEqual(problemsOf(run, { ends: [anEnd(instance, 89_700)] }), []);
  assert.deepEqual(problemsOf(run, { ends: [anEnd('metricsmgr-1', 5000)] }), []);
});
