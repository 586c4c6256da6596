import assert from 'node:assert/strict';
import { test } from 'node:test';
import { silentLogger } from '../../../src/base/logger.ts';
import { topologyId, topologyName } from '../../../src/base/ids.ts';
import { watchStoreLocation } from '../../../src/metrics-manager/store-location.ts';
import type { Address } from '../../../src/net/network.ts';
import { MemoryStateManager } from '../../../src/state-manager/memory/memory-state-manager.ts';
import { paths } from '../../../src/state-manager/paths.ts';
import { TopologyMasterLocation } from '../../../src/wire/messages.ts';
import { settled } from '../../support/settled.ts';

const NAME = topologyName('words');

test('addresses of our topology are told; anything else changes nothing', async () => {
  const stateManager = new MemoryStateManager();
  const told: Address[] = [];
  const options = {
    stateManager,
    logger: silentLogger,
    path: paths.topologyMaster(NAME),
    message: TopologyMasterLocation,
    peer: 'topology master',
  };
  const watch = watchStoreLocation({ ...options, topologyId: topologyId('words-1') }, (address) =>
    told.push(address),
  );
  const write = async (bytes: Uint8Array): Promise<void> => {
    await stateManager.write(paths.topologyMaster(NAME), bytes);
    await settled();
  };
  const location = (serverPort: number, id = 'words-1') =>
    TopologyMasterLocation.encode(
      TopologyMasterLocation.create({
        topologyName: NAME,
        topologyId: id,
        host: 'h',
        serverPort,
        controllerPort: 1,
      }),
    );
  await settled();
  await write(location(1));
  await write(Buffer.from('nonsense'));
  await write(location(2, 'words-2'));
  await stateManager.delete(paths.topologyMaster(NAME));
  await settled();
  await write(location(3));
  watch.close();
  await write(location(4));
  assert.deepEqual(told, [
    { host: 'h', port: 1 },
    { host: 'h', port: 3 },
  ]);
});
