import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { containerId } from '../../../../src/base/ids.ts';
import { paths } from '../../../../src/state-manager/paths.ts';
import { stateUrl } from '../../../../src/state-manager/state-address.ts';
import { encodePackingPlan } from '../../../../src/wire/packing-plan.ts';
import { encodeTopology } from '../../../../src/wire/topology.ts';
import { SubmittedTopology } from '../../../support/engine-process.ts';
import { eventually } from '../../../support/eventually.ts';
import { aPackingPlan } from '../../../support/placements.ts';
import { aSpout, aTopology } from '../../../support/topologies.ts';
import { withoutZooKeeper, ZooKeeperServer } from '../../../support/zookeeper-server.ts';
import { aTree } from './state-tree.ts';

/* O15: processes that start while the state store is away. */

/** How long these processes wait for what they need. */
const LIMIT_MS = 1_500;
const TOPOLOGY = aTopology([aSpout('word')]);
const IMPATIENT = {
  ...TOPOLOGY,
  config: new Map([['heron.check.tmanager.location.interval.ms', `${LIMIT_MS}`]]),
};
const PACKING = aPackingPlan([1]);

const PROCESSES = [
  {
    entry: 'topology-master/main',
    log: 'heron-tmanager.log',
    flags: () => ({
      'server-port': 0,
      'controller-port': 0,
      'stats-port': 0,
      'metrics-manager-port': 1,
    }),
    node: paths.topologyMaster(TOPOLOGY.name),
  },
  {
    entry: 'executor/main',
    log: 'heron-executor-0.log',
    flags: (folder: string) => ({ 'working-directory': folder }),
    node: paths.container(TOPOLOGY.name, containerId(0)),
  },
] as const;

for (const { entry, log, flags, node } of PROCESSES) {
  describe(`${entry} with a state store that is away`, () => {
    it('O15: ends with the reason when it stays away: 69', async (t) => {
      const submitted = await SubmittedTopology.create(t, IMPATIENT, PACKING);
      const state = 'zookeeper://127.0.0.1:1/heron?connection.timeout.ms=200';
      const started = submitted.start(entry, { flags: { ...flags(submitted.folder), state } });
      const { code, stderr } = await started.end;
      assert.equal(code, 69, stderr);
      assert.match(
        stderr,
        /cannot go on: cannot (read|write) the state node .* at zookeeper:\/\/127/,
      );
      assert.match(await submitted.readLog(log), /trying again/);
    });

    it('O15: runs when it comes late', { skip: withoutZooKeeper() }, async (t) => {
      const submitted = await SubmittedTopology.create(t, TOPOLOGY, PACKING);
      const server = await ZooKeeperServer.start(t);
      const tree = aTree(t, server, { connectionTimeoutMs: 500 });
      const before = tree.connect();
      await before.write(paths.topology(TOPOLOGY.name), encodeTopology(TOPOLOGY));
      await before.write(paths.packingPlan(TOPOLOGY.name), encodePackingPlan(PACKING));
      await before.close();
      await server.kill();
      const state = stateUrl(tree.address);
      submitted.start(entry, { flags: { ...flags(submitted.folder), state } });
      await eventually(async () => (await submitted.readLog(log)).includes('trying again'), {
        timeoutMs: 30_000,
      });
      await server.restart();
      const after = tree.connect();
      await eventually(async () => assert.ok((await after.read(node)) !== undefined), {
        timeoutMs: 30_000,
      });
    });
  });
}
