import { EngineError, messageOf } from '../base/errors.ts';
import type { TopologyId } from '../base/ids.ts';
import type { Logger } from '../base/logger.ts';
import type { Address } from '../net/network.ts';
import type { StateManager, Watch } from '../state-manager/state-manager.ts';
import type { MessageType } from '../wire/message-type.ts';

/** What the locations of the topology master and of the metrics cache have in common. */
interface StoreLocation {
  readonly topologyId: string;
  readonly host: string;
  readonly serverPort: number;
}

export interface StoreLocationOptions {
  readonly stateManager: StateManager;
  readonly logger: Logger;
  readonly topologyId: TopologyId;
  /** The node in the state tree, and what it holds. */
  readonly path: string;
  readonly message: MessageType<StoreLocation>;
  /** For log lines: `topology master`. */
  readonly peer: string;
}

/**
 * Watches where a store of metrics is. A node that is gone changes nothing for a connection that
 * works, so only addresses are told; a node of another submit, or one that cannot be read, is none.
 */
export function watchStoreLocation(
  { stateManager, logger, topologyId, path, message, peer }: StoreLocationOptions,
  onAddress: (store: Address) => void,
): Watch {
  return stateManager.watch(path, (bytes) => {
    if (bytes === undefined) return;
    try {
      const location = message.decode(bytes);
      if (location.topologyId !== topologyId) return;
      onAddress({ host: location.host, port: location.serverPort });
    } catch (error) {
      if (!(error instanceof EngineError)) throw error;
      logger.warn(`the location of the ${peer} cannot be read: ${messageOf(error)}`);
    }
  });
}
