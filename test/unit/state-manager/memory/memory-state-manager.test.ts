import {
  MemoryStateManager,
  MemoryStateTree,
} from '../../../../src/state-manager/memory/memory-state-manager.ts';
import { stateManagerContract } from '../../../support/state-manager-contract.ts';

stateManagerContract('the memory state manager', async (t) => {
  const tree = new MemoryStateTree();
  const connect = (): MemoryStateManager => {
    const manager = new MemoryStateManager(tree);
    t.after(() => manager.close());
    return manager;
  };
  return {
    connect,
    async connectDoomed() {
      const manager = connect();
      return {
        create: (path, bytes, options) => manager.create(path, bytes, options),
        die: async () => tree.expire(manager),
      };
    },
  };
});
