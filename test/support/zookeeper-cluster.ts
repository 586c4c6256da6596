import type { TestContext } from 'node:test';
import type { ZooKeeperStateAddress } from '../../src/state-manager/state-address.ts';
import { aCluster } from './cluster.ts';
import { FaultyProxy } from './faulty-proxy.ts';
import { openClient } from './zookeeper-client.ts';
import { ZooKeeperServer } from './zookeeper-server.ts';

/** Soon over, so that a test can outlast one. */
const SESSION_MS = 4_000;

/**
 * A cluster `zk` on a ZooKeeper server of its own, which it reaches over a proxy; `client` reaches
 * the server without it. Only where ZooKeeper is installed: see `withoutZooKeeper`.
 */
export async function aZooKeeperCluster(t: TestContext, sessionMs = SESSION_MS) {
  const server = await ZooKeeperServer.start(t);
  const proxy = await FaultyProxy.start(t, server.port);
  const state: ZooKeeperStateAddress = {
    kind: 'zookeeper',
    servers: [server.address],
    root: '/heron',
    sessionTimeoutMs: sessionMs,
    connectionTimeoutMs: 2_000,
  };
  const settings = [
    `heron.statemgr.address: zookeeper://127.0.0.1:${proxy.port}/heron`,
    `heron.statemgr.zookeeper.session.timeout.ms: ${sessionMs}`,
    'heron.statemgr.zookeeper.connection.timeout.ms: 2000',
  ];
  // Opened first, so that it is closed first: what the cluster leaves must not keep it open.
  const { client } = openClient(t, state.servers, { chroot: state.root });
  const cluster = await aCluster(t, { name: 'zk', state, settings });
  return { server, proxy, cluster, client };
}
