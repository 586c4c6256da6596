import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import { componentName } from '../../../src/base/ids.ts';
import { effectiveConfig } from '../../../src/model/runtime-config.ts';
import { MemoryStateTree } from '../../../src/state-manager/memory/memory-state-manager.ts';
import {
  aRetiringMaster,
  aRunningMaster,
  LiveMaster,
  PLACEMENTS,
  update,
} from '../../support/live-master.ts';
import { anAddress, aPlacement } from '../../support/placements.ts';

/* The keepers of both plans together, from the write of `heron update` to the end of the update. */

suite('an update', () => {
  test('goes through a plan with all and one without what went to the packing plan', async () => {
    const tree = new MemoryStateTree();
    const master = await aRunningMaster(tree);
    await update(tree, PLACEMENTS.move);
    assert.deepEqual(master.tasks, ['1', '2']);
    await master.serveAll(PLACEMENTS.move);
    assert.deepEqual(master.tasks, ['1', '2-', '3']);
    assert.deepEqual(master.streamManagers, ['stmgr-1', 'stmgr-2']);
    await master.adopt();
    await master.retire(2, 2);
    assert.deepEqual(master.tasks, ['1', '3']);
    assert.deepEqual(master.streamManagers, ['stmgr-1']);
    assert.deepEqual(await master.storedTasks(), ['1', '3', '2-']);
    const before = (await master.storedPacking()).epoch ?? 0;
    await master.adopt();
    const settledPacking = await master.storedPacking();
    assert.deepEqual(await master.storedTasks(), ['1', '3']);
    assert.deepEqual(settledPacking.containers, PLACEMENTS.moved.containers);
    assert.ok((settledPacking.epoch ?? 0) > before);
    assert.deepEqual(await master.storedPlan(), master.plans.current);
    // One plan for each step, one with which the new spout begins, and none for the last step.
    assert.equal(master.distributed.length, 4);
  });

  test('that only adds is done with one plan, and one with which spouts begin', async () => {
    const tree = new MemoryStateTree();
    const master = await aRunningMaster(tree);
    await update(tree, PLACEMENTS.grown);
    assert.deepEqual(master.plans.absent, ['stmgr-3']);
    assert.notEqual(master.plans.planBytes(), undefined);
    await master.serve(PLACEMENTS.grown, anAddress(3));
    assert.deepEqual(master.tasks, ['1', '2', '3']);
    await master.adopt();
    assert.deepEqual(await master.storedTasks(), ['1', '2', '3']);
    assert.equal(master.distributed.length, 3);
  });

  test('shows in the number of tasks that the plan’s topology names', async () => {
    const master = await aRetiringMaster();
    const parallelism = () => master.plans.current?.topology.components[0]?.parallelism;
    assert.equal(parallelism(), 2);
    const tree = new MemoryStateTree();
    const grown = await aRunningMaster(tree);
    await update(tree, PLACEMENTS.grown);
    await grown.serve(PLACEMENTS.grown, anAddress(3));
    assert.equal(grown.plans.current?.topology.components[0]?.parallelism, 3);
  });

  test('gives the plan in force to a stream manager that comes back in the middle', async () => {
    const tree = new MemoryStateTree();
    const master = await aRunningMaster(tree);
    await update(tree, PLACEMENTS.grown);
    const instances = (await master.storedPlan()).instances.slice(0, 1);
    const plan = master.plans.register({ address: anAddress(1), instances });
    assert.equal(plan?.epoch, BigInt(master.plans.current?.epoch ?? 0));
    // The new one is in no plan yet.
    assert.equal(master.plans.register({ address: anAddress(3), instances: [] }), undefined);
  });

  test('that is asked for again before it was in force replaces the one before', async () => {
    const tree = new MemoryStateTree();
    const master = await aRunningMaster(tree);
    await update(tree, PLACEMENTS.grown);
    const other = aPlacement({ 1: ['1', '4'], 2: ['2'] });
    await update(tree, other);
    await master.serveAll(PLACEMENTS.grown);
    assert.deepEqual(master.tasks, ['1', '2']);
    await master.serveAll(other);
    assert.deepEqual(master.tasks, ['1', '2', '4']);
  });

  test('that gives tasks to a component that has ended is not made', async () => {
    const tree = new MemoryStateTree();
    const master = await aRunningMaster(tree, { ended: new Set(['word']) });
    await update(tree, PLACEMENTS.grown);
    await master.serve(PLACEMENTS.grown, anAddress(3));
    assert.deepEqual(master.tasks, ['1', '2']);
    assert.ok(master.logged.some((line) => line.includes('comes too late')));
  });

  test('that is taken back before it was in force leaves no trace', async () => {
    const tree = new MemoryStateTree();
    const master = await aRunningMaster(tree);
    await update(tree, PLACEMENTS.grown);
    await update(tree, PLACEMENTS.base);
    await master.serveAll(PLACEMENTS.base);
    assert.equal(master.distributed.length, 1);
  });
});

suite('an update survives the master', () => {
  /** Each step from the write to the end; a master may die before and after every one. */
  const STEPS: readonly ((master: LiveMaster) => Promise<void>)[] = [
    (master) => master.serve(PLACEMENTS.move, anAddress(1)),
    (master) => master.serve(PLACEMENTS.move, anAddress(2)),
    (master) => master.adopt(),
    (master) => master.retire(2, 2),
    (master) => master.adopt(),
  ];

  for (let at = 0; at <= STEPS.length; at += 1) {
    test(`that is killed after step ${at}`, async () => {
      const tree = new MemoryStateTree();
      let master = await aRunningMaster(tree);
      await update(tree, PLACEMENTS.move);
      for (const step of STEPS.slice(0, at)) await step(master);
      const before = await master.storedPlan();
      await master.die();
      master = await LiveMaster.start(tree);
      assert.deepEqual(master.distributed, []);
      assert.deepEqual(await master.storedPlan(), before);
      // Stream managers say again what they have said.
      for (const step of STEPS) await step(master);
      assert.deepEqual(master.tasks, ['1', '3']);
      assert.deepEqual(await master.storedTasks(), ['1', '3']);
    });
  }

  test('and a stream manager that does not come back until late', async () => {
    const tree = new MemoryStateTree();
    const first = await aRunningMaster(tree);
    await update(tree, PLACEMENTS.move);
    await first.die();
    const master = await LiveMaster.start(tree);
    await master.serve(PLACEMENTS.move, anAddress(2));
    assert.deepEqual(master.tasks, ['1', '2']);
    await master.serve(PLACEMENTS.move, anAddress(1, { pid: 77 }));
    assert.deepEqual(master.tasks, ['1', '2-', '3']);
  });

  test('whose write of the packing plan has lost its answer, or was refused', async () => {
    for (const isDone of [true, false]) {
      const master = await aRetiringMaster();
      await master.retire(2, 2);
      master.breakNextReplace(isDone);
      await master.adopt();
      await master.wait(5_000);
      assert.deepEqual(await master.storedTasks(), ['1', '3']);
      assert.deepEqual(master.fenced, []);
    }
  });
});

suite('commands in the middle of an update', () => {
  const PHASES: readonly (readonly [string, (tree: MemoryStateTree) => Promise<LiveMaster>])[] = [
    [
      'changing',
      async (tree) => {
        const master = await aRunningMaster(tree);
        await update(tree, PLACEMENTS.move);
        return master;
      },
    ],
    ['retiring', aRetiringMaster],
    [
      'settling',
      async (tree) => {
        const master = await aRetiringMaster(tree);
        await master.retire(2, 2);
        return master;
      },
    ],
  ];

  for (const [phase, reach] of PHASES) {
    test(`a state and a config that are set while it is ${phase} stay`, async () => {
      const tree = new MemoryStateTree();
      const master = await reach(tree);
      await master.plans.setState('PAUSED');
      const change = { component: componentName('word'), key: 'lines', value: '7' };
      await master.plans.setConfig([change]);
      const finish = async (live: LiveMaster): Promise<void> => {
        await live.serveAll(PLACEMENTS.move);
        await live.adopt();
        await live.retire(2, 2);
        await live.adopt();
      };
      await finish(master);
      assert.deepEqual(await master.storedTasks(), ['1', '3']);
      await master.die();
      const next = await LiveMaster.start(tree);
      const { topology } = next.plans.current ?? assert.fail();
      assert.equal(topology.state, 'PAUSED');
      assert.equal(effectiveConfig(topology.components[0]?.config ?? new Map()).get('lines'), '7');
      await next.plans.setState('RUNNING');
      assert.equal((await next.storedPlan()).topology.state, 'RUNNING');
    });
  }
});
