import { describe } from 'node:test';
import { stateManagerContract } from '../../../support/state-manager-contract.ts';
import { sharedZooKeeper, withoutZooKeeper } from '../../../support/zookeeper-server.ts';
import { aTree } from './state-tree.ts';

/* The ZooKeeper state manager on a real server: what every state manager does. */

const zookeeper = sharedZooKeeper();

describe('on a real ZooKeeper', { skip: withoutZooKeeper() }, () => {
  stateManagerContract('a ZooKeeper state manager', async (t) => aTree(t, await zookeeper()));
});
