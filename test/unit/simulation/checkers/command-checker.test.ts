import assert from 'node:assert/strict';
import { test } from 'node:test';
import { taskId } from '../../../../src/base/ids.ts';
import type { CommandRecord, FinishedRun } from '../../../../src/simulation/checkers/checker.ts';
import { CommandChecker } from '../../../../src/simulation/checkers/command-checker.ts';
import { aFinishedRun, ANY_FAULT, packingOf } from './finished-run.ts';
import { aBoltPlan, aSpoutPlan, aWorkloadPlan } from '../workload/small-workloads.ts';
import { HandWritten } from './hand-written.ts';

function problemsOf(
  commands: readonly CommandRecord[],
  change: Partial<FinishedRun> = {},
  { workload } = new HandWritten(),
): readonly string[] {
  return new CommandChecker().finish(aFinishedRun(workload, { commands, ...change }));
}

function aCommand(change: Partial<CommandRecord> = {}): CommandRecord {
  return {
    command: 'deactivate',
    givenAtMs: 1000,
    returnedAtMs: 1500,
    error: undefined,
    reachedAtMs: 1400,
    ...change,
  };
}

test('a command that returns and comes true is in order', () => {
  assert.deepEqual(problemsOf([aCommand()]), []);
});

test('one that never returns, fails, or does not come true is named', () => {
  const never = aCommand({ returnedAtMs: undefined, reachedAtMs: undefined });
  assert.deepEqual(problemsOf([never]), ['deactivate, given at 1000 ms, never returned']);
  assert.deepEqual(problemsOf([aCommand({ error: 'no master', reachedAtMs: undefined })]), [
    'deactivate, given at 1000 ms, failed: no master',
  ]);
  assert.deepEqual(problemsOf([aCommand({ reachedAtMs: undefined })]), [
    'what deactivate at 1000 ms asked for never came to be',
  ]);
  assert.deepEqual(problemsOf([aCommand({ reachedAtMs: 30_000 })]), [
    'what deactivate at 1000 ms asked for came to be at 30000 ms',
  ]);
});

test('faults excuse delay and failure, but not a success that never comes true', () => {
  const explanation = ANY_FAULT;
  assert.deepEqual(problemsOf([aCommand({ error: 'no master' })], { explanation }), []);
  assert.deepEqual(problemsOf([aCommand({ returnedAtMs: 60_000 })], { explanation }), []);
  assert.deepEqual(problemsOf([aCommand({ reachedAtMs: 60_000 })], { explanation }), []);
  assert.equal(problemsOf([aCommand({ reachedAtMs: undefined })], { explanation }).length, 1);
});

test('an update may ask in vain for tasks of what has ended, and for nothing else', () => {
  const update = aCommand({ command: 'update', reachedAtMs: undefined });
  const problemsWith = (run: HandWritten, command = update) => {
    const packing = packingOf(run.workload);
    const [first, ...others] = packing.containers;
    assert.ok(first !== undefined);
    const [instance] = first.instances.filter(({ component }) => component === 'source');
    const instances = [...first.instances, { ...(instance ?? assert.fail()), task: taskId(99) }];
    const grown = { ...packing, containers: [{ ...first, instances }, ...others] };
    return problemsOf([command], { packing: grown }, run);
  };
  const running = new HandWritten();
  assert.equal(problemsWith(running).length, 1);
  const ended = new HandWritten();
  ended.nowMs = 900;
  ended.end();
  assert.deepEqual(problemsWith(ended), []);
  assert.equal(problemsWith(ended, { ...update, command: 'deactivate' }).length, 1);
  assert.equal(problemsOf([update], {}, ended).length, 1);
});

test('a command that the end or a later command overtakes owes nothing', () => {
  const command = aCommand({ reachedAtMs: undefined });
  assert.deepEqual(problemsOf([command], { takenDownFromMs: 1600 }), []);
  const later = aCommand({ command: 'activate', givenAtMs: 1550, returnedAtMs: 1600 });
  assert.deepEqual(problemsOf([command, later]), []);
});

test('the spouts of a paused topology are silent until it is activated', () => {
  const run = new HandWritten();
  const commands = [
    aCommand(),
    aCommand({ command: 'activate', givenAtMs: 9000, returnedAtMs: 9100, reachedAtMs: 9050 }),
  ];
  for (const atMs of [900, 1800, 9500]) {
    run.nowMs = atMs; // Before, in the time to settle, and after.
    run.emit();
  }
  assert.deepEqual(problemsOf(commands, {}, run), []);
  run.nowMs = 5000;
  run.emit();
  assert.deepEqual(problemsOf(commands, {}, run), [
    `task ${run.source} of source emitted tuple 3 at 5000 ms, paused`,
  ]);
  assert.deepEqual(problemsOf(commands, { explanation: ANY_FAULT }, run), []);
});

test('a call that began before the pause may emit when its own time is over', () => {
  const spouts = [aSpoutPlan({ pace: { kind: 'awaited', everyMs: 1200 } })];
  const run = new HandWritten(undefined, aWorkloadPlan({ spouts, bolts: [aBoltPlan()] }));
  const commands = [aCommand()];
  run.nowMs = 3000; // It was seen to be paused at 1400, and has 500 ms to hear of it.
  run.emit();
  assert.deepEqual(problemsOf(commands, {}, run), []);
  run.nowMs = 3200;
  run.emit();
  assert.deepEqual(problemsOf(commands, {}, run), [
    `task ${run.source} of source emitted tuple 1 at 3200 ms, paused`,
  ]);
});

test('an update that was given earlier counts when it stores its plan later', () => {
  const update = { command: 'update', givenAtMs: 1200, reachedAtMs: undefined } as const;
  const replaced = aCommand(update);
  const problemsBeside = (change: Partial<CommandRecord>) => {
    const earlier = aCommand({ command: 'update', givenAtMs: 1100, ...change });
    return problemsOf([earlier, replaced]).filter((text) => text.includes('1200 ms'));
  };
  assert.deepEqual(problemsBeside({ returnedAtMs: 1600 }), []);
  assert.equal(problemsBeside({ returnedAtMs: 1400 }).length, 1, 'it had stored its plan before');
  assert.equal(problemsBeside({ returnedAtMs: 1600, error: 'refused' }).length, 1);
  assert.equal(problemsBeside({ returnedAtMs: undefined }).length, 1);
  assert.equal(problemsBeside({ returnedAtMs: 1600, command: 'configure' }).length, 1);
});
