import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { FinishedRun, ProcessEnd } from '../../../../src/simulation/checkers/checker.ts';
import { DeathChecker } from '../../../../src/simulation/checkers/death-checker.ts';
import { Places } from '../../../../src/simulation/checkers/places.ts';
import { aBoltPlan, aWorkloadPlan } from '../workload/small-workloads.ts';
import { aFinishedRun, ANY_FAULT, anEnd, packingOf } from './finished-run.ts';
import { HandWritten } from './hand-written.ts';

function problemsOf(
  { workload }: HandWritten,
  ends: readonly ProcessEnd[],
  change: Partial<FinishedRun> = {},
): readonly string[] {
  return new DeathChecker().finish(aFinishedRun(workload, { ends, ...change }));
}

test('an end without a cause is named, with what the process said', () => {
  const end = anEnd('stmgr-1', 5, { code: 69, signal: null, reason: 'the master is away' });
  assert.deepEqual(problemsOf(new HandWritten(), [end]), [
    'stmgr-1 (process 100) ended with code 69 at 5 ms: the master is away',
  ]);
});

test('a fault explains an end, but no failed assertion, not even at the very end', () => {
  const run = new HandWritten();
  const explanation = ANY_FAULT;
  const end = anEnd('stmgr-1', 5, { code: 1, signal: null });
  assert.deepEqual(problemsOf(run, [end], { explanation }), []);
  const failed = { ...end, reason: 'AssertionError: C1: a set is sent only while …' };
  assert.match(problemsOf(run, [failed], { explanation })[0] ?? '', /an assertion failed/);
  assert.equal(problemsOf(run, [{ ...failed, atMs: 99_000 }], { explanation }).length, 1);
});

test('user code that throws is good for one end of its instance', () => {
  const run = new HandWritten();
  const { instance } = new Places(packingOf(run.workload)).of(run.sink);
  const died = (atMs: number) => anEnd(instance, atMs, { code: 70, signal: null });
  run.nowMs = 40;
  run.workload.ledger.throws(run.lifeOf(run.sink));
  assert.deepEqual(problemsOf(run, [died(50)]), []);
  assert.equal(problemsOf(run, [died(30)]).length, 1, 'it had not thrown yet');
  assert.equal(problemsOf(run, [died(50), died(60)]).length, 1);
  assert.equal(problemsOf(run, [anEnd(instance, 50)]).length, 1, 'nobody kills it for that');
  const other = anEnd('stmgr-1', 50, { code: 70, signal: null });
  assert.equal(problemsOf(run, [other]).length, 1);
});

test('while the topology is taken down processes end in an orderly way', () => {
  const run = new HandWritten();
  const late = (change: Partial<ProcessEnd>) => anEnd('stmgr-1', 95_000, change);
  assert.deepEqual(problemsOf(run, [late({ code: 0, signal: null })]), []);
  assert.deepEqual(problemsOf(run, [late({ signal: 'SIGTERM' })]), []);
  assert.equal(problemsOf(run, [late({ code: 1, signal: null })]).length, 1);
  assert.equal(problemsOf(run, [late({ signal: 'SIGKILL' })]).length, 1);
  assert.equal(problemsOf(run, [anEnd('stmgr-1', 5, { code: 0, signal: null })]).length, 1);
});

test('a process may be held up at its orderly end by what delays it', () => {
  const run = new HandWritten();
  const reason = 'heron-tmanager ends by force: the shutdown took longer than 500 ms';
  const end = anEnd('heron-tmanager', 95_000, { code: 1, signal: null, reason });
  assert.equal(problemsOf(run, [end]).length, 1);
  const explanation = { ...ANY_FAULT, explainsEnd: () => false };
  assert.deepEqual(problemsOf(run, [end], { explanation }), []);
  assert.equal(problemsOf(run, [{ ...end, reason: '' }], { explanation }).length, 1);
  assert.equal(problemsOf(run, [{ ...end, atMs: 5 }], { explanation }).length, 1);
});

test('a process may be held up by one that it has a connection with', () => {
  const reason = 'heron-tmanager ends by force: the shutdown took longer than 500 ms';
  const end = anEnd('heron-tmanager', 95_000, { code: 1, signal: null, reason });
  const standingStill = (name: string) => ({
    ...ANY_FAULT,
    explainsEnd: () => false,
    explainsDelay: ({ processes }: { processes: readonly string[] }) => processes.includes(name),
  });
  const problemsBeside = (name: string): number =>
    problemsOf(new HandWritten(), [end], { explanation: standingStill(name) }).length;
  assert.equal(problemsBeside('metricsmgr-0'), 0);
  assert.equal(problemsBeside('executor-0'), 1);
});

test('a process whose code hangs may have to be killed then', () => {
  const faults = [{ kind: 'hang', taskIndex: 0, atCall: 1, forMs: 9000 }] as const;
  const run = new HandWritten(undefined, aWorkloadPlan({ bolts: [aBoltPlan({ faults })] }));
  assert.deepEqual(problemsOf(run, [anEnd('container_1_sink_1', 95_000)]), []);
});
