import assert from 'node:assert/strict';
import { describe, it, test } from 'node:test';
import { componentName, taskId } from '../../../../src/base/ids.ts';
import { EndTracker } from '../../../../src/instance/task/end-tracker.ts';
import type { PlanIndex } from '../../../../src/model/plan-index.ts';
import { changedPlan, grown, Looking, shrunk } from '../../../support/changed-plans.ts';
import { TaskInTest } from '../../../support/task-in-test.ts';
import { aTuple } from '../../../support/tuple-sets.ts';

/** Of `middle`, which reads tasks 1 and 2 of `source`. */
function aTracker(): EndTracker {
  return new EndTracker(changedPlan(1), componentName('middle'));
}

function tellEnds(ends: EndTracker, ...tasks: readonly number[]): boolean {
  for (const task of tasks) ends.ended(taskId(task));
  return ends.isComplete;
}

test('E1: input has ended when every upstream task has, however often one says so', () => {
  const ends = aTracker();
  assert.equal(tellEnds(ends, 1, 1, 7), false);
  assert.equal(ends.ended(taskId(2)), true);
});

test('E2: a task without upstream tasks never ends by itself', () => {
  const ends = new EndTracker(changedPlan(1), componentName('source'));
  assert.equal(ends.isComplete, false);
});

test('E3: a task that is new is waited for, unless its end came before the plan', () => {
  const ends = aTracker();
  tellEnds(ends, 5, 1);
  ends.follow(grown(changedPlan(2), 'source', 'source'));
  assert.equal(tellEnds(ends, 2), false);
  assert.equal(tellEnds(ends, 6), true);
});

test('E3: a task that left the plan is not waited for; one that comes back has ended', () => {
  const ends = aTracker();
  tellEnds(ends, 1);
  ends.follow(shrunk(changedPlan(2), [2], 'retiring'));
  assert.equal(ends.isComplete, false, 'not while it works off what it has');
  ends.follow(shrunk(changedPlan(3), [2], 'gone'));
  assert.equal(ends.isComplete, true);
  ends.follow(changedPlan(4));
  assert.equal(ends.isComplete, false);
  ends.follow(shrunk(changedPlan(5), [1, 2], 'gone'));
  assert.equal(ends.isComplete, false, 'E2');
});

test('E4: a new task whose tuples come before its plan is waited for', () => {
  const ends = aTracker();
  ends.heard(taskId(1));
  ends.heard(taskId(5));
  assert.equal(tellEnds(ends, 1, 2), false);
  ends.follow(changedPlan(2));
  assert.equal(ends.isComplete, false, 'that plan is not the one');
  ends.follow(grown(changedPlan(3), 'source'));
  assert.equal(tellEnds(ends, 5), true);
});

test('E4: one that has ended already, or has left the plan, is not', () => {
  const ends = aTracker();
  ends.ended(taskId(6));
  for (const task of [4, 6]) ends.heard(taskId(task));
  assert.equal(tellEnds(ends, 1, 2), true);
  ends.follow(grown(changedPlan(2), 'source', 'source', 'source'));
  assert.equal(ends.isComplete, false);
  ends.heard(taskId(7));
  ends.follow(changedPlan(3));
  ends.heard(taskId(5));
  assert.equal(ends.isComplete, true, '5 and 7 were in a plan');
});

describe('the end of input follows the plan', () => {
  for (const concurrency of ['1', '4']) {
    /** One whose two sources have ended; the plan is on its way, or not. */
    const ending = async (isPlanOnItsWay: boolean) => {
      const bolt = new Looking();
      const task = new TaskInTest(bolt, { config: { 'topology.bolt.concurrency': concurrency } });
      const run = task.start();
      await task.turn();
      if (isPlanOnItsWay) task.gateway.status.announcePlan();
      task.feedEnds();
      await task.turn();
      const givePlan = async (plan: PlanIndex): Promise<void> => {
        task.running.handlePlan(plan);
        task.ports.status.planTaken();
        task.ports.bell.ring();
        await task.turn();
      };
      return { bolt, task, run, givePlan };
    };

    it(`a plan that came before the last end counts, concurrency ${concurrency}`, async () => {
      const { bolt, task, run, givePlan } = await ending(true);
      assert.deepEqual(bolt.calls, [], 'the plan may know of a new task');
      await givePlan(grown(changedPlan(2), 'source'));
      assert.equal(bolt.calls.length, 1, 'it does');
      task.feed({ task: 5, endOfInput: true });
      assert.equal(await task.drive(run), 'ended');
      assert.deepEqual(bolt.calls.slice(1), ['finish']);
    });

    it(`and ends the bolt when it brings nothing new, concurrency ${concurrency}`, async () => {
      const { bolt, task, run, givePlan } = await ending(true);
      await givePlan(changedPlan(2));
      assert.equal(await task.drive(run), 'ended');
      assert.equal(bolt.calls.at(-1), 'finish');
    });

    it(`no plan is waited for without need, concurrency ${concurrency}`, async () => {
      const { task, run } = await ending(false);
      assert.equal(await task.drive(run), 'ended');
    });

    it(`E4: a task is waited for from its first tuple on, concurrency ${concurrency}`, async () => {
      const bolt = new Looking();
      const task = new TaskInTest(bolt, { config: { 'topology.bolt.concurrency': concurrency } });
      const run = task.start();
      task.feed({ task: 5, tuples: [aTuple('early')] });
      task.feedEnds();
      await task.turn();
      assert.deepEqual(bolt.calls, ['early']);
      task.running.handlePlan(grown(changedPlan(2), 'source'));
      task.feed({ task: 5, endOfInput: true });
      assert.equal(await task.drive(run), 'ended');
    });

    it(`a task that left the plan is not waited for, concurrency ${concurrency}`, async () => {
      const bolt = new Looking();
      const task = new TaskInTest(bolt, { config: { 'topology.bolt.concurrency': concurrency } });
      const run = task.start();
      await task.turn();
      task.feed({ task: 1, endOfInput: true });
      task.running.handlePlan(shrunk(changedPlan(2), [2], 'retiring'));
      await task.turn();
      assert.ok(!bolt.calls.includes('finish'), 'what it has in hand may still come');
      task.running.handlePlan(shrunk(changedPlan(3), [2], 'gone'));
      assert.equal(await task.drive(run), 'ended');
    });
  }
});
