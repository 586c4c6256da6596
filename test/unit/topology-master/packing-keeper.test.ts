import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import { environmentError } from '../../../src/base/errors.ts';
import { epoch } from '../../../src/base/ids.ts';
import { adopted, isAdopted, isComingIntoForce } from '../../../src/model/adopted-packing.ts';
import type { PackingPlan } from '../../../src/model/packing-plan.ts';
import {
  MemoryStateManager,
  MemoryStateTree,
} from '../../../src/state-manager/memory/memory-state-manager.ts';
import { paths } from '../../../src/state-manager/paths.ts';
import { encodePackingPlan } from '../../../src/wire/packing-plan.ts';
import {
  aRetiringMaster,
  aRunningMaster,
  LiveMaster,
  PLACEMENTS,
  TOPOLOGY,
  update,
} from '../../support/live-master.ts';
import { anAddress, anInstance, aPlacement } from '../../support/placements.ts';

suite('packing plans', () => {
  test('of an older epoch, damaged or empty ones are passed over, with one line each', async () => {
    const tree = new MemoryStateTree();
    const master = await aRunningMaster(tree);
    await update(tree, PLACEMENTS.grown);
    const known = (await master.storedPacking()).epoch ?? 0;
    const passed = [
      Buffer.from('truncated'),
      encodePackingPlan({ ...PLACEMENTS.base, epoch: epoch(known - 1) }),
      encodePackingPlan(PLACEMENTS.base),
      encodePackingPlan({ ...PLACEMENTS.base, containers: [], epoch: epoch(known + 1) }),
      encodePackingPlan({ ...PLACEMENTS.base, id: 'another', epoch: epoch(known + 1) }),
      encodePackingPlan({ ...aPlacement({ 1: ['1-'], 2: ['2-'] }), epoch: epoch(known + 1) }),
      encodePackingPlan({ ...aPlacement({ 1: ['1'], 2: ['1'] }), epoch: epoch(known + 1) }),
    ];
    for (const bytes of passed) {
      const before = master.logged.filter((line) => line.includes('passed over')).length;
      await master.writePacking(bytes);
      await master.writePacking(bytes);
      await master.packing.refresh();
      const lines = master.logged.filter((line) => line.includes('passed over')).length;
      assert.equal(lines - before, 1);
      assert.deepEqual(master.packing.current.containers, PLACEMENTS.grown.containers);
    }
    await master.serve(PLACEMENTS.grown, anAddress(3));
    assert.deepEqual(master.tasks, ['1', '2', '3']);
  });

  test('that come while one settles are not written over', async () => {
    const tree = new MemoryStateTree();
    const master = await aRetiringMaster(tree);
    await master.retire(2, 2);
    // Between the decision and the write of the master.
    const nextEpoch = master.stateManager.nextEpoch.bind(master.stateManager);
    const next = aPlacement({ 1: ['1', '3-'], 5: ['5'] });
    master.stateManager.nextEpoch = async (id) => {
      master.stateManager.nextEpoch = nextEpoch;
      const given = await nextEpoch(id);
      await update(tree, next);
      return given;
    };
    await master.adopt();
    await master.wait(5_000);
    assert.deepEqual((await master.storedPacking()).containers, next.containers);
    await master.serveAll(next);
    assert.deepEqual(master.tasks, ['1', '3-', '5']);
  });
});

suite('the mark of a plan that is put in force', () => {
  test('is there before that plan is, so that nobody replaces it who does not know', async () => {
    const tree = new MemoryStateTree();
    const master = await aRunningMaster(tree);
    await update(tree, PLACEMENTS.grown);
    const path = paths.packingPlan(TOPOLOGY.name);
    const read = await master.stateManager.read(path);
    assert.equal(isAdopted(await master.storedPacking()), false);
    // At the moment between mark and plan.
    const nextEpoch = master.stateManager.nextEpoch.bind(master.stateManager);
    let seen: PackingPlan | undefined;
    master.stateManager.nextEpoch = async (id) => {
      seen ??= await master.storedPacking();
      return await nextEpoch(id);
    };
    await master.serve(PLACEMENTS.grown, anAddress(3));
    assert.ok(seen !== undefined && isAdopted(seen));
    assert.equal(isComingIntoForce(seen, { instances: [] }), true);
    assert.equal(isComingIntoForce(seen, await master.storedPlan()), false);
    const late = new MemoryStateManager(tree);
    await assert.rejects(late.replace(path, read, Buffer.from('late')), { code: 'STATE_CONFLICT' });
  });

  test('mends a plan that was damaged meanwhile', async () => {
    const tree = new MemoryStateTree();
    const master = await aRunningMaster(tree);
    await update(tree, PLACEMENTS.grown);
    await master.writePacking(Buffer.from('truncated'));
    await master.serve(PLACEMENTS.grown, anAddress(3));
    assert.deepEqual(master.tasks, ['1', '2', '3']);
    assert.deepEqual((await master.storedPacking()).containers, PLACEMENTS.grown.containers);
  });

  test('cannot be set when another plan has come: that one is looked at then', async () => {
    const tree = new MemoryStateTree();
    const master = await aRunningMaster(tree);
    await update(tree, PLACEMENTS.grown);
    const next = aPlacement({ 1: ['1', '4'], 2: ['2'] });
    const replace = master.stateManager.replace.bind(master.stateManager);
    master.stateManager.write = () => assert.fail('only what is known may be replaced');
    master.stateManager.replace = async (...given) => {
      master.stateManager.replace = replace;
      await update(tree, next);
      await replace(...given);
    };
    await master.serve(PLACEMENTS.grown, anAddress(3));
    assert.deepEqual(master.tasks, ['1', '2']);
    await master.serveAll(next);
    await master.wait(5_000);
    assert.deepEqual(master.tasks, ['1', '2', '4']);
  });

  test('is taken back when the plan cannot be in force, as after a death', async () => {
    const tree = new MemoryStateTree();
    const first = await aRunningMaster(tree);
    await update(tree, PLACEMENTS.grown);
    // It dies between mark and plan.
    first.stateManager.nextEpoch = () =>
      Promise.reject(environmentError('STATE_UNAVAILABLE', 'no'));
    await first.serve(PLACEMENTS.grown, anAddress(3));
    assert.equal(isAdopted(await first.storedPacking()), true);
    await first.die();
    const next = await LiveMaster.start(tree);
    const given = await next.storedPacking();
    assert.equal(isAdopted(given), false);
    assert.deepEqual(given.containers, PLACEMENTS.grown.containers);
    assert.deepEqual(next.tasks, ['1', '2']);
    await next.serveAll(PLACEMENTS.grown);
    assert.deepEqual(next.tasks, ['1', '2', '3']);
    assert.equal(isAdopted(await next.storedPacking()), true);
  });

  test('keeps others away until what retires is marked in the plan in force', () => {
    const union = { ...aPlacement({ 1: ['1'], 2: ['2-'] }), epoch: epoch(3) };
    const marked = adopted(union);
    const [stays, goes] = [anInstance(1, 1), anInstance(2, 2)];
    assert.equal(isComingIntoForce(union, { instances: [stays, goes] }), false, 'no mark');
    assert.equal(isComingIntoForce(marked, { instances: [stays, goes] }), true);
    const retiring = { ...goes, isRetiring: true };
    assert.equal(isComingIntoForce(marked, { instances: [stays, retiring] }), false);
    assert.equal(isComingIntoForce(marked, { instances: [stays] }), false, 'it has left');
    assert.equal(isComingIntoForce(marked, { instances: [retiring] }), true);
  });

  test('is not that of the next plan', async () => {
    const tree = new MemoryStateTree();
    const master = await aRunningMaster(tree);
    await update(tree, PLACEMENTS.grown);
    await master.serve(PLACEMENTS.grown, anAddress(3));
    const { adoptedEpoch, ...plan } = await master.storedPacking();
    assert.ok(adoptedEpoch !== undefined);
    await update(tree, { ...plan, adoptedEpoch });
    assert.equal(isAdopted(await master.storedPacking()), false);
  });
});
