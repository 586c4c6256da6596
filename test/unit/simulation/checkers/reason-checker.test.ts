import assert from 'node:assert/strict';
import { test } from 'node:test';
import { componentName } from '../../../../src/base/ids.ts';
import type { SimulationEvent } from '../../../../src/simulation/checkers/checker.ts';
import { ExpectedRouting } from '../../../../src/simulation/checkers/expected-routing.ts';
import { Places } from '../../../../src/simulation/checkers/places.ts';
import type { PhysicalPlan } from '../../../../src/model/physical-plan.ts';
import { ReasonChecker } from '../../../../src/simulation/checkers/reason-checker.ts';
import { RunHistory } from '../../../../src/simulation/checkers/run-history.ts';
import { ANY_FAULT, anEnd, packingOf } from './finished-run.ts';
import { TrackedRun } from './tracked-run.ts';

function problemsOf(
  run: TrackedRun,
  events: readonly SimulationEvent[] = [],
  change: Parameters<TrackedRun['finished']>[0] = {},
): readonly string[] {
  const checker = new ReasonChecker();
  for (const event of events) checker.observe(event);
  return checker.finish(run.finished(change));
}

const sink = componentName('sink');
const error = { message: 'no', stack: undefined };

test('a time-out is true when something was missing', () => {
  const run = new TrackedRun();
  const message = run.send();
  run.nowMs = 2000;
  run.fail(message, { kind: 'time-out' });
  assert.deepEqual(problemsOf(run), []);
});

test('one of a tree that had been acked is not, unless acks may have been lost or late', () => {
  const run = new TrackedRun();
  const message = run.send();
  run.settle(message, run.sink);
  run.nowMs = 3000;
  run.fail(message, { kind: 'time-out' });
  assert.match(problemsOf(run)[0] ?? '', /although every bolt had acked it/);
  const { instance } = new Places(packingOf(run.workload)).of(run.sink);
  assert.deepEqual(problemsOf(run, [anEnd(instance, 100)]), []);
  assert.equal(problemsOf(run, [anEnd('metricsmgr-1', 100)]).length, 1);
  assert.deepEqual(problemsOf(run, [], { explanation: ANY_FAULT }), []);
});

/** A task acks a message at 100 ms, and one hangs then; the time-out comes at 3,000 ms. */
function hungProblems(
  hang: { readonly task?: 'other'; readonly fromMs: number; readonly forMs: number },
  workMs = 0,
): readonly string[] {
  const run = new TrackedRun();
  const message = run.send();
  run.nowMs = 100;
  run.settle(message, run.sink);
  run.nowMs = hang.fromMs;
  const task = hang.task === 'other' ? run.otherSink : run.sink;
  run.workload.ledger.hang(run.lifeOf(task), hang.forMs);
  run.nowMs = 3000;
  run.fail(message, { kind: 'time-out' });
  const { workload } = run;
  const bolts = workload.plan.bolts.map((bolt) => ({ ...bolt, workMs }));
  return problemsOf(run, [], { workload: { ...workload, plan: { ...workload.plan, bolts } } });
}

test('an ack does not leave its process while code hangs in the same slice', () => {
  for (const fromMs of [100, 110]) assert.deepEqual(hungProblems({ fromMs, forMs: 4800 }), []);
  assert.deepEqual(hungProblems({ fromMs: 150, forMs: 4800 }, 40), [], 'after another call');
  // It was over long before, began long after or before the ack, or was not in its process.
  for (const hang of [
    { fromMs: 100, forMs: 1800 },
    { fromMs: 150, forMs: 4800 },
    { fromMs: 99, forMs: 4800 },
    { fromMs: 100, forMs: 4800, task: 'other' },
  ] as const) {
    const [problem = ''] = hungProblems(hang);
    assert.match(problem, /although every bolt had acked it/, JSON.stringify(hang));
  }
});

test('nor is one of a tree that was lost with an instance, as its stream manager knew', () => {
  const run = new TrackedRun();
  const places = new Places(packingOf(run.workload));
  const message = run.send();
  const child = run.derive(message, run.sink);
  run.settle(message, run.sink);
  run.nowMs = 3000;
  run.fail(message, { kind: 'time-out' });
  const routing = new ExpectedRouting(run.workload.plan, packingOf(run.workload));
  const last = places.of(routing.tasksOf('last')[0] ?? assert.fail()).instance;
  const problem = problemsOf(run, [anEnd(last, 500)])[0] ?? '';
  assert.match(problem, new RegExp(`although tuple ${child} was lost with ${last} at 500 ms`));
  for (const atMs of [5, 2800]) assert.deepEqual(problemsOf(run, [anEnd(last, atMs)]), []);
  const other = places.of(run.sink).instance;
  assert.deepEqual(problemsOf(run, [anEnd(last, 500), anEnd(other, 600)]), []);
});

test('nor is any where there are none', () => {
  const run = new TrackedRun({
    'topology.enable.message.timeouts': 'false',
    'topology.message.timeout.secs': '30',
  });
  const message = run.send();
  run.nowMs = 60_000;
  run.fail(message, { kind: 'time-out' });
  assert.match(problemsOf(run)[0] ?? '', /and there are none/);
});

test('what is said to have failed must have, in that way and there', () => {
  for (const [kind, how] of [
    ['explicit', 'failed'],
    ['thrown', 'thrown'],
  ] as const) {
    const run = new TrackedRun();
    const [message, other] = [run.send(), run.send()];
    run.settle(message, run.sink, how);
    const reason = { kind, component: sink, task: run.sink, error };
    run.fail(message, reason);
    assert.deepEqual(problemsOf(run), []);
    run.fail(other, reason);
    assert.match(problemsOf(run)[0] ?? '', /message 1, .* which no such task did/);
  }
});

test('the task and the error belong to it', () => {
  for (const change of [{ task: undefined }, { error: undefined }, { component: undefined }]) {
    const run = new TrackedRun();
    const message = run.send();
    run.settle(message, run.sink, 'failed');
    run.fail(message, { kind: 'explicit', component: sink, task: run.sink, error, ...change });
    assert.equal(problemsOf(run).length, 1, JSON.stringify(change));
  }
});

test('what is said to be lost must have had an end', () => {
  const run = new TrackedRun();
  const message = run.send();
  run.nowMs = 500;
  run.fail(message, { kind: 'lost-instance', component: sink, task: run.sink });
  assert.match(problemsOf(run)[0] ?? '', /and no instance was/);
  const places = new Places(packingOf(run.workload));
  assert.deepEqual(problemsOf(run, [anEnd(places.of(run.sink).instance, 400)]), []);
  assert.equal(problemsOf(run, [anEnd(places.of(run.otherSink).instance, 400)]).length, 1);
  assert.equal(problemsOf(run, [anEnd(places.of(run.sink).instance, 900)]).length, 1, 'later');
});

test('a lost stream manager may be a lost connection', () => {
  const run = new TrackedRun();
  const message = run.send();
  run.nowMs = 500;
  run.fail(message, { kind: 'lost-stream-manager' });
  assert.match(problemsOf(run)[0] ?? '', /and none was/);
  const bytes = { kind: 'bytes', atMs: 1, connection: 3, from: 'stmgr-1/main' } as const;
  const ended = { kind: 'connection-end', atMs: 300, connection: 3 } as const;
  for (const [to, excuses] of [
    ['stmgr-2', true],
    ['container_1_source_1/gateway', true],
    ['heron-tmanager', false],
  ] as const) {
    const events = [{ ...bytes, to, bytes: new Uint8Array(1) }, ended];
    assert.equal(problemsOf(run, events).length === 0, excuses, to);
  }
});

test('a dropped tuple was asked for', () => {
  for (const isAsked of [true, false]) {
    const run = new TrackedRun({ 'topology.droptuples.upon.backpressure': String(isAsked) });
    run.fail(run.send(), { kind: 'dropped' });
    assert.equal(problemsOf(run).length, isAsked ? 0 : 1);
  }
});

test('or user code has named a task that retires, once it does', () => {
  const retiresAtMs = 1_000;
  const problemsWith = (kind: 'direct' | 'shuffle', failedAtMs: number) => {
    const run = new TrackedRun();
    const { workload } = run;
    run.nowMs = failedAtMs;
    run.fail(run.send(), { kind: 'dropped' });
    const history = new RunHistory(packingOf(workload));
    const retiring = { instances: [{ task: run.sink, isRetiring: true }], epoch: 2 };
    history.notePlan(retiring as unknown as PhysicalPlan, retiresAtMs);
    const input = { component: 'source', stream: 'default', grouping: { kind } } as const;
    const bolts = workload.plan.bolts.map((bolt) =>
      bolt.name === 'sink' ? { ...bolt, inputs: [input] } : bolt,
    );
    const plan = { ...workload.plan, bolts };
    return new ReasonChecker().finish(run.finished({ history, workload: { ...workload, plan } }));
  };
  assert.deepEqual(problemsWith('direct', retiresAtMs), []);
  assert.equal(problemsWith('direct', retiresAtMs - 1).length, 1);
  assert.equal(problemsWith('shuffle', retiresAtMs).length, 1);
});
