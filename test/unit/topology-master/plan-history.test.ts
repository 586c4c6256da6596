import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import { MemoryStateTree } from '../../../src/state-manager/memory/memory-state-manager.ts';
import { paths } from '../../../src/state-manager/paths.ts';
import {
  aRetiringMaster,
  aRunningMaster,
  LiveMaster,
  PLACEMENTS,
  submit,
  TOPOLOGY,
  update,
} from '../../support/live-master.ts';
import { anAddress, aPlacement } from '../../support/placements.ts';

/** As an executor writes it. */
async function report(
  master: LiveMaster,
  container: number,
  ends: Readonly<Record<string, number>>,
) {
  const processes = Object.entries(ends).map(([name, atMs]) => ({
    name,
    pid: 2,
    state: 'running',
    restarts: 1,
    startedAtMs: 0,
    lastExit: { code: 1, signal: null, atMs, reason: 'it crashed', lastLines: [] },
  }));
  const text = { containerId: container, host: 'h', pid: 1, startedAtMs: 0, processes };
  const path = `${paths.containers(TOPOLOGY.name)}/${container}`;
  await master.stateManager.write(path, Buffer.from(JSON.stringify(text)));
}

suite('what befell processes that left the plan', () => {
  test('is in every later plan', async () => {
    const tree = new MemoryStateTree();
    const master = await aRetiringMaster(tree);
    const crashedAtMs = master.clock.wallNow();
    await report(master, 2, { container_2_word_2: crashedAtMs, 'stmgr-2': crashedAtMs });
    await report(master, 1, { container_1_word_1: crashedAtMs });
    await master.retire(2, 2);
    const processes = ({ plans }: LiveMaster) =>
      plans.history.pastIncidents.map(({ process }) => process).toSorted();
    assert.deepEqual(processes(master), ['container_2_word_2', 'stmgr-2']);
    await master.stateManager.delete(`${paths.containers(TOPOLOGY.name)}/2`);
    await master.plans.setState('PAUSED');
    await master.die();
    const next = await LiveMaster.start(tree);
    assert.deepEqual(processes(next), ['container_2_word_2', 'stmgr-2']);
    // The next update adds what it takes away.
    await next.serveAll(PLACEMENTS.move);
    await next.adopt();
    await update(tree, aPlacement({ 1: ['1-', '3'] }));
    await next.retire(1, 1);
    assert.deepEqual(processes(next), ['container_1_word_1', 'container_2_word_2', 'stmgr-2']);
  });

  test('includes what only the master knows', async () => {
    const tree = new MemoryStateTree();
    await submit(tree, PLACEMENTS.base);
    const lost = [{ atMs: 5, container: 2, process: 'container_2_word_2', reason: 'link' }];
    const master = await LiveMaster.start(tree, { lost });
    await master.serveAll(PLACEMENTS.base);
    await update(tree, PLACEMENTS.move);
    await master.serveAll(PLACEMENTS.move);
    await master.adopt();
    await master.retire(2, 2);
    assert.deepEqual(master.plans.history.pastIncidents, lost);
  });

  test('an end of a new process before it was in a plan costs nothing', async () => {
    const tree = new MemoryStateTree();
    const master = await aRunningMaster(tree);
    await update(tree, PLACEMENTS.grown);
    const atMs = master.clock.wallNow() + 5;
    await report(master, 3, { container_3_word_3: atMs });
    await report(master, 1, { container_1_word_1: atMs });
    await master.serve(PLACEMENTS.grown, anAddress(3));
    assert.deepEqual(master.plans.history.earlyEnds, [{ process: 'container_3_word_3', atMs }]);
  });
});
