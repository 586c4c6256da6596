import { test } from 'node:test';
import { aCluster } from '../../../support/cluster.ts';
import { Switchboard } from '../../../support/switchboard.ts';
import { nothingIsLost, SEED } from './nothing-is-lost.ts';

test(`nothing is lost while processes, connections and sizes change (seed ${SEED})`, async (t) => {
  // Ahead of the cluster, whose end may fail: a hook behind one that fails is not run.
  const board = await Switchboard.start(t);
  await nothingIsLost(t, { board, cluster: await aCluster(t) });
});
