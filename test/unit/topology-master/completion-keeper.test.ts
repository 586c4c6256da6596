import assert from 'node:assert/strict';
import { test } from 'node:test';
import { environmentError } from '../../../src/base/errors.ts';
import { epoch, taskId, topologyId, topologyName } from '../../../src/base/ids.ts';
import { silentLogger } from '../../../src/base/logger.ts';
import { createSeededRandom } from '../../../src/base/random.ts';
import { encodeCompletion, parseCompletion } from '../../../src/model/completion.ts';
import { MemoryStateManager } from '../../../src/state-manager/memory/memory-state-manager.ts';
import { paths } from '../../../src/state-manager/paths.ts';
import { CompletionKeeper } from '../../../src/topology-master/completion-keeper.ts';
import { ManualClock } from '../../support/manual-clock.ts';
import { anInstance } from '../../support/placements.ts';
import { settled } from '../../support/settled.ts';
import { aTopology } from '../../support/topologies.ts';

const NAME = topologyName('words');
const ID = topologyId('words-1');
const PATH = paths.completed(NAME);

function keeperOf(stateManager = new MemoryStateManager()) {
  const clock = new ManualClock();
  const keeper = new CompletionKeeper({
    stateManager,
    clock,
    random: createSeededRandom(1),
    logger: silentLogger,
    topologyName: NAME,
    topologyId: ID,
    instances: () => [anInstance(1, 1), anInstance(2, 2)],
    topology: aTopology(),
    inTurn: (step) => void Promise.resolve().then(step),
    run: () => ({ firstPlanAtMs: 0, earlyEnds: [], pastIncidents: [], replaced: [] }),
  });
  keeper.followPlan();
  const record = async () => {
    const bytes = await stateManager.read(PATH);
    return bytes && parseCompletion(bytes);
  };
  const end = async (...tasks: number[]): Promise<void> => {
    keeper.addEnded(tasks.map((task) => ({ task: taskId(task), planEpoch: epoch(1) })));
    await settled();
  };
  return { stateManager, clock, keeper, record, end };
}

test('the record is written when the last task has ended', async () => {
  const { record, end, clock } = keeperOf();
  await end(1);
  await end(1, 7);
  assert.equal(await record(), undefined);
  await end(2);
  assert.deepEqual(await record(), {
    topologyId: ID,
    completedAtMs: clock.wallNow(),
    result: 'completed',
    incidents: [],
    recovered: [],
  });
});

test('the record is written once, by whichever incarnation is first', async () => {
  const first = keeperOf();
  await first.end(1, 2);
  const record = await first.record();
  first.clock.advance(1_000);
  await first.end(1, 2);
  const second = keeperOf(first.stateManager);
  second.clock.advance(5_000);
  await second.end(1, 2);
  assert.deepEqual(await first.record(), record);
});

test('a record of an earlier submit, or one that cannot be read, is replaced', async () => {
  const earlier = encodeCompletion({
    topologyId: topologyId('words-0'),
    completedAtMs: 1,
    result: 'completed',
    incidents: [],
    recovered: [],
  });
  for (const bytes of [earlier, Buffer.from('{')]) {
    const { stateManager, record, end } = keeperOf();
    await stateManager.write(PATH, bytes);
    await end(1, 2);
    assert.equal((await record())?.topologyId, ID);
  }
});

test('incidents come from the reports of containers; a broken one is left out', async () => {
  const { stateManager, record, end } = keeperOf();
  const folder = paths.containers(NAME);
  const exit = { code: null, signal: 'SIGKILL', atMs: 5, reason: 'killed', lastLines: [] };
  const process = { name: 'stmgr-2', pid: 3, state: 'running', restarts: 1, startedAtMs: 6 };
  const report = {
    containerId: 2,
    host: 'h',
    pid: 1,
    startedAtMs: 0,
    processes: [{ ...process, lastExit: exit }],
  };
  await stateManager.write(`${folder}/1`, Buffer.from('half a rep'));
  await stateManager.write(`${folder}/2`, Buffer.from(JSON.stringify(report)));
  await end(1, 2);
  assert.deepEqual((await record())?.incidents, [
    { atMs: 5, container: 2, process: 'stmgr-2', reason: 'killed' },
  ]);
});

test('what the state manager refuses is tried again', async () => {
  const { stateManager, clock, record, end, keeper } = keeperOf();
  const write = stateManager.write.bind(stateManager);
  stateManager.write = () => Promise.reject(environmentError('STATE_UNAVAILABLE', 'away'));
  await end(1, 2);
  assert.equal(await record(), undefined);
  stateManager.write = write;
  clock.advance(200);
  await settled();
  assert.equal((await record())?.result, 'completed');
  await keeper.close();
  assert.equal(clock.pendingTimers, 0);
});

test('after close nothing is written', async () => {
  const { record, end, keeper } = keeperOf();
  await keeper.close();
  await end(1, 2);
  assert.equal(await record(), undefined);
});

test('what was lost is in the record although no report tells of it, once', async () => {
  const { record, end, keeper } = keeperOf();
  const lost = { atMs: 5, container: 1, process: 'container_1_word_1', reason: 'lost' };
  keeper.addLost([lost]);
  await end(1);
  keeper.addLost([{ ...lost, atMs: 8 }]);
  await end(2);
  assert.equal((await record())?.result, 'completed-with-losses');
  assert.deepEqual((await record())?.incidents, [lost]);
});
