import { systemClock } from '../../src/base/clock.ts';
import { silentLogger } from '../../src/base/logger.ts';
import { systemProcessIdentities } from '../../src/base/process-identities.ts';
import { createSystemRandom } from '../../src/base/random.ts';
import { systemFiles } from '../../src/base/system-files.ts';
import { tcpNetwork } from '../../src/net/tcp-network.ts';
import { createStateManager } from '../../src/state-manager/create.ts';
import type {
  StateManagerChoice,
  StateManagerPorts,
} from '../../src/state-manager/state-manager-ports.ts';
import type { StateAddress } from '../../src/state-manager/state-address.ts';
import type { StateManager } from '../../src/state-manager/state-manager.ts';

/** A state manager on the real machine; a bare path is the folder of a file state manager. */
export function stateManagerAt(
  where: StateAddress | string,
  ports: Partial<StateManagerPorts> = {},
  choice: StateManagerChoice = {},
): StateManager {
  const address = typeof where === 'string' ? ({ kind: 'file', folder: where } as const) : where;
  const all = {
    clock: systemClock,
    random: createSystemRandom(),
    logger: silentLogger,
    files: systemFiles,
    processes: systemProcessIdentities,
    network: tcpNetwork,
    variables: {},
    ...ports,
  };
  return createStateManager(address, all, choice);
}
