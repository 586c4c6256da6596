import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { topologyId } from '../../../src/base/ids.ts';
import { watchWhileRunning } from '../../../src/cli/watch-while-running.ts';
import { MemoryStateManager } from '../../../src/state-manager/memory/memory-state-manager.ts';
import { paths } from '../../../src/state-manager/paths.ts';
import { encodeTopology } from '../../../src/wire/topology.ts';
import { ManualClock } from '../../support/manual-clock.ts';
import { settled } from '../../support/settled.ts';
import { aSpout, aTopology } from '../../support/topologies.ts';

const topology = aTopology([aSpout('words')]);
const { name } = topology;
const record = encodeTopology(topology);
const PLAN = paths.physicalPlan(name);
const bytes = Buffer.from('plan');
const isThere = (found: Uint8Array | undefined): boolean => found !== undefined;

async function waiting(id = topology.id) {
  const stateManager = new MemoryStateManager();
  await stateManager.write(paths.topology(name), record);
  const clock = new ManualClock();
  const watched = { stateManager, clock, path: PLAN, limitMs: 30_000, name, id };
  const outcome = watchWhileRunning(watched, isThere);
  outcome.catch(() => {}); // Looked at by the test, later.
  await settled();
  return { stateManager, clock, outcome };
}

describe('a wait for a node of a running topology', () => {
  it('ends when the node is as wanted', async () => {
    const { stateManager, clock, outcome } = await waiting();
    await stateManager.write(PLAN, bytes);
    assert.equal(await outcome, true);
    clock.advance(60_000);
  });

  it('ends at its limit', async () => {
    const { clock, outcome } = await waiting();
    clock.advance(30_000);
    assert.equal(await outcome, false);
  });

  it('ends at once when the topology has gone', async () => {
    const { stateManager, outcome } = await waiting();
    await stateManager.delete(paths.topology(name));
    await assert.rejects(outcome, { code: 'TOPOLOGY_NOT_FOUND' });
  });

  it('ends at once when another one has its name', async () => {
    const { outcome } = await waiting(topologyId('words-of-before'));
    await assert.rejects(outcome, { code: 'TOPOLOGY_NOT_FOUND' });
  });

  it('goes on while the record cannot be read', async () => {
    const { stateManager, outcome } = await waiting();
    await stateManager.write(paths.topology(name), Buffer.from([0xff]));
    await settled();
    await stateManager.write(PLAN, bytes);
    assert.equal(await outcome, true);
  });
});
