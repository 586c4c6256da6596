import assert from 'node:assert/strict';
import { test } from 'node:test';
import { componentName, streamManagerId, type TaskId } from '../../../../src/base/ids.ts';
import type { PhysicalPlan } from '../../../../src/model/physical-plan.ts';
import { Places } from '../../../../src/simulation/checkers/places.ts';
import { PressureChecker } from '../../../../src/simulation/checkers/pressure-checker.ts';
import { RunHistory } from '../../../../src/simulation/checkers/run-history.ts';
import { StartBackPressure, StopBackPressure } from '../../../../src/wire/messages.ts';
import { ANY_FAULT, anEnd, NO_FAULTS, packingOf } from './finished-run.ts';
import { ScriptedTraffic } from './scripted-traffic.ts';
import { TrackedRun } from './tracked-run.ts';

const LEASE_MS = 3000;

/** A spout, and a sink in another container that is behind. */
function aCase(config: Readonly<Record<string, string>> = {}) {
  const run = new TrackedRun(config);
  const packing = packingOf(run.workload);
  const places = new Places(packing);
  const holder = places.of(run.source).streamManager;
  const task = run.sinks.find((sink) => places.of(sink).streamManager !== holder) ?? assert.fail();
  const owner = places.of(task).streamManager;
  const checker = new PressureChecker(packing, run.workload.plan);
  const traffic = new ScriptedTraffic(checker);
  let sinceMs: number | undefined;
  const view = (process: string, announced: readonly TaskId[], holds: readonly string[]) =>
    traffic.tell({
      kind: 'pressure',
      atMs: traffic.atMs,
      process,
      pid: 1,
      liveTrees: 0,
      view: {
        announced,
        holds: holds.map((component) => ({
          streamManager: streamManagerId(owner),
          task,
          component: componentName(component),
          sinceMs: sinceMs ?? 0,
          untilMs: undefined,
        })),
        held: new Set(holds.length > 0 ? [run.source] : []),
      },
    });
  const ownView = (isBehind: boolean) =>
    traffic.tell({
      kind: 'pressure',
      atMs: traffic.atMs,
      process: owner,
      pid: 1,
      liveTrees: 0,
      view: {
        announced: isBehind ? [task] : [],
        holds: isBehind
          ? [
              {
                streamManager: streamManagerId(owner),
                task,
                component: componentName('sink'),
                sinceMs: 0,
                untilMs: undefined,
              },
            ]
          : [],
        held: new Set(),
      },
    });
  return {
    traffic,
    /** A look at both, a tenth of a second after the last one. */
    look: (isBehind: boolean, isHeld: boolean) => {
      traffic.atMs += 100;
      if (isHeld) sinceMs ??= traffic.atMs;
      // Its own spouts are none.
      ownView(isBehind);
      view(holder, [], isHeld ? ['sink'] : []);
    },
    /** As `look`, at the other stream manager only: this one has ended. */
    lookAtHolder: (isHeld: boolean) => {
      traffic.atMs += 100;
      view(holder, [], isHeld ? ['sink'] : []);
    },
    hold: (component: string) => view(holder, [], [component]),
    holdNobody: () =>
      traffic.tell({
        kind: 'pressure',
        atMs: traffic.atMs,
        process: holder,
        pid: 1,
        liveTrees: 0,
        view: {
          announced: [],
          holds: [
            {
              streamManager: streamManagerId(owner),
              task,
              component: componentName('sink'),
              sinceMs: 0,
              untilMs: undefined,
            },
          ],
          held: new Set<TaskId>(),
        },
      }),
    start: () =>
      traffic.send(
        { connection: 4, from: owner, to: holder },
        StartBackPressure,
        StartBackPressure.create({
          topologyName: 't',
          topologyId: 't-1',
          stmgr: owner,
          messageId: '1',
          component: 'sink',
          taskId: task,
          leaseMs: BigInt(LEASE_MS),
        }),
      ),
    stop: () =>
      traffic.send(
        { connection: 4, from: owner, to: holder },
        StopBackPressure,
        StopBackPressure.create({
          topologyName: 't',
          topologyId: 't-1',
          stmgr: owner,
          messageId: '2',
          component: 'sink',
          taskId: task,
        }),
      ),
    end: () => traffic.tell(anEnd(owner, traffic.atMs)),
    problems: (explanation = NO_FAULTS, ends = [anEnd('stmgr-9', 1)]) =>
      checker.finish(run.finished({ explanation, ends })),
    /** In a run without faults whose last plan has these stream managers. */
    problemsByPlanOf: (...holders: readonly string[]) => {
      const history = new RunHistory(packing);
      const streamManagers = holders.map((id) => ({ id }));
      const plan = { epoch: 3, streamManagers, instances: [{ task }] };
      history.notePlan(plan as unknown as PhysicalPlan, 0);
      return checker.finish(run.finished({ explanation: NO_FAULTS, ends: [], history }));
    },
    holder,
    owner,
  };
}

test('spouts hold while somebody is behind, and for a moment longer', () => {
  const { look, start, problems } = aCase();
  start();
  for (let at = 0; at < 5; at += 1) look(true, true);
  for (let at = 0; at < 5; at += 1) look(false, true);
  for (let at = 0; at < 50; at += 1) look(false, false);
  assert.deepEqual(problems(), []);
});

test('a hold that is not taken back is found, unless a fault delays the news', () => {
  const { look, start, problems } = aCase();
  start();
  look(true, true);
  for (let at = 0; at < 15; at += 1) look(false, true);
  assert.match(problems()[0] ?? '', /held for task \d+ at 1200 ms, of which .* not since 100 ms/);
  assert.deepEqual(problems(ANY_FAULT), []);
});

test('a hold that is missing is found, unless a fault delays the news', () => {
  const { look, start, problems } = aCase();
  start();
  for (let at = 0; at < 3; at += 1) look(true, true);
  for (let at = 0; at < 4; at += 1) look(true, false);
  assert.match(problems()[0] ?? '', /did not hold for task \d+ of stmgr-\d from 400 ms to 700 ms/);
  assert.deepEqual(problems(ANY_FAULT), []);
});

test('nobody has to hold for a stream manager that has ended, until it is behind again', () => {
  const { look, lookAtHolder, start, end, problems } = aCase();
  start();
  look(true, true);
  end();
  for (let at = 0; at < 10; at += 1) lookAtHolder(false);
  assert.deepEqual(problems(), []);
  for (let at = 0; at < 4; at += 1) look(true, false);
  assert.match(problems()[0] ?? '', /did not hold for task \d+ of stmgr-\d from 1200 ms/);
});

test('a task that comes and goes between looks is not missed, one that stays is', () => {
  const { look, start, stop, traffic, problems } = aCase();
  for (let at = 0; at < 10; at += 1) {
    look(true, false); // It begins to be behind a moment before each look.
    start();
    traffic.atMs += 50;
    stop();
  }
  assert.deepEqual(problems(), []);
  for (let at = 0; at < 4; at += 1) look(true, false);
  assert.match(problems()[0] ?? '', /did not hold .* from 1500 ms to 1800 ms/);
});

test('a lease has an end, and no fault is an excuse', () => {
  const { look, start, problems } = aCase();
  start();
  for (let at = 0; at < 30; at += 1) look(true, true);
  assert.deepEqual(problems(ANY_FAULT), []);
  start();
  for (let at = 0; at < 30; at += 1) look(true, true);
  assert.deepEqual(problems(ANY_FAULT), []);
  for (let at = 0; at < 7; at += 1) look(true, true);
  assert.match(problems(ANY_FAULT)[0] ?? '', /its lease began at 3000 ms/);
});

test('whoever was not looked at for a while is judged anew', () => {
  const { look, start, traffic, problems } = aCase();
  start();
  look(true, true);
  traffic.atMs += 20_000; // Paused.
  look(false, true);
  look(false, false);
  assert.deepEqual(problems(), []);
});

test('only spouts hold whose tuples reach the component', () => {
  const upstream = aCase();
  upstream.hold('last');
  assert.deepEqual(upstream.problems(), []);
  const none = aCase();
  none.holdNobody();
  assert.match(none.problems()[0] ?? '', /held tasks \[\] in place of \[\d+\]/);
});

test('nobody is behind when a topology has completed, where nothing went wrong', () => {
  const { look, start, problems } = aCase();
  start();
  look(true, true);
  assert.match(problems(NO_FAULTS, [])[0] ?? '', /never told stmgr-\d that task \d+ is not/);
  assert.deepEqual(problems(NO_FAULTS), []);
});

test('a stream manager that an update took away is told nothing more', () => {
  const { look, start, problemsByPlanOf, holder, owner } = aCase();
  start();
  look(true, true);
  assert.equal(problemsByPlanOf(holder, owner).length, 1);
  assert.deepEqual(problemsByPlanOf(owner), []);
});
