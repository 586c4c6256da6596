import assert from 'node:assert/strict';
import { test } from 'node:test';
import { environmentError } from '../../../src/base/errors.ts';
import { topologyId, topologyName } from '../../../src/base/ids.ts';
import { silentLogger } from '../../../src/base/logger.ts';
import { createSeededRandom } from '../../../src/base/random.ts';
import { encodeDrainRequest } from '../../../src/model/drain-request.ts';
import { MemoryStateManager } from '../../../src/state-manager/memory/memory-state-manager.ts';
import { paths } from '../../../src/state-manager/paths.ts';
import { DrainKeeper } from '../../../src/topology-master/drain-keeper.ts';
import { ManualClock } from '../../support/manual-clock.ts';
import { settled } from '../../support/settled.ts';

const NAME = topologyName('words');
const ID = topologyId('words-1');
const REQUEST = encodeDrainRequest({ topologyId: ID, deadlineMs: 1 });

function keeperOf({ failures = 0 } = {}) {
  const stateManager = new MemoryStateManager();
  const clock = new ManualClock();
  const states: string[] = [];
  let left = failures;
  const keeper = new DrainKeeper({
    stateManager,
    clock,
    random: createSeededRandom(1),
    logger: silentLogger,
    topologyName: NAME,
    topologyId: ID,
    plans: {
      async setState(state) {
        left -= 1;
        if (left >= 0) throw environmentError('TOPOLOGY_NOT_READY', 'there is no plan yet');
        states.push(state);
      },
    },
  });
  const ask = async (bytes: Uint8Array): Promise<void> => {
    await stateManager.write(paths.drain(NAME), bytes);
    await settled();
  };
  return { keeper, clock, states, ask };
}

test('a request ends the spouts, once', async () => {
  const { keeper, states, ask, clock } = keeperOf();
  keeper.open();
  await settled();
  assert.deepEqual(states, []);
  await ask(REQUEST);
  await ask(encodeDrainRequest({ topologyId: ID, deadlineMs: 2 }));
  assert.deepEqual(states, ['KILLED']);
  assert.equal(clock.pendingTimers, 0);
});

test('a master that comes after the request does the same', async () => {
  const { keeper, states, ask } = keeperOf();
  await ask(REQUEST);
  keeper.open();
  await settled();
  assert.deepEqual(states, ['KILLED']);
});

test('a request for an earlier topology, or one that is damaged, is passed over', async () => {
  const { keeper, states, ask } = keeperOf();
  keeper.open();
  await ask(encodeDrainRequest({ topologyId: topologyId('words-0'), deadlineMs: 1 }));
  await ask(Buffer.from('?'));
  assert.deepEqual(states, []);
  await ask(REQUEST);
  assert.deepEqual(states, ['KILLED']);
});

test('what cannot be done yet is tried again, until the master ends', async () => {
  const { keeper, states, ask, clock } = keeperOf({ failures: 3 });
  keeper.open();
  await ask(REQUEST);
  for (let attempt = 0; attempt < 3; attempt += 1) {
    assert.deepEqual(states, []);
    clock.advance(5_000);
    await settled();
  }
  assert.deepEqual(states, ['KILLED']);

  const late = keeperOf({ failures: 9 });
  late.keeper.open();
  await late.ask(REQUEST);
  late.keeper.close();
  assert.equal(late.clock.pendingTimers, 0);
});
