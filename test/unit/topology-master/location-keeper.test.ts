import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type EngineError, environmentError } from '../../../src/base/errors.ts';
import { topologyId, topologyName } from '../../../src/base/ids.ts';
import { silentLogger } from '../../../src/base/logger.ts';
import {
  MemoryStateManager,
  MemoryStateTree,
} from '../../../src/state-manager/memory/memory-state-manager.ts';
import { paths } from '../../../src/state-manager/paths.ts';
import { LocationKeeper } from '../../../src/topology-master/location-keeper.ts';
import { TopologyMasterLocation } from '../../../src/wire/messages.ts';
import { ManualClock } from '../../support/manual-clock.ts';
import { settled } from '../../support/settled.ts';

const NAME = topologyName('words');
const PATH = paths.topologyMaster(NAME);

function locationOf(epoch: number, id = 'words-1') {
  return TopologyMasterLocation.create({
    topologyName: NAME,
    topologyId: topologyId(id),
    host: '127.0.0.1',
    serverPort: 1000 + epoch,
    controllerPort: 1,
    epoch: BigInt(epoch),
  });
}

/** A master of some epoch with a session of its own, as another process would have. */
class Candidate {
  readonly stateManager: MemoryStateManager;
  readonly clock = new ManualClock();
  readonly keeper: LocationKeeper;
  readonly stepDowns: EngineError[] = [];
  outcome: string | undefined;

  constructor(tree: MemoryStateTree, epoch: number) {
    this.stateManager = new MemoryStateManager(tree);
    this.keeper = new LocationKeeper({
      stateManager: this.stateManager,
      clock: this.clock,
      logger: silentLogger,
      topology: NAME,
      location: locationOf(epoch),
      limitMs: 60_000,
      onStepDown: (error) => this.stepDowns.push(error),
    });
  }

  async claim(): Promise<this> {
    this.keeper.claim().then(
      () => {
        this.outcome = 'serving';
      },
      (error: EngineError) => {
        this.outcome = error.code;
      },
    );
    await settled();
    return this;
  }

  get node(): Promise<bigint | undefined> {
    return this.stateManager
      .read(PATH)
      .then((bytes) => bytes && TopologyMasterLocation.decode(bytes).epoch);
  }
}

test('the first master gets the node', async () => {
  const master = await new Candidate(new MemoryStateTree(), 1).claim();
  assert.equal(master.outcome, 'serving');
  assert.equal(await master.node, 1n);
  assert.equal(master.clock.pendingTimers, 0);
});

test('a newer one waits until the older one is gone', async () => {
  const tree = new MemoryStateTree();
  const old = await new Candidate(tree, 1).claim();
  const next = await new Candidate(tree, 2).claim();
  assert.equal(next.outcome, undefined);
  assert.equal(await next.node, 1n);
  old.keeper.close(); // A dead process watches nothing.
  tree.expire(old.stateManager);
  await settled();
  assert.equal(next.outcome, 'serving');
  assert.equal(await next.node, 2n);
});

test('an older one that comes too late does not serve', async () => {
  const tree = new MemoryStateTree();
  await new Candidate(tree, 2).claim();
  const late = await new Candidate(tree, 1).claim();
  assert.equal(late.outcome, 'STALE_EPOCH');
});

test('waiting for an older one has an end', async () => {
  const tree = new MemoryStateTree();
  await new Candidate(tree, 1).claim();
  const next = await new Candidate(tree, 2).claim();
  next.clock.advance(60_000);
  await settled();
  assert.equal(next.outcome, 'START_TIMEOUT');
  assert.equal(next.clock.pendingTimers, 0);
});

test('a node that vanishes is made again', async () => {
  const tree = new MemoryStateTree();
  const master = await new Candidate(tree, 1).claim();
  await master.stateManager.delete(PATH);
  await settled();
  assert.equal(await master.node, 1n);
  assert.deepEqual(master.stepDowns, []);
});

test('a node that was overwritten with nonsense is made again', async () => {
  const tree = new MemoryStateTree();
  const master = await new Candidate(tree, 1).claim();
  await master.stateManager.write(PATH, Buffer.from('nonsense'));
  await settled();
  assert.equal(await master.node, 1n);
});

test('one that has lost its node to a newer one steps down, once', async () => {
  const tree = new MemoryStateTree();
  const old = await new Candidate(tree, 1).claim();
  const next = new Candidate(tree, 2);
  // A state manager that took the old one for dead gives the node to the next one.
  tree.remove(PATH);
  await next.stateManager.create(PATH, TopologyMasterLocation.encode(locationOf(2)));
  await settled();
  assert.deepEqual(
    old.stepDowns.map((error) => error.code),
    ['STALE_EPOCH'],
  );
  assert.equal(await next.node, 2n);
});

test('a refused write is tried again, with what the node holds by then', async () => {
  const tree = new MemoryStateTree();
  const master = new Candidate(tree, 1);
  const create = master.stateManager.create.bind(master.stateManager);
  let refusals = 2;
  master.stateManager.create = (...args) => {
    refusals -= 1;
    if (refusals < 0) return create(...args);
    const error = environmentError('STATE_UNAVAILABLE', 'away', { retryable: true });
    return Promise.reject(error);
  };
  await master.claim();
  for (const outcome of [undefined, undefined, 'serving']) {
    assert.equal(master.outcome, outcome);
    master.clock.advance(1_000);
    await settled();
  }
  assert.equal(await master.node, 1n);
});

test('after close nothing is written any more', async () => {
  const tree = new MemoryStateTree();
  const master = await new Candidate(tree, 1).claim();
  master.keeper.close();
  master.keeper.close();
  await master.stateManager.delete(PATH);
  await settled();
  assert.equal(await master.node, undefined);
});
