import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import { MemoryStateTree } from '../../../src/state-manager/memory/memory-state-manager.ts';
import { paths } from '../../../src/state-manager/paths.ts';
import {
  aRunningMaster,
  LiveMaster,
  PLACEMENTS,
  submit,
  TOPOLOGY,
} from '../../support/live-master.ts';
import { anAddress } from '../../support/placements.ts';

suite('the desired state', () => {
  test('O17: that was asked for before the first plan is that of the first plan', async () => {
    for (const isKilled of [false, true]) {
      const tree = new MemoryStateTree();
      await submit(tree, PLACEMENTS.base);
      let master = await LiveMaster.start(tree);
      await master.serve(PLACEMENTS.base, anAddress(1));
      await master.plans.setState('PAUSED');
      assert.equal(master.plans.current, undefined);
      if (isKilled) {
        await master.die();
        master = await LiveMaster.start(tree);
      }
      await master.serveAll(PLACEMENTS.base);
      assert.equal((await master.storedPlan()).topology.state, 'PAUSED');
    }
  });

  test('O17: survives the loss of the plan', async () => {
    const tree = new MemoryStateTree();
    const first = await aRunningMaster(tree);
    await first.plans.setState('PAUSED');
    await first.die();
    const path = paths.physicalPlan(TOPOLOGY.name);
    const master = await LiveMaster.start(tree);
    await master.stateManager.write(path, Buffer.from('truncated'));
    await master.die();
    const next = await LiveMaster.start(tree);
    await next.serveAll(PLACEMENTS.base);
    assert.equal((await next.storedPlan()).topology.state, 'PAUSED');
  });

  test('cannot be a drain before there are spouts', async () => {
    const tree = new MemoryStateTree();
    await submit(tree, PLACEMENTS.base);
    const master = await LiveMaster.start(tree);
    const refused = { code: 'TOPOLOGY_NOT_READY', retryable: true };
    await assert.rejects(master.plans.setState('KILLED'), refused);
  });

  test('of a topology that is being removed is not stored', async () => {
    const tree = new MemoryStateTree();
    await submit(tree, PLACEMENTS.base);
    const master = await LiveMaster.start(tree);
    const path = paths.topology(TOPOLOGY.name);
    await master.stateManager.delete(path);
    await assert.rejects(master.plans.setState('PAUSED'), { code: 'TOPOLOGY_NOT_FOUND' });
    assert.equal(await master.stateManager.read(path), undefined);
  });
});
