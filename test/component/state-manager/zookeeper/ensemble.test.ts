import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { eventually } from '../../../support/eventually.ts';
import { aClientOf, bytes, openClient, untilState } from '../../../support/zookeeper-client.ts';
import {
  withoutZooKeeper,
  ZooKeeperEnsemble,
  type ZooKeeperServer,
} from '../../../support/zookeeper-server.ts';

type Three = readonly [ZooKeeperServer, ZooKeeperServer, ZooKeeperServer];

const text = ({ data }: { readonly data: Uint8Array }): string => Buffer.from(data).toString();

describe('three ZooKeeper servers', { skip: withoutZooKeeper() }, () => {
  it('stand for each other: any one stopped, the leader killed, two of them gone', async (t) => {
    const ensemble = await ZooKeeperEnsemble.start(t);
    const { servers } = ensemble;
    const mine = await aClientOf(t, servers, { sessionTimeoutMs: 6_000, chroot: '/mine' });
    const other = openClient(t, servers, { chroot: '/mine' });
    await mine.client.create('/owned', bytes('0'), { mode: 'ephemeral' });
    const isKept = async (): Promise<void> => {
      await mine.client.sync('/');
      const found = await mine.client.exists('/owned');
      assert.equal(found?.ephemeralOwner, mine.client.sessionId);
    };

    await t.test('a client leaves a server that says nothing', async () => {
      const follower = await serverOf(mine.client.sessionId, servers);
      follower.pause();
      try {
        await untilState(mine, 'suspended');
        await untilState(mine, 'connected');
        await isKept();
      } finally {
        follower.resume();
      }
    });

    await t.test('the leader is killed, and comes back', async () => {
      const leader = await ensemble.leader();
      await mine.client.exists('/news', mine.watcher);
      await leader.kill();
      await eventually(async () => void (await other.client.create('/news', bytes(''))), {
        timeoutMs: 60_000,
      });
      await isKept();
      assert.deepEqual(mine.told, ['created /news']);
      await leader.restart();
    });

    await t.test('nothing is decided by one of three, and nobody is lost', async () => {
      const [first, second, third] = servers as Three;
      await Promise.all([first.kill(), second.kill()]);
      // Until it has noticed, it takes sessions and requests that it cannot decide.
      await eventually(() => assert.rejects(third.mode()), { timeoutMs: 60_000 });
      await untilState(mine, 'suspended');
      const waiting = mine.client.setData('/owned', bytes('1'));
      await Promise.all([first.launch(), second.launch()]);
      await Promise.all([first.untilReady(), second.untilReady()]);
      await waiting;
      assert.equal(text(await mine.client.getData('/owned')), '1');
      await isKept();
      assert.ok(!mine.states.some((state) => state.startsWith('lost')), mine.states.join());
    });
  });
});

/** The one that a session is connected with; each names its sessions. */
async function serverOf(
  sessionId: bigint,
  servers: readonly ZooKeeperServer[],
): Promise<ZooKeeperServer> {
  const lists = await Promise.all(servers.map((server) => server.sessions()));
  const server = servers[lists.findIndex((sessions) => sessions.includes(sessionId))];
  assert.ok(server, 'the session is connected with one of them');
  return server;
}
