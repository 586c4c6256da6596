import { EngineError, messageOf } from '../base/errors.ts';
import type { TopologyId, TopologyName } from '../base/ids.ts';
import type { Logger } from '../base/logger.ts';
import type { Address } from '../net/network.ts';
import { paths } from '../state-manager/paths.ts';
import type { StateManager, Watch } from '../state-manager/state-manager.ts';
import { TopologyMasterLocation } from '../wire/messages.ts';

export interface MasterLocationOptions {
  readonly stateManager: StateManager;
  readonly logger: Logger;
  readonly topologyName: TopologyName;
  readonly topologyId: TopologyId;
}

/**
 * Watches where the topology master is. A node that is gone changes nothing for a connection that
 * works, so only addresses are told; a node of another submit, or one that cannot be read, is none.
 */
export function watchMasterLocation(
  { stateManager, logger, topologyName, topologyId }: MasterLocationOptions,
  onAddress: (master: Address) => void,
): Watch {
  return stateManager.watch(paths.topologyMaster(topologyName), (bytes) => {
    if (bytes === undefined) return;
    try {
      const location = TopologyMasterLocation.decode(bytes);
      if (location.topologyId !== topologyId) return;
      onAddress({ host: location.host, port: location.serverPort });
    } catch (error) {
      if (!(error instanceof EngineError)) throw error;
      logger.warn(`the location of the topology master cannot be read: ${messageOf(error)}`);
    }
  });
}
