import assert from 'node:assert/strict';
import { test } from 'node:test';
import { topologyId, topologyName } from '../../../src/base/ids.ts';
import { MemoryStateManager } from '../../../src/state-manager/memory/memory-state-manager.ts';
import { paths } from '../../../src/state-manager/paths.ts';
import { readTopologyFacts } from '../../../src/topology-master/topology-facts.ts';
import { encodePackingPlan } from '../../../src/wire/packing-plan.ts';
import { encodeTopology } from '../../../src/wire/topology.ts';
import { aPackingPlan } from '../../support/placements.ts';
import { aTopology } from '../../support/topologies.ts';

const TOPOLOGY = aTopology();
const NAME = topologyName('words');
const ID = topologyId('words-1');

async function submitted(): Promise<MemoryStateManager> {
  const stateManager = new MemoryStateManager();
  await stateManager.write(paths.topology(NAME), encodeTopology(TOPOLOGY));
  await stateManager.write(paths.packingPlan(NAME), encodePackingPlan(aPackingPlan([1])));
  return stateManager;
}

test('a submitted topology is read whole', async () => {
  const facts = await readTopologyFacts(await submitted(), NAME, ID);
  assert.deepEqual(facts.topology, TOPOLOGY);
  assert.deepEqual(facts.packing, aPackingPlan([1]));
  assert.equal(facts.message.name, NAME);
});

for (const path of [paths.topology(NAME), paths.packingPlan(NAME)]) {
  test(`${path} may still come`, async () => {
    const stateManager = await submitted();
    await stateManager.delete(path);
    const expected = { code: 'START_TIMEOUT', retryable: true };
    await assert.rejects(readTopologyFacts(stateManager, NAME, ID), expected);
  });

  test(`${path} that cannot be read is an error`, async () => {
    const stateManager = await submitted();
    await stateManager.write(path, Buffer.from('truncated'));
    const expected = { code: 'STATE_CORRUPTED', retryable: false };
    await assert.rejects(readTopologyFacts(stateManager, NAME, ID), expected);
  });
}

test('the name may belong to another submit', async () => {
  const reading = readTopologyFacts(await submitted(), NAME, topologyId('words-2'));
  await assert.rejects(reading, { code: 'WRONG_TOPOLOGY', message: /words-2.*words-1/ });
});
