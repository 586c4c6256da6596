import assert from 'node:assert/strict';
import { test } from 'node:test';
import { topologyId, topologyName } from '../../../../src/base/ids.ts';
import { silentLogger } from '../../../../src/base/logger.ts';
import { encodeDrainRequest } from '../../../../src/model/drain-request.ts';
import { DrainDeadline } from '../../../../src/scheduler/local/drain-deadline.ts';
import { MemoryStateManager } from '../../../../src/state-manager/memory/memory-state-manager.ts';
import { paths } from '../../../../src/state-manager/paths.ts';
import { ManualClock } from '../../../support/manual-clock.ts';
import { settled } from '../../../support/settled.ts';

const NAME = topologyName('words');
const ID = topologyId('words-1');

async function deadlineOf() {
  const stateManager = new MemoryStateManager();
  const clock = new ManualClock();
  const passedAtMs: number[] = [];
  const startMs = clock.wallNow();
  const ask = async (afterMs: number, id = ID): Promise<void> => {
    const request = { topologyId: id, deadlineMs: startMs + afterMs };
    await stateManager.write(paths.drain(NAME), encodeDrainRequest(request));
    await settled();
  };
  const open = async (): Promise<DrainDeadline> => {
    const deadline = new DrainDeadline({
      stateManager,
      clock,
      logger: silentLogger,
      topologyName: NAME,
      topologyId: ID,
      onPassed: () => passedAtMs.push(clock.now()),
    });
    await settled();
    return deadline;
  };
  return { stateManager, clock, passedAtMs, ask, open };
}

test('it passes once, when the time of the newest request is over', async () => {
  const { clock, passedAtMs, ask, open } = await deadlineOf();
  const deadline = await open();
  await ask(30_000);
  await ask(20_000);
  clock.advance(19_999);
  assert.equal(deadline.isPassed, false);
  clock.advance(20_000);
  assert.equal(deadline.isPassed, true);
  assert.deepEqual(passedAtMs, [20_000]);
});

test('a scheduler that is started later keeps it; after it has passed, at once', async () => {
  const { clock, passedAtMs, ask, open } = await deadlineOf();
  await ask(30_000);
  clock.advance(10_000);
  const first = await open();
  first.close();
  clock.advance(15_000);
  const second = await open();
  clock.advance(5_000);
  assert.deepEqual(passedAtMs, [30_000]);
  second.close();
  clock.advance(5_000);
  await open();
  clock.advance(0);
  assert.deepEqual(passedAtMs, [30_000, 35_000]);
});

test('a request for another topology, or a damaged one, means nothing', async () => {
  const { stateManager, clock, passedAtMs, ask, open } = await deadlineOf();
  await open();
  await ask(1, topologyId('words-0'));
  await stateManager.write(paths.drain(NAME), Buffer.from('?'));
  await settled();
  assert.equal(clock.pendingTimers, 0);
  assert.deepEqual(passedAtMs, []);
});
