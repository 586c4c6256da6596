import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { AckingBolt } from '../../support/acking-bolt.ts';
import { eventually } from '../../support/eventually.ts';
import {
  plan,
  FIRST,
  SECOND,
  numbered,
  registered,
  running,
  begin,
  retired,
  worksBy,
} from '../../support/live-updates.ts';
import type { RunningStreamManagers } from '../../support/running-stream-managers.ts';
import type { ScriptedInstance } from '../../support/scripted-instance.ts';
import { updated } from '../../support/updated-plans.ts';

describe('a stream manager that starts again in the middle of an update', () => {
  /** Container 2 gets another stream manager, with which the instances that are named connect. */
  async function restart(managers: RunningStreamManagers, ...tasks: readonly number[]) {
    const { data, localData } = managers.managerOf(2).manager.ports;
    await managers.managerOf(2).stop();
    await managers.startManager(SECOND, { dataPort: data, localDataPort: localData });
    const instances = new Map<number, ScriptedInstance>();
    for (const task of tasks) instances.set(task, await managers.instance(task));
    return (task: number): ScriptedInstance =>
      instances.get(task) ?? assert.fail(`task ${task} is there again`);
  }

  it('before the plan with the new task: all get their plans', async (t) => {
    const { managers, instance } = await running(t, plan);
    const union = updated(plan, { add: [['count', 2]] });
    managers.plan = union;
    await managers.storePacking(union);
    await registered(managers, 4);
    const again = await restart(managers, 2, 4);
    assert.equal((await again(2).plan()).epoch, 1);
    instance(1).sendSet(numbered(0, 100));
    await eventually(() => again(2).tupleCount === 50);
    assert.deepEqual(again(4).plans, []);
    managers.publish(union);
    assert.equal((await again(4).plan()).epoch, 2);
    await worksBy(managers, 2, FIRST, SECOND);
    instance(1).sendSet(numbered(100, 400));
    await eventually(() => again(4).tupleCount === 100);
  });

  for (const [what, hasEnded] of [
    ['before', false],
    ['after', true],
  ] as const) {
    it(`${what} the end of a task that retires: that hears all ends, and retires`, async (t) => {
      const { managers, instance } = await running(t, plan);
      const union = updated(plan, { retire: [2] });
      await begin(managers, union);
      await eventually(() => instance(2).endedTasks.includes(1));
      if (hasEnded) new AckingBolt(instance(2), 2).end();
      if (hasEnded) await retired(managers, SECOND, 2);
      const again = (await restart(managers, 2))(2);
      await eventually(() => again.endedTasks.includes(1));
      new AckingBolt(again, 2).end();
      await eventually(() => managers.managerOf(2).log.includes('a task has retired'));
      await retired(managers, SECOND, 2);
    });
  }

  it('after the plan without the task: works by it, and the task gets none', async (t) => {
    const before = updated(plan, { add: [['count', 2]] });
    const { managers, instance } = await running(t, before);
    const union = updated(before, { retire: [2] });
    await begin(managers, union);
    new AckingBolt(instance(2), 2).end();
    await retired(managers, SECOND, 2);
    const after = updated(union, { remove: [2] });
    managers.publish(after);
    await worksBy(managers, after.epoch, FIRST, SECOND);
    const again = await restart(managers, 2, 4); // The executor has not ended it yet.
    assert.equal((await again(4).plan()).epoch, after.epoch);
    instance(1).sendSet(numbered(0, 100));
    await eventually(() => again(4).tupleCount + instance(3).tupleCount === 100);
    assert.deepEqual([again(2).plans, again(2).tupleCount], [[], 0]);
    await managers.storePacking(after);
    await eventually(() => again(2).isClosed);
  });
});
