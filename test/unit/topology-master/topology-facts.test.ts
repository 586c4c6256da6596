import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Logger } from '../../../src/base/logger.ts';
import { epoch, topologyId, topologyName } from '../../../src/base/ids.ts';
import { silentLogger } from '../../../src/base/logger.ts';
import { MemoryStateManager } from '../../../src/state-manager/memory/memory-state-manager.ts';
import { paths } from '../../../src/state-manager/paths.ts';
import { expectedInstances } from '../../../src/topology-master/placement.ts';
import { readTopologyFacts } from '../../../src/topology-master/topology-facts.ts';
import { StoredPhysicalPlan } from '../../../src/wire/messages.ts';
import { encodePackingPlan } from '../../../src/wire/packing-plan.ts';
import { physicalPlanToMessage } from '../../../src/wire/physical-plan.ts';
import { encodeTopology, topologyToMessage } from '../../../src/wire/topology.ts';
import { aPackingPlan, anAddress } from '../../support/placements.ts';
import { aBolt, aSpout, aTopology } from '../../support/topologies.ts';

const TOPOLOGY = aTopology([aSpout('word', { parallelism: 3 })]);
const PACKING = aPackingPlan([2, 1]);
const NAME = topologyName('words');
const ID = topologyId('words-1');
const DEFINITION = encodeTopology(TOPOLOGY);
const UNFIT = encodeTopology(aTopology([aSpout('word'), aBolt('a', ['b']), aBolt('b', ['a'])]));
const JAVA = aTopology([aSpout('word', { language: 'java', outputs: [] }), aBolt('a', ['b'])]);

async function submitted(): Promise<MemoryStateManager> {
  const stateManager = new MemoryStateManager();
  await stateManager.write(paths.topology(NAME), DEFINITION);
  await stateManager.write(paths.packingPlan(NAME), encodePackingPlan(PACKING));
  return stateManager;
}

/** Reads as a master does, and notes what it says of damage. */
async function read(stateManager: MemoryStateManager, definition?: Uint8Array, id = ID) {
  const flagged: string[] = [];
  const error: Logger['error'] = (message, fields) => {
    flagged.push(`${message}: ${JSON.stringify(fields?.['problem'] ?? '')}`);
  };
  const logger: Logger = { ...silentLogger, error };
  const sources = { stateManager, topologyName: NAME, topologyId: id, definition, logger };
  return { facts: await readTopologyFacts(sources), flagged };
}

test('a submitted topology is read whole', async () => {
  const { facts, flagged } = await read(await submitted());
  assert.deepEqual(facts.topology, TOPOLOGY);
  assert.deepEqual(facts.packing, PACKING);
  assert.equal(facts.message.name, NAME);
  assert.deepEqual(flagged, []);
});

for (const path of [paths.topology(NAME), paths.packingPlan(NAME)]) {
  test(`${path} may still come`, async () => {
    const stateManager = await submitted();
    await stateManager.delete(path);
    await assert.rejects(read(stateManager), { code: 'START_TIMEOUT', retryable: true });
  });

  test(`${path} that cannot be read may be mended when nothing stands in for it`, async () => {
    const stateManager = await submitted();
    await stateManager.write(path, Buffer.from('truncated'));
    await assert.rejects(read(stateManager), { code: 'STATE_CORRUPTED', retryable: true });
  });
}

test('the name may belong to another submit', async () => {
  const reading = read(await submitted(), DEFINITION, topologyId('words-2'));
  await assert.rejects(reading, { code: 'WRONG_TOPOLOGY', message: /words-2.*words-1/ });
});

test('the definition stands in for a topology that cannot be read', async () => {
  const stateManager = await submitted();
  await stateManager.write(paths.topology(NAME), Buffer.from('truncated'));
  const { facts, flagged } = await read(stateManager, DEFINITION);
  assert.deepEqual(facts.topology, TOPOLOGY);
  assert.equal(facts.message.name, NAME);
  assert.match(flagged.join('\n'), /^topologies\/words is not fit to run; the definition/);
});

test('the definition stands in for a topology that is not fit to run', async () => {
  const stateManager = await submitted();
  await stateManager.write(paths.topology(NAME), UNFIT);
  const { facts, flagged } = await read(stateManager, DEFINITION);
  assert.deepEqual(facts.topology, TOPOLOGY);
  assert.match(flagged.join('\n'), /the bolts form a cycle/);
});

test('a topology that is not fit to run stays when the definition is no better', async () => {
  const stateManager = await submitted();
  await stateManager.write(paths.topology(NAME), UNFIT);
  for (const definition of [undefined, UNFIT, Buffer.from('truncated')]) {
    const { facts, flagged } = await read(stateManager, definition);
    assert.equal(facts.topology.components.length, 3);
    assert.match(flagged[0] ?? '', /not fit to run; it stays/);
  }
});

test('topologies of other languages are judged by their own clients', async () => {
  const foreign = { ...JAVA, components: JAVA.components.map((c) => ({ ...c, language: 'java' })) };
  const stateManager = await submitted();
  await stateManager.write(paths.topology(NAME), encodeTopology(foreign as typeof JAVA));
  const { flagged } = await read(stateManager, DEFINITION);
  assert.ok(!flagged.some((message) => message.includes('not fit to run')));
});

test('the plan in force stands in for a packing plan that cannot be read', async () => {
  const stateManager = await submitted();
  await stateManager.write(paths.packingPlan(NAME), Buffer.from('truncated'));
  const streamManagers = [anAddress(1), anAddress(2)];
  const instances = expectedInstances(PACKING);
  const placed = { epoch: epoch(1), streamManagers, instances };
  const message = physicalPlanToMessage(placed, topologyToMessage(TOPOLOGY));
  await stateManager.write(paths.physicalPlan(NAME), StoredPhysicalPlan.encode(message));
  const { facts, flagged } = await read(stateManager);
  assert.deepEqual(expectedInstances(facts.packing), instances);
  assert.match(flagged[0] ?? '', /packingplans\/words cannot be read; the physical plan stands/);
});

test('a packing plan that does not fit is flagged and stays', async () => {
  const stateManager = await submitted();
  await stateManager.write(paths.packingPlan(NAME), encodePackingPlan(aPackingPlan([1])));
  const { facts, flagged } = await read(stateManager);
  assert.deepEqual(facts.packing, aPackingPlan([1]));
  assert.match(flagged[0] ?? '', /the packing plan does not fit its topology: /);
});
