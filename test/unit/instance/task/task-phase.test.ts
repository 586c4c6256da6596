import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { epoch } from '../../../../src/base/ids.ts';
import {
  advance,
  type TaskEvent,
  type TaskPhase,
} from '../../../../src/instance/task/task-phase.ts';
import type { PhysicalPlan } from '../../../../src/model/physical-plan.ts';
import { linePlan } from '../../../support/task-in-test.ts';

function aPlan(number: number, state: PhysicalPlan['topology']['state']): PhysicalPlan {
  return { ...linePlan, epoch: epoch(number), topology: { ...linePlan.topology, state } };
}

const running1 = aPlan(1, 'RUNNING');
const paused2 = aPlan(2, 'PAUSED');
const running3 = aPlan(3, 'RUNNING');
const killed4 = aPlan(4, 'KILLED');
const plan = (of: PhysicalPlan): TaskEvent => ({ kind: 'plan', plan: of });

/** The steps that these events ask for, in order. */
function stepsAt(...events: TaskEvent[]): string {
  let phase: TaskPhase = { at: 'awaiting-plan' };
  const steps = events.map((event) => {
    const decision = advance(phase, event);
    phase = decision.phase;
    return decision.step;
  });
  return `${steps.join(' ')}, then ${phase.at}`;
}

const opened: TaskEvent = { kind: 'opened' };
const ended: TaskEvent = { kind: 'ended' };
const stop: TaskEvent = { kind: 'stop' };

describe('the life of a task', () => {
  it('opens with the first plan, runs, and stops', () => {
    assert.equal(stepsAt(plan(running1), opened, stop), 'open run stop, then stopping');
    assert.equal(stepsAt(plan(running1), opened, ended, stop), 'open run none stop, then stopping');
  });

  it('P1: opens once, and begins with the newest plan', () => {
    assert.equal(stepsAt(plan(running1), plan(paused2), opened), 'open none run, then running');
    const opening = advance({ at: 'opening', plan: running1 }, plan(paused2)).phase;
    const { phase } = advance(opening, opened);
    assert.equal(phase.at === 'running' && phase.plan, paused2);
  });

  it('P2: activates and deactivates in turn', () => {
    assert.equal(
      stepsAt(plan(running1), opened, plan(paused2), plan(paused2), plan(running3)),
      'open run deactivate none activate, then running',
    );
  });

  it('P6: is drained once, whatever it did before, and for good', () => {
    assert.equal(
      stepsAt(plan(running1), opened, plan(killed4), plan(killed4), plan(aPlan(5, 'RUNNING'))),
      'open run drain none none, then running',
    );
    assert.equal(
      stepsAt(plan(paused2), opened, plan(killed4), ended, stop),
      'open run drain none stop, then stopping',
    );
    // The shell drains what begins to run with such a plan.
    assert.equal(stepsAt(plan(running1), plan(killed4), opened), 'open none run, then running');
  });

  it('P3: takes no notice of an older plan', () => {
    assert.equal(stepsAt(plan(running3), opened, plan(paused2)), 'open run none, then running');
    const opening: TaskPhase = { at: 'opening', plan: running3 };
    assert.equal(advance(opening, plan(paused2)).phase, opening);
  });

  it('P5: does nothing any more when it is stopping', () => {
    assert.equal(
      stepsAt(stop, plan(running1), opened, ended, stop),
      'stop none none none none, then stopping',
    );
    assert.equal(stepsAt(plan(running1), stop, opened), 'open stop none, then stopping');
  });

  it('leaves a component alone that has ended', () => {
    assert.equal(
      stepsAt(plan(running1), opened, ended, plan(paused2), ended),
      'open run none none none, then ended',
    );
  });

  it('waits for what comes first', () => {
    assert.equal(stepsAt(opened, ended), 'none none, then awaiting-plan');
    assert.equal(stepsAt(plan(running1), ended), 'open none, then opening');
  });

  it('P4: makes no component when the task had ended before', () => {
    assert.equal(
      stepsAt({ kind: 'ended-before' }, plan(running1), plan(paused2), opened, ended, stop),
      'none none none none none stop, then stopping',
    );
    assert.equal(
      stepsAt(plan(running1), { kind: 'ended-before' }, opened),
      'open none run, then running',
    );
  });
});
