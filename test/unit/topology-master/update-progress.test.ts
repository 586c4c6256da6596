import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import { MemoryStateTree } from '../../../src/state-manager/memory/memory-state-manager.ts';
import {
  aRetiringMaster,
  aRunningMaster,
  LiveMaster,
  PLACEMENTS,
  submit,
  update,
} from '../../support/live-master.ts';
import { ManualClock } from '../../support/manual-clock.ts';
import { anAddress, aPlacement } from '../../support/placements.ts';
import { settled } from '../../support/settled.ts';

suite('what retires', () => {
  test('has a limit, after which it is taken away with a line for each', async () => {
    const master = await aRetiringMaster();
    await master.wait(59_999);
    assert.deepEqual(master.tasks, ['1', '2-', '3']);
    await master.wait(1);
    assert.deepEqual(master.tasks, ['1', '3']);
    assert.ok(master.logged.includes('an update takes a task away too early'));
    assert.deepEqual(
      master.plans.history.pastIncidents.map(({ process, container }) => ({ process, container })),
      [{ process: 'container_2_word_2', container: 2 }],
    );
  });

  test('O30: does not get a new limit from a master that was started again', async () => {
    const tree = new MemoryStateTree();
    const clock = new ManualClock();
    await submit(tree, PLACEMENTS.base);
    let master = await LiveMaster.start(tree, { clock });
    await master.serveAll(PLACEMENTS.base);
    await update(tree, PLACEMENTS.move);
    await master.serveAll(PLACEMENTS.move);
    for (const pauseMs of [20_000, 20_000, 19_999]) {
      await master.wait(pauseMs);
      await master.die();
      master = await LiveMaster.start(tree, { clock });
      await master.serve(PLACEMENTS.move, anAddress(1, { pid: 70 + pauseMs }));
    }
    assert.deepEqual(master.tasks, ['1', '2-', '3']);
    await master.wait(1);
    assert.deepEqual(master.tasks, ['1', '3']);
  });

  test('gets its whole limit, and no more, when the wall clock is set back', async () => {
    const tree = new MemoryStateTree();
    const clock = new ManualClock();
    await submit(tree, PLACEMENTS.base);
    const first = await LiveMaster.start(tree, { clock });
    await first.serveAll(PLACEMENTS.base);
    await update(tree, PLACEMENTS.move);
    await first.serveAll(PLACEMENTS.move);
    await first.die();
    clock.stepWall(-1_000_000);
    const master = await LiveMaster.start(tree, { clock });
    await master.wait(59_999);
    assert.deepEqual(master.tasks, ['1', '2-', '3']);
    await master.wait(1);
    assert.deepEqual(master.tasks, ['1', '3']);
  });

  test('stays retired although its stream manager was started again', async () => {
    const tree = new MemoryStateTree();
    const master = await aRunningMaster(tree);
    const two = aPlacement({ 1: ['1'], 2: ['2-', '3-'], 3: ['4'] });
    await update(tree, aPlacement({ 1: ['1'], 2: ['2', '3'], 3: ['4'] }));
    await master.serveAll(two);
    await update(tree, two);
    await settled();
    await master.adopt(); // What is new begins, so that what retires may leave.
    assert.deepEqual(master.tasks, ['1', '2-', '3-', '4']);
    await master.retire(2, 2);
    master.plans.unregister(anAddress(2).id);
    await master.serve(two, anAddress(2, { pid: 99 }));
    await master.retire(2, 3);
    assert.deepEqual(master.tasks, ['1', '4']);
  });

  test('is nothing that a stream manager can say of a task that stays', async () => {
    const tree = new MemoryStateTree();
    const master = await aRetiringMaster(tree);
    await master.retire(1, 1, 3, 9);
    assert.deepEqual(master.tasks, ['1', '2-', '3']);
    await master.retire(2, 2);
    await master.adopt();
    await master.retire(1, 3);
    await update(tree, aPlacement({ 1: ['1', '3-'] }));
    assert.deepEqual(master.tasks, ['1', '3-']);
  });

  test('a stream manager that was started again has to say its plan again', async () => {
    const tree = new MemoryStateTree();
    const master = await aRunningMaster(tree);
    const down = aPlacement({ 1: ['1'], 2: ['2'], 3: ['3-'] });
    await update(tree, PLACEMENTS.grown);
    await master.serveAll(PLACEMENTS.grown);
    await master.adopt(); // What is new begins.
    await update(tree, down);
    await master.retire(3, 3);
    const ids = [anAddress(1).id, anAddress(2).id];
    await master.adopt(ids.slice(0, 1));
    master.plans.unregister(anAddress(1).id);
    await master.serve(down, anAddress(1));
    await master.adopt(ids.slice(1));
    assert.deepEqual(await master.storedTasks(), ['1', '2', '3-']);
    await master.adopt(ids);
    assert.deepEqual(await master.storedTasks(), ['1', '2']);
  });

  test('the packing plan does not wait for ever for one that does not say its plan', async () => {
    const tree = new MemoryStateTree();
    const master = await aRetiringMaster(tree);
    await master.retire(2, 2);
    await master.wait(9_999);
    assert.deepEqual(await master.storedTasks(), ['1', '3', '2-']);
    await master.wait(1);
    assert.deepEqual(await master.storedTasks(), ['1', '3']);
    assert.equal(master.clock.pendingTimers, 0);
    // The next one is waited for anew.
    const down = aPlacement({ 1: ['1', '3-'] });
    await update(tree, down);
    await master.retire(1, 3);
    assert.deepEqual(await master.storedTasks(), ['1', '3-']);
  });
});
