import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { taskId } from '../../../src/base/ids.ts';
import { RetirementWatch } from '../../../src/stream-manager/retirement.ts';
import { ManualClock } from '../../support/manual-clock.ts';

const TASK = taskId(7);
const SECOND_MS = 1_000;

/** A watch, and a task whose end comes: it was given sets, and two queues hold its data. */
function anEndedTask() {
  const clock = new ManualClock();
  const retired: number[] = [];
  const watch = new RetirementWatch({ clock, onRetired: (task) => retired.push(task) });
  const given = { unconsumedBytes: 0, waitingBytes: 0 };
  const queues = [
    { acceptedBytes: 100, takenBytes: 100 },
    { acceptedBytes: 50, takenBytes: 50 },
  ] as const;
  const end = (): void => watch.ended(TASK, given, queues);
  return { clock, retired, watch, given, queues, end };
}

describe('RetirementWatch', () => {
  it('tells once that a task has gone of which nothing was left', () => {
    const { clock, retired, watch, end } = anEndedTask();
    end();
    assert.deepEqual([retired, watch.isRetired(TASK)], [[], false]);
    clock.advance(SECOND_MS);
    assert.deepEqual([retired, watch.isRetired(TASK)], [[TASK], true]);
    end(); // Its instance has connected again, and repeats it.
    clock.advance(SECOND_MS);
    assert.deepEqual(retired, [TASK]);
    assert.equal(clock.pendingTimers, 0);
  });

  it('waits for what was in each queue when the end came, whatever is put in behind it', () => {
    const { clock, retired, queues, end } = anEndedTask();
    Object.assign(queues[1], { acceptedBytes: 80 });
    end();
    Object.assign(queues[0], { acceptedBytes: 500 });
    Object.assign(queues[1], { acceptedBytes: 500, takenBytes: 79 });
    clock.advance(SECOND_MS);
    assert.deepEqual(retired, []);
    Object.assign(queues[1], { takenBytes: 80 });
    clock.advance(SECOND_MS);
    assert.deepEqual(retired, [TASK]);
  });

  for (const [what, left] of [
    ['has not consumed', { unconsumedBytes: 1, waitingBytes: 0 }],
    ['has still to get', { unconsumedBytes: 0, waitingBytes: 1 }],
  ] as const) {
    it(`waits for what the task ${what}`, () => {
      const { clock, retired, given, end } = anEndedTask();
      Object.assign(given, left);
      end();
      clock.advance(SECOND_MS);
      assert.deepEqual(retired, []);
      Object.assign(given, { unconsumedBytes: 0, waitingBytes: 0 });
      clock.advance(SECOND_MS);
      assert.deepEqual(retired, [TASK]);
    });
  }

  it('tells nothing of a task that it was told to forget, and then knows it anew', () => {
    const { clock, retired, watch, end } = anEndedTask();
    end();
    watch.forget(TASK);
    assert.equal(clock.pendingTimers, 0);
    clock.advance(SECOND_MS);
    assert.deepEqual(retired, []);
    end();
    clock.advance(SECOND_MS);
    watch.forget(TASK);
    assert.deepEqual([retired, watch.isRetired(TASK)], [[TASK], false]);
  });

  it('has no timer left when it is closed', () => {
    const { clock, given, watch, end } = anEndedTask();
    Object.assign(given, { waitingBytes: 1 });
    end();
    watch.close();
    assert.equal(clock.pendingTimers, 0);
  });
});
