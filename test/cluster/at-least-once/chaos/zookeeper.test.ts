import { describe, it } from 'node:test';
import { Switchboard } from '../../../support/switchboard.ts';
import { aZooKeeperCluster } from '../../../support/zookeeper-cluster.ts';
import { withoutZooKeeper } from '../../../support/zookeeper-server.ts';
import { nothingIsLost, SEED } from './nothing-is-lost.ts';

/** Some are to run out, and not those of every process that is paused. */
const SESSION_MS = 10_000;

describe('with the state in ZooKeeper', { skip: withoutZooKeeper() }, () => {
  it(`loses nothing while processes, connections, sizes and store change (${SEED})`, async (t) => {
    // Ahead of the cluster, whose end may fail: a hook behind one that fails is not run.
    const board = await Switchboard.start(t);
    const { server, proxy, cluster } = await aZooKeeperCluster(t, SESSION_MS);
    const store = {
      cut: () => proxy.cutNow(),
      stop: () => server.pause(),
      goOn: () => server.resume(),
    };
    await nothingIsLost(t, { board, cluster, store });
  });
});
