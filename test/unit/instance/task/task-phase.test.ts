import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { epoch, taskId } from '../../../../src/base/ids.ts';
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

/** Of `source`, a spout; 2 is the other task of it. */
const TASK = taskId(1);

const running1 = aPlan(1, 'RUNNING');
const paused2 = aPlan(2, 'PAUSED');
const running3 = aPlan(3, 'RUNNING');
const killed4 = aPlan(4, 'KILLED');
const plan = (of: PhysicalPlan): TaskEvent => ({ kind: 'plan', plan: of });

/** The steps that these events ask for, in order. */
function stepsAt(...events: TaskEvent[]): string {
  let phase: TaskPhase = { at: 'awaiting-plan' };
  const steps = events.map((event) => {
    const decision = advance(TASK, phase, event);
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
    const opening = advance(TASK, { at: 'opening', plan: running1 }, plan(paused2)).phase;
    const { phase } = advance(TASK, opening, opened);
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
    assert.equal(advance(TASK, opening, plan(paused2)).phase, opening);
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

  it('P6: is drained when an update takes it away, and heeds pauses meanwhile', () => {
    const retiring = (number: number, state: 'RUNNING' | 'PAUSED' | 'KILLED') =>
      plan(changed(aPlan(number, state), 1, { isRetiring: true }));
    assert.equal(
      stepsAt(plan(running1), opened, retiring(2, 'RUNNING'), retiring(3, 'PAUSED')),
      'open run drain deactivate, then running',
    );
    assert.equal(
      stepsAt(retiring(2, 'RUNNING'), opened, retiring(3, 'KILLED'), retiring(4, 'RUNNING')),
      'open run none none, then running',
    );
    assert.equal(
      stepsAt(plan(running1), opened, retiring(2, 'RUNNING'), ended, plan(running3)),
      'open run drain none none, then ended',
    );
  });

  it('P7: takes no notice of a plan without it', () => {
    const without = (number: number) => plan(changed(aPlan(number, 'PAUSED'), 1, undefined));
    assert.equal(
      stepsAt(without(1), plan(running3), without(4), opened, without(5)),
      'none open none run none, then running',
    );
    assert.equal(stepsAt(without(9), stop), 'none stop, then stopping');
  });

  it('P8: waits until its place is free', () => {
    const index = linePlan.instances[0]?.componentIndex ?? assert.fail('it is in the plan');
    const held = (number: number) =>
      plan(changed(aPlan(number, 'RUNNING'), 2, { isRetiring: true, componentIndex: index }));
    const free = plan(changed(aPlan(4, 'RUNNING'), 2, undefined));
    assert.equal(
      stepsAt(held(2), held(3), plan(running1), free, opened, held(5)),
      'await-place none none open run none, then running',
    );
    assert.equal(
      stepsAt(held(2), { kind: 'ended-before' }, free),
      'await-place none none, then ended-before',
    );
    assert.equal(stepsAt(held(2), stop, free), 'await-place stop none, then stopping');
    const elsewhere = changed(aPlan(2, 'RUNNING'), 2, { isRetiring: true });
    assert.equal(stepsAt(plan(elsewhere)), 'open, then opening', 'another index');
  });

  it('P8: the one that goes away does not wait, and neither does a bolt', () => {
    const both = changed(aPlan(2, 'RUNNING'), 1, { isRetiring: true });
    assert.equal(stepsAt(plan(changed(both, 2, { componentIndex: 0 }))), 'open, then opening');
    const [first] = linePlan.instances;
    const middle = linePlan.instances.find(({ task }) => task === 3);
    assert.ok(first && middle);
    const task = taskId(9);
    const instances = [...linePlan.instances, { ...middle, task }];
    const bolts = changed({ ...linePlan, instances }, 3, { isRetiring: true });
    const { step } = advance(task, { at: 'awaiting-plan' }, plan(bolts));
    assert.equal(step, 'open');
  });
});

/** The plan with a change of one task, or without it. */
function changed(
  { instances, ...rest }: PhysicalPlan,
  task: number,
  change: Partial<PhysicalPlan['instances'][number]> | undefined,
): PhysicalPlan {
  return {
    ...rest,
    instances: instances.flatMap((one) => {
      if (one.task !== task) return [one];
      return change === undefined ? [] : [{ ...one, ...change }];
    }),
  };
}
