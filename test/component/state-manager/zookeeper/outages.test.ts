import assert from 'node:assert/strict';
import { describe, it, type TestContext } from 'node:test';
import { systemClock } from '../../../../src/base/clock.ts';
import { createSystemRandom } from '../../../../src/base/random.ts';
import {
  hasReason,
  ZooKeeperError,
} from '../../../../src/state-manager/zookeeper/zookeeper-error.ts';
import { eventually } from '../../../support/eventually.ts';
import { FaultyProxy } from '../../../support/faulty-proxy.ts';
import {
  aClientOf,
  bytes,
  type ClientInTest,
  openClient,
  untilState,
} from '../../../support/zookeeper-client.ts';
import { sharedZooKeeper, withoutZooKeeper } from '../../../support/zookeeper-server.ts';

const zookeeper = sharedZooKeeper();
let folders = 0;

/** A client behind a proxy, and one that nothing happens to, in one folder. */
async function behindProxy(
  t: TestContext,
  { sessionTimeoutMs = 30_000, requestTimeoutMs = 60_000 } = {},
): Promise<{ cut: ClientInTest; whole: ClientInTest; proxy: FaultyProxy }> {
  const server = await zookeeper();
  const proxy = await FaultyProxy.start(t, server.port);
  folders += 1;
  const chroot = `/outage-${folders}`;
  const cut = await aClientOf(t, [proxy], { chroot, sessionTimeoutMs, requestTimeoutMs });
  return { cut, whole: openClient(t, [server], { chroot }), proxy };
}

/** Whoever is connected notices; whoever dials is accepted and hears nothing. */
function takeAway(proxy: FaultyProxy): void {
  proxy.fault = { kind: 'blackhole' };
  proxy.cutNow();
}

function giveBack(proxy: FaultyProxy): void {
  proxy.fault = { kind: 'none' };
  proxy.cutNow();
}

const text = ({ data }: { readonly data: Uint8Array }): string => Buffer.from(data).toString();

describe('a ZooKeeper client whose connection breaks', { skip: withoutZooKeeper() }, () => {
  it('says that what was under way may have happened, and goes on in its session', async (t) => {
    const { cut, whole, proxy } = await behindProxy(t);
    await cut.client.create('/mine', bytes('a'), { mode: 'ephemeral' });
    await cut.client.getData('/mine', cut.watcher);
    const { sessionId } = cut.client;
    proxy.fault = { kind: 'blackhole' };
    const asked = cut.client.setData('/mine', bytes('b'));
    giveBack(proxy);
    await assert.rejects(asked, (error) => {
      return hasReason(error, 'CONNECTION_LOST') && error.isUncertain && error.retryable;
    });
    assert.equal(text(await cut.client.getData('/mine')), 'a');
    assert.deepEqual(cut.states, ['connected', 'suspended', 'connected']);
    assert.equal(cut.client.sessionId, sessionId);
    assert.equal((await whole.client.exists('/mine'))?.ephemeralOwner, sessionId);
    await whole.client.setData('/mine', bytes('c'));
    await cut.client.sync('/');
    assert.deepEqual(cut.told, ['changed /mine']);
  });

  it('is not deaf after half an answer', async (t) => {
    const { cut, proxy } = await behindProxy(t);
    await cut.client.create('/large', new Uint8Array(100_000));
    for (const afterBytes of [50, 57, 60, 100, 70_000]) {
      proxy.fault = { kind: 'cut', afterBytes };
      await assert.rejects(cut.client.getData('/large'), (error) => {
        return hasReason(error, 'CONNECTION_LOST') && error.isUncertain;
      });
      assert.equal((await cut.client.getData('/large')).data.length, 100_000);
    }
  });

  it('lets requests wait for its return, in their order, each within its limit', async (t) => {
    const { cut, proxy } = await behindProxy(t, { requestTimeoutMs: 2_000 });
    await cut.client.create('/a', bytes('0'));
    takeAway(proxy);
    await untilState(cut, 'suspended');
    await assert.rejects(cut.client.setData('/a', bytes('late')), (error) => {
      return (
        hasReason(error, 'TIMED_OUT') && !error.isUncertain && error.code === 'STATE_UNAVAILABLE'
      );
    });
    const waiting = ['1', '2', '3'].map((value) => cut.client.setData('/a', bytes(value)));
    giveBack(proxy);
    const versions = (await Promise.all(waiting)).map(({ version }) => version);
    assert.deepEqual(versions, [1, 2, 3]);
    assert.equal(text(await cut.client.getData('/a')), '3');
  });

  it('is told of all that happened to what it watched while it was away', async (t) => {
    const { cut, whole, proxy } = await behindProxy(t);
    for (const name of ['changed', 'deleted', 'still', 'again', 'parent']) {
      await cut.client.create(`/${name}`, bytes(''));
    }
    for (const name of ['changed', 'deleted', 'still', 'again']) {
      await cut.client.getData(`/${name}`, cut.watcher);
    }
    for (const name of ['later', 'never']) await cut.client.exists(`/${name}`, cut.watcher);
    for (const name of ['parent', 'still']) await cut.client.getChildren(`/${name}`, cut.watcher);
    takeAway(proxy);
    await untilState(cut, 'suspended');
    await whole.client.setData('/changed', bytes('new'));
    await whole.client.delete('/deleted');
    await whole.client.delete('/again');
    await whole.client.create('/again', bytes(''));
    await whole.client.create('/later', bytes(''));
    await whole.client.create('/parent/child', bytes(''));
    giveBack(proxy);
    await untilState(cut, 'connected');
    await cut.client.sync('/');
    assert.deepEqual(cut.told.toSorted(), [
      'changed /again',
      'changed /changed',
      'children /parent',
      'created /later',
      'deleted /deleted',
    ]);
    await whole.client.setData('/still', bytes('new'));
    await whole.client.create('/never', bytes(''));
    await cut.client.sync('/');
    assert.deepEqual(cut.told.slice(5), ['changed /still', 'created /never']);
  });

  it('arms more watches again than one request could carry', async (t) => {
    const { cut, whole, proxy } = await behindProxy(t);
    const paths = Array.from({ length: 1_500 }, (_, index) => `/${'x'.repeat(900)}-${index}`);
    await Promise.all(paths.map((path) => cut.client.exists(path, cut.watcher)));
    takeAway(proxy);
    await untilState(cut, 'suspended');
    const chosen = paths.filter((_, index) => index % 100 === 0 || index === paths.length - 1);
    await Promise.all(chosen.map((path) => whole.client.create(path, bytes(''))));
    giveBack(proxy);
    await untilState(cut, 'connected');
    await cut.client.sync('/');
    const created = chosen.map((path) => `created ${path}`);
    assert.deepEqual(cut.told.toSorted(), created.toSorted());
    const [later = ''] = paths.filter((path) => !chosen.includes(path));
    await whole.client.create(later, bytes(''));
    await cut.client.sync('/');
    assert.equal(cut.told.at(-1), `created ${later}`);
  });

  it('sees the last of many changes, however often it is cut off', async (t) => {
    const { cut, whole, proxy } = await behindProxy(t);
    const last = 400;
    await whole.client.create('/counter', bytes('0'));
    let seen = -1;
    const look = async (): Promise<void> => {
      try {
        const value = Number(text(await cut.client.getData('/counter', () => void look())));
        assert.ok(value >= seen, `${value} after ${seen}`);
        seen = value;
      } catch (error) {
        if (!(error instanceof ZooKeeperError && error.isUncertain)) throw error;
        await look();
      }
    };
    await look();
    for (let value = 1; value <= last; value += 1) {
      await whole.client.setData('/counter', bytes(String(value)));
      if (value % 20 === 0) proxy.fault = { kind: 'cut', afterBytes: (value * 7) % 173 };
    }
    proxy.fault = { kind: 'none' };
    await eventually(() => assert.equal(seen, last));
    assert.ok(cut.states.includes('suspended'));
  });

  it('closes at once', async (t) => {
    const { cut, proxy } = await behindProxy(t);
    takeAway(proxy);
    await untilState(cut, 'suspended');
    const asked = assert.rejects(cut.client.exists('/a'), (error) => hasReason(error, 'CLOSED'));
    const startMs = systemClock.now();
    await cut.client.close();
    await asked;
    assert.ok(systemClock.now() - startMs < 500, 'it waited for a server');
  });
});

describe('a ZooKeeper client of several addresses', { skip: withoutZooKeeper() }, () => {
  for (const first of ['dead', 'silent', 'good']) {
    it(`finds the server that serves when it begins with a ${first} one`, async (t) => {
      const { port } = await zookeeper();
      const silent = await FaultyProxy.start(t, port);
      silent.fault = { kind: 'blackhole' };
      const ports = { dead: 1, silent: silent.port, good: port };
      const servers = Object.entries(ports)
        .toSorted(([a], [b]) => Number(b === first) - Number(a === first))
        .map(([, ofServer]) => ({ port: ofServer }));
      const inOrder = { ...createSystemRandom(), below: (limit: number) => limit - 1 };
      const mine = openClient(t, servers, { random: inOrder, sessionTimeoutMs: 3_000 });
      await mine.client.exists('/');
      assert.deepEqual(mine.states, ['connected']);
    });
  }
});

describe('a ZooKeeper session', { skip: withoutZooKeeper() }, () => {
  it('is lost when the servers say so, and everybody hears of it', async (t) => {
    const { cut, whole, proxy } = await behindProxy(t, { sessionTimeoutMs: 1_500 });
    await cut.client.create('/mine', bytes(''), { mode: 'ephemeral' });
    await cut.client.getData('/mine', cut.watcher);
    await cut.client.exists('/later', cut.watcher);
    await cut.client.getChildren('/', cut.watcher);
    takeAway(proxy);
    await untilState(cut, 'suspended');
    await eventually(async () => assert.equal(await whole.client.exists('/mine'), undefined));
    assert.equal(cut.client.state, 'suspended', 'nobody has told it yet');
    const waiting = assert.rejects(cut.client.exists('/mine'), (error) => {
      return hasReason(error, 'SESSION_EXPIRED') && !error.isUncertain;
    });
    giveBack(proxy);
    await untilState(cut, 'lost');
    await waiting;
    assert.deepEqual(cut.states, ['connected', 'suspended', 'lost SESSION_EXPIRED']);
    assert.deepEqual(cut.told, ['lost /mine', 'lost /later', 'lost /']);
    await assert.rejects(cut.client.exists('/mine'), (error) =>
      hasReason(error, 'SESSION_EXPIRED'),
    );
  });

  it('is suspended by a server that says nothing, and goes on with one that woke up', async (t) => {
    const server = await zookeeper();
    const mine = await aClientOf(t, [server], { sessionTimeoutMs: 4_500 });
    await mine.client.create('/mine', bytes(''), { mode: 'ephemeral' });
    const startMs = systemClock.now();
    server.pause();
    t.after(() => server.resume());
    await untilState(mine, 'suspended');
    const suspendedMs = systemClock.now() - startMs;
    server.resume();
    await untilState(mine, 'connected');
    assert.equal((await mine.client.exists('/mine'))?.ephemeralOwner, mine.client.sessionId);
    assert.deepEqual(mine.states, ['connected', 'suspended', 'connected']);
    assert.ok(suspendedMs < 4_500, `only after ${suspendedMs} ms`);
  });

  it('lives on when its only server is killed and started again', async (t) => {
    const server = await zookeeper();
    const mine = await aClientOf(t, [server], { chroot: '/restarted' });
    await mine.client.create('/mine', bytes('kept'), { mode: 'ephemeral' });
    await mine.client.getData('/mine', mine.watcher);
    await server.kill();
    await untilState(mine, 'suspended');
    const waiting = mine.client.getData('/mine');
    await server.restart();
    assert.equal(text(await waiting), 'kept');
    assert.deepEqual(mine.states, ['connected', 'suspended', 'connected']);
    const other = openClient(t, [server], { chroot: '/restarted' });
    await other.client.setData('/mine', bytes('new'));
    await mine.client.sync('/');
    assert.deepEqual(mine.told, ['changed /mine']);
  });

  it('is lost when its server has forgotten more than that: a backup was restored', async (t) => {
    const server = await zookeeper();
    const mine = await aClientOf(t, [server], { sessionTimeoutMs: 1_500 });
    await mine.client.getChildren('/', mine.watcher);
    await server.kill();
    await server.wipe();
    await server.restart();
    await untilState(mine, 'lost');
    assert.deepEqual(mine.told, ['lost /']);
    assert.deepEqual(mine.states, ['connected', 'suspended', 'lost SESSION_EXPIRED']);
    const next = await aClientOf(t, [server]);
    assert.equal(next.client.state, 'connected');
  });
});
