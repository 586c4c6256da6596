import assert from 'node:assert/strict';
import { describe, it, type TestContext } from 'node:test';
import { hasCode } from '../../../../src/base/errors.ts';
import { topologyId } from '../../../../src/base/ids.ts';
import type { ZooKeeperStateAddress } from '../../../../src/state-manager/state-address.ts';
import { eventually } from '../../../support/eventually.ts';
import { FaultyProxy } from '../../../support/faulty-proxy.ts';
import { bytesOf, record, rejectsWith, textOf } from '../../../support/state-manager-contract.ts';
import {
  sharedZooKeeper,
  withoutZooKeeper,
  ZooKeeperEnsemble,
  ZooKeeperServer,
} from '../../../support/zookeeper-server.ts';
import { aTree, StateTree } from './state-tree.ts';

/* The ZooKeeper state manager when servers, connections and sessions go away. */

const zookeeper = sharedZooKeeper();
const NODE = 'topologies/words';
const MASTER = 'tmanagers/words';
/** What the servers of these tests grant at least: two of their ticks. */
const SHORT_SESSION_MS = 1_000;

/** Servers lag behind each other by so little that a reader seldom sees it. */
const ROUNDS = 200;

/** A tree that is reached over a proxy, and one that is not. */
async function aTreeBehind(t: TestContext, changes: Partial<ZooKeeperStateAddress> = {}) {
  const server = await zookeeper();
  const proxy = await FaultyProxy.start(t, server.port);
  const tree = aTree(t, { address: { host: '127.0.0.1', port: proxy.port } }, changes);
  const direct = new StateTree(t, { ...tree.address, servers: [server.address] });
  return { proxy, tree, direct };
}

/** From the first reply's first byte on: every place in requests and replies has its turn. */
const CUTS = Array.from({ length: 12 }, (_, index) => 1 + index * 53);

describe('a connection that breaks', { skip: withoutZooKeeper() }, () => {
  it('leaves no call in doubt, wherever it breaks', async (t) => {
    const { proxy, tree, direct } = await aTreeBehind(t);
    const manager = tree.connect();
    const witness = direct.connect();
    await manager.write(NODE, bytesOf('start'));
    for (const afterBytes of CUTS) {
      const cut = (): void => {
        proxy.fault = { kind: 'cut', afterBytes };
      };
      const path = `topologies/cut-${afterBytes}`;
      cut();
      await manager.create(path, bytesOf('made'));
      cut();
      await manager.replace(path, bytesOf('made'), bytesOf('replaced'));
      cut();
      await manager.create(`tmanagers/${afterBytes}`, bytesOf('held'), { ephemeral: true });
      const epochs = [await manager.nextEpoch(topologyId('words-1'))];
      cut();
      epochs.push(await manager.nextEpoch(topologyId('words-1')));
      const [first = 0, second = 0] = epochs;
      assert.ok(second > first, `epochs ${epochs.join()} at ${afterBytes}`);
      assert.equal(textOf(await witness.read(path)), 'replaced', `cut at ${afterBytes}`);
      assert.equal(textOf(await witness.read(`tmanagers/${afterBytes}`)), 'held');
      cut();
      await manager.delete(path);
      assert.equal(await witness.read(path), undefined);
      proxy.fault = { kind: 'none' };
    }
    // What was refused was refused: certainty does not come from looking away.
    await rejectsWith(manager.create(NODE, bytesOf('start')), 'STATE_EXISTS');
    await rejectsWith(manager.replace(NODE, bytesOf('a'), bytesOf('b')), 'STATE_CONFLICT');
  });

  it('costs no watch its last value', async (t) => {
    const { proxy, tree, direct } = await aTreeBehind(t);
    const { told } = record(tree.connect(), NODE);
    const writer = direct.connect();
    await eventually(() => assert.deepEqual(told, [undefined]));
    for (let value = 1; value <= 10; value += 1) {
      proxy.cutNow();
      await writer.write(NODE, bytesOf(`${value}`));
    }
    await eventually(() => assert.equal(told.at(-1), '10'));
    proxy.cutNow();
    await writer.delete(NODE);
    await eventually(() => assert.equal(told.at(-1), undefined));
  });
});

describe('servers that stay away', { skip: withoutZooKeeper() }, () => {
  it('O16: not longer than a session cost nothing: calls wait, nodes stay', async (t) => {
    const server = await ZooKeeperServer.start(t);
    const tree = aTree(t, server, { connectionTimeoutMs: 30_000 });
    const manager = tree.connect();
    await manager.create(MASTER, bytesOf('here'), { ephemeral: true });
    const { told } = record(manager, NODE);
    const master = record(manager, MASTER);
    await eventually(() => assert.deepEqual([told, master.told], [[undefined], ['here']]));
    await server.kill();
    const written = manager.write(NODE, bytesOf('waited'));
    await server.restart();
    await written;
    assert.equal(textOf(await manager.read(MASTER)), 'here');
    await eventually(() =>
      assert.deepEqual([told, master.told], [[undefined, 'waited'], ['here']]),
    );
  });

  it('are one clear message after the limit, and forgotten when they are back', async (t) => {
    const { proxy, tree, direct } = await aTreeBehind(t, { connectionTimeoutMs: 600 });
    const manager = tree.connect();
    await manager.write(NODE, bytesOf('before'));
    const { told } = record(manager, NODE);
    await eventually(() => assert.deepEqual(told, ['before']));
    proxy.fault = { kind: 'blackhole' };
    const calls = [
      manager.read(NODE),
      manager.list('topologies'),
      manager.write('topologies/other', bytesOf('')),
      // Behind the one before it, and no longer than that.
      manager.write('topologies/other', bytesOf('')),
      manager.nextEpoch(topologyId('words-1')),
    ];
    for (const outcome of await Promise.allSettled(calls)) {
      assert.ok(outcome.status === 'rejected');
      const error: unknown = outcome.reason;
      assert.ok(hasCode(error, 'STATE_UNAVAILABLE') && error.retryable, String(error));
      assert.match(error.message, /zookeeper:\/\/127\.0\.0\.1:\d+\/tests\/tree-\d+/);
    }
    await direct.connect().write(NODE, bytesOf('after'));
    assert.deepEqual(told, ['before']);
    proxy.fault = { kind: 'none' };
    proxy.cutNow();
    await eventually(() => assert.deepEqual(told, ['before', 'after']));
    assert.equal(textOf(await manager.read(NODE)), 'after');
  });

  it('do not keep a manager from closing', async (t) => {
    const { proxy, tree } = await aTreeBehind(t, { connectionTimeoutMs: 3_600_000 });
    const manager = tree.connect();
    await manager.write(NODE, bytesOf('before'));
    proxy.close();
    const pending = manager.write(NODE, bytesOf('never'));
    await Promise.all([rejectsWith(pending, 'STATE_UNAVAILABLE'), manager.close()]);
    const silent = await aTreeBehind(t, { connectionTimeoutMs: 3_600_000 });
    const waiting = silent.tree.connect();
    await waiting.write(NODE, bytesOf('before'));
    silent.proxy.fault = { kind: 'blackhole' };
    const unheard = waiting.write(NODE, bytesOf('never'));
    await Promise.all([rejectsWith(unheard, 'STATE_UNAVAILABLE'), waiting.close()]);
  });

  it('answer for all: what was written by one is read from every other', async (t) => {
    const ensemble = await ZooKeeperEnsemble.start(t);
    const leader = await ensemble.leader();
    const [follower, another] = ensemble.servers.filter((server) => server !== leader);
    assert.ok(follower !== undefined && another !== undefined);
    const tree = aTree(t, follower);
    const writer = tree.connect();
    const reader = new StateTree(t, { ...tree.address, servers: [another.address] }).connect();
    for (let round = 1; round <= ROUNDS; round += 1) {
      await writer.write(NODE, bytesOf(`${round}`));
      assert.equal(textOf(await reader.read(NODE)), `${round}`);
      const path = `topologies/${round}`;
      await writer.create(path, bytesOf('made'));
      assert.ok((await reader.list('topologies')).includes(`${round}`), path);
    }
  });

  it('take over for each other: a killed leader costs no write and no watch', async (t) => {
    const ensemble = await ZooKeeperEnsemble.start(t);
    const [server] = ensemble.servers;
    assert.ok(server !== undefined);
    const servers = ensemble.addresses;
    const tree = aTree(t, server, { servers, connectionTimeoutMs: 60_000 });
    const [one, other] = [tree.connect(), tree.connect()];
    await one.create(MASTER, bytesOf('here'), { ephemeral: true });
    const { told } = record(other, NODE);
    await (await ensemble.leader()).kill();
    for (let value = 1; value <= 20; value += 1) {
      await one.write(NODE, bytesOf(`${value}`));
      // Whichever server it asks has caught up.
      assert.equal(textOf(await other.read(NODE)), `${value}`);
    }
    assert.equal(textOf(await other.read(MASTER)), 'here');
    await eventually(() => assert.equal(told.at(-1), '20'));
  });
});

describe('a session that ends', { skip: withoutZooKeeper() }, () => {
  it('O14: is followed by another: nodes go, watches tell, owners make them again', async (t) => {
    const { proxy, tree, direct } = await aTreeBehind(t, { sessionTimeoutMs: SHORT_SESSION_MS });
    const owner = tree.connect();
    await owner.create(MASTER, bytesOf('first'), { ephemeral: true });
    const outside = record(direct.connect(), MASTER);
    const { told } = record(owner, MASTER);
    await eventually(() => assert.deepEqual([told, outside.told], [['first'], ['first']]));
    proxy.fault = { kind: 'blackhole' };
    proxy.cutNow();
    await eventually(() => assert.deepEqual(outside.told, ['first', undefined]));
    assert.deepEqual(told, ['first']);
    proxy.fault = { kind: 'none' };
    proxy.cutNow();
    await eventually(() => assert.deepEqual(told, ['first', undefined]));
    await owner.create(MASTER, bytesOf('second'), { ephemeral: true });
    await eventually(() => assert.equal(outside.told.at(-1), 'second'));
    await eventually(() => assert.equal(told.at(-1), 'second'));
    await owner.close();
    await eventually(() => assert.equal(outside.told.at(-1), undefined));
  });

  it('ends a manager that held a lock by it: nothing is written any more', async (t) => {
    const { proxy, tree, direct } = await aTreeBehind(t, { sessionTimeoutMs: SHORT_SESSION_MS });
    const command = tree.connect({}, { endsWithLostNodes: true });
    await command.create('.heron-ts/commands/words', bytesOf('mine'), { ephemeral: true });
    const { told } = record(command, '.heron-ts/commands/words');
    await eventually(() => assert.deepEqual(told, ['mine']));
    proxy.fault = { kind: 'blackhole' };
    proxy.cutNow();
    const late = rejectsWith(command.write(NODE, bytesOf('late')), 'STATE_UNAVAILABLE');
    const other = direct.connect();
    const lock = '.heron-ts/commands/words';
    await eventually(() => other.create(lock, bytesOf('other'), { ephemeral: true }));
    proxy.fault = { kind: 'none' };
    proxy.cutNow();
    await late;
    await eventually(() => assert.equal(told.at(-1), 'other'));
    await assert.rejects(
      command.write(NODE, bytesOf('late')),
      (error) => hasCode(error, 'STATE_UNAVAILABLE') && !error.retryable,
    );
    assert.equal(await other.read(NODE), undefined);
    assert.equal(textOf(await other.read(lock)), 'other');
  });

  it('does not end one that holds nothing any more', async (t) => {
    const { proxy, tree } = await aTreeBehind(t, { sessionTimeoutMs: SHORT_SESSION_MS });
    const command = tree.connect({}, { endsWithLostNodes: true });
    await command.create('.heron-ts/commands/words', bytesOf('mine'), { ephemeral: true });
    await command.delete('.heron-ts/commands/words');
    const before = proxy.connections;
    proxy.fault = { kind: 'blackhole' };
    proxy.cutNow();
    // Silent connections are given up one after the other while the session runs out.
    await eventually(() => assert.ok(proxy.connections > before + 2));
    proxy.fault = { kind: 'none' };
    proxy.cutNow();
    await command.write(NODE, bytesOf('later'));
    assert.equal(textOf(await command.read(NODE)), 'later');
  });
});
