import assert from 'node:assert/strict';
import { test, type TestContext } from 'node:test';
import { environmentError } from '../../../src/base/errors.ts';
import { topologyName } from '../../../src/base/ids.ts';
import { silentLogger } from '../../../src/base/logger.ts';
import { MemoryStateManager } from '../../../src/state-manager/memory/memory-state-manager.ts';
import { NodeHolder } from '../../../src/state-manager/node-holder.ts';
import { paths } from '../../../src/state-manager/paths.ts';
import { MetricsCacheLocation } from '../../../src/wire/messages.ts';
import { ManualClock } from '../../support/manual-clock.ts';
import { settled } from '../../support/settled.ts';

const NAME = topologyName('words');
const PATH = paths.metricsCache(NAME);

function location(serverPort: number) {
  return MetricsCacheLocation.create({
    topologyName: NAME,
    topologyId: 'words-1',
    host: 'h',
    controllerPort: -1,
    serverPort,
    statsPort: 2,
  });
}

function hold(t: TestContext, stateManager: MemoryStateManager) {
  const clock = new ManualClock();
  let others = 0;
  const holder = new NodeHolder({
    stateManager,
    clock,
    logger: silentLogger,
    path: PATH,
    bytes: MetricsCacheLocation.encode(location(1)),
    what: 'the location of the metrics cache',
    onOther: () => {
      others += 1;
    },
  });
  t.after(() => holder.close());
  holder.open();
  return { clock, holder, others: () => others };
}

async function portIn(stateManager: MemoryStateManager): Promise<number | undefined> {
  const bytes = await stateManager.read(PATH);
  return bytes && MetricsCacheLocation.decode(bytes).serverPort;
}

test('the node is made, and made again when it vanishes (L1)', async (t) => {
  const stateManager = new MemoryStateManager();
  hold(t, stateManager);
  await settled();
  assert.equal(await portIn(stateManager), 1);
  await stateManager.delete(PATH);
  await settled();
  assert.equal(await portIn(stateManager), 1);
});

test('the node of another holder is left alone until it is gone (L2)', async (t) => {
  const stateManager = new MemoryStateManager();
  await stateManager.write(PATH, MetricsCacheLocation.encode(location(7)));
  const { others } = hold(t, stateManager);
  await settled();
  assert.equal(await portIn(stateManager), 7);
  assert.equal(others(), 1);
  await stateManager.delete(PATH);
  await settled();
  assert.equal(await portIn(stateManager), 1);
});

test('a state manager that refuses is asked again (L3)', async (t) => {
  const stateManager = new MemoryStateManager();
  let refusals = 2;
  const create = stateManager.create.bind(stateManager);
  t.mock.method(stateManager, 'create', (...call: Parameters<typeof create>) => {
    refusals -= 1;
    if (refusals < 0) return create(...call);
    return Promise.reject(environmentError('STATE_UNAVAILABLE', 'x', { retryable: true }));
  });
  const { clock } = hold(t, stateManager);
  await settled();
  assert.equal(await portIn(stateManager), undefined);
  for (let second = 0; second < 2; second += 1) {
    clock.advance(1_000);
    await settled();
  }
  assert.equal(await portIn(stateManager), 1);
});

test('nothing is made after close', async (t) => {
  const stateManager = new MemoryStateManager();
  const { clock, holder } = hold(t, stateManager);
  await settled();
  holder.close();
  await stateManager.delete(PATH);
  await settled();
  assert.equal(await portIn(stateManager), undefined);
  assert.equal(clock.pendingTimers, 0);
});
