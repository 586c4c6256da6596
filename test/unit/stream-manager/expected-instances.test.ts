import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { containerId, epoch, streamManagerId } from '../../../src/base/ids.ts';
import type { Logger } from '../../../src/base/logger.ts';
import type { PackingPlan } from '../../../src/model/packing-plan.ts';
import { MemoryStateManager } from '../../../src/state-manager/memory/memory-state-manager.ts';
import { paths } from '../../../src/state-manager/paths.ts';
import {
  InstanceExpectation,
  instancesOfContainer,
} from '../../../src/stream-manager/expected-instances.ts';
import { encodePackingPlan } from '../../../src/wire/packing-plan.ts';
import { aPlanOf } from '../../support/planned-tasks.ts';
import { settled } from '../../support/settled.ts';
import { aBolt, aSpout, aTopology } from '../../support/topologies.ts';
import { packingOf, updated } from '../../support/updated-plans.ts';

const topology = aTopology([aSpout('word'), aBolt('count', ['word'])]);
const plan = aPlanOf(topology, ['word', 1], ['count', 2]);
const path = paths.packingPlan(topology.name);

/** What container 2 expects; its executor has started it with task 2. */
function anExpectation() {
  const stateManager = new MemoryStateManager();
  const log: string[] = [];
  const write = (message: string): void => void log.push(message);
  const logger: Logger = {
    debug: write,
    info: write,
    warn: write,
    error: write,
    child: () => logger,
  };
  const changes: string[][] = [];
  const expectation: InstanceExpectation = new InstanceExpectation({
    topologyName: topology.name,
    streamManager: streamManagerId('stmgr-2'),
    container: containerId(2),
    ids: instancesOfContainer(packingOf(plan), containerId(2)) ?? new Set(),
    languages: new Map(),
    stateManager,
    logger,
    onChange: () => changes.push([...expectation.ids]),
  });
  expectation.start();
  const store = async (packing: PackingPlan | Uint8Array): Promise<void> => {
    const bytes = packing instanceof Uint8Array ? packing : encodePackingPlan(packing);
    await stateManager.write(path, bytes);
    await settled();
  };
  return { expectation, stateManager, log, changes, store };
}

const BEFORE = ['container_2_count_2'];
const AFTER = ['container_2_count_2', 'container_2_count_3'];
/** One more task, while the first one retires. */
const union = packingOf(updated(plan, { add: [['count', 2]], retire: [2] }));

describe('InstanceExpectation', () => {
  it('is what the executor said until there is a packing plan, and then follows that', async () => {
    const { expectation, changes, store } = anExpectation();
    await settled();
    assert.deepEqual([...expectation.ids], BEFORE);
    await store(packingOf(plan));
    assert.deepEqual(changes, []);
    await store(union);
    assert.deepEqual(changes, [AFTER]);
    assert.deepEqual([...expectation.ids], AFTER);
  });

  it('X1: passes over an older plan and one that cannot be read', async () => {
    const { expectation, log, changes, store } = anExpectation();
    await store(union);
    await store(packingOf(plan));
    await store(Buffer.from([255, 255]));
    assert.deepEqual([...expectation.ids], AFTER);
    assert.equal(changes.length, 1);
    assert.deepEqual(log.slice(1), [
      'an old packing plan is passed over',
      'the packing plan cannot be read; waiting for another one',
    ]);
    await store({ ...packingOf(plan), epoch: epoch(9) });
    assert.deepEqual([...expectation.ids], BEFORE);
  });

  it('X2: stays as it is when the plan does without the container, or is gone', async () => {
    const { expectation, stateManager, changes, store } = anExpectation();
    await store({ ...packingOf(updated(plan, { remove: [2] })), epoch: epoch(5) });
    await stateManager.delete(path);
    await settled();
    assert.deepEqual([...expectation.ids], BEFORE);
    assert.deepEqual(changes, []);
  });

  it('follows nothing any more when it is closed', async () => {
    const { expectation, changes, store } = anExpectation();
    expectation.close();
    await store(union);
    assert.deepEqual(changes, []);
  });
});
