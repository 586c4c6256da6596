import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import { epoch } from '../../../src/base/ids.ts';
import { silentLogger } from '../../../src/base/logger.ts';
import {
  MemoryStateManager,
  MemoryStateTree,
} from '../../../src/state-manager/memory/memory-state-manager.ts';
import { PlanStore } from '../../../src/topology-master/plan-store.ts';
import { aRunningMaster, LiveMaster, PLACEMENTS, TOPOLOGY } from '../../support/live-master.ts';
import { anAddress } from '../../support/placements.ts';

suite('a newer master', () => {
  const reached: readonly (readonly [string, (master: LiveMaster) => Promise<unknown>])[] = [
    ['a state', (master) => master.plans.setState('PAUSED')],
    [
      'a config',
      (master) => master.plans.setConfig([{ component: undefined, key: 'mine', value: '1' }]),
    ],
  ];
  for (const [what, command] of reached) {
    test(`O18: has the plan from its start: ${what} set by the older one is refused`, async () => {
      const tree = new MemoryStateTree();
      const older = await aRunningMaster(tree);
      const newer = await LiveMaster.start(tree);
      const before = await newer.storedPlan();
      await assert.rejects(command(older), { code: 'STALE_EPOCH' });
      assert.deepEqual(
        older.fenced.map(({ code }) => code),
        ['STALE_EPOCH'],
      );
      await assert.rejects(command(older), { code: 'CONNECTION_CLOSED' });
      assert.deepEqual(await newer.storedPlan(), before);
      await command(newer);
      assert.deepEqual(newer.fenced, []);
    });
  }

  test('O18: the older one makes no plan from registrations either', async () => {
    const tree = new MemoryStateTree();
    const older = await aRunningMaster(tree);
    const newer = await LiveMaster.start(tree);
    await older.serve(PLACEMENTS.base, anAddress(1, { pid: 9 }));
    assert.equal(older.fenced.length, 1);
    assert.equal(older.distributed.length, 1);
    assert.deepEqual(await newer.storedPlan(), newer.plans.current);
    // Nor does it try again.
    assert.equal(older.clock.pendingTimers, 0);
  });

  /** The store of one more master, as it starts. */
  function storeOf(tree: MemoryStateTree, masterEpoch: number) {
    const stateManager = new MemoryStateManager(tree);
    const options = { logger: silentLogger, topologyName: TOPOLOGY.name };
    const store = new PlanStore({ ...options, stateManager, masterEpoch: epoch(masterEpoch) });
    return { stateManager, store };
  }

  test('O18: takes over what an older one stores while it starts', async () => {
    const tree = new MemoryStateTree();
    const older = await aRunningMaster(tree);
    const { stateManager, store } = storeOf(tree, 99);
    const read = stateManager.read.bind(stateManager);
    stateManager.read = async (path) => {
      stateManager.read = read;
      const bytes = await read(path);
      await older.plans.setState('PAUSED');
      return bytes;
    };
    await store.load();
    assert.equal(store.current?.plan.topology.state, 'PAUSED');
    await assert.rejects(older.plans.setState('RUNNING'), { code: 'STALE_EPOCH' });
  });

  test('O18: an older one that starts later does not get as far as to serve', async () => {
    const tree = new MemoryStateTree();
    await aRunningMaster(tree);
    await storeOf(tree, 99).store.load();
    await assert.rejects(storeOf(tree, 98).store.load(), { code: 'STALE_EPOCH' });
  });

  test('O17, O19: ten in a row change nothing in the plan but who wrote it', async () => {
    const tree = new MemoryStateTree();
    let master = await aRunningMaster(tree);
    const before = await master.storedPlan();
    for (let round = 0; round < 10; round += 1) {
      await master.die();
      master = await LiveMaster.start(tree);
      await master.serveAll(PLACEMENTS.base);
      assert.deepEqual(master.distributed, []);
    }
    assert.deepEqual(await master.storedPlan(), before);
  });
});
