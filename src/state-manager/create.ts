import { FileStateManager } from './file/file-state-manager.ts';
import type { StateAddress } from './state-address.ts';
import type { StateManagerChoice, StateManagerPorts } from './state-manager-ports.ts';
import type { StateManager } from './state-manager.ts';
import { ZooKeeperStateManager } from './zookeeper/zookeeper-state-manager.ts';

/**
 * How long the servers of a store really remember a silent process: they have limits of their own.
 * Undefined for a store without sessions.
 *
 * @throws EngineError STATE_UNAVAILABLE, NOT_AUTHORIZED, or what reading the credentials throws.
 */
export async function grantedSessionMs(
  address: StateAddress,
  ports: StateManagerPorts,
): Promise<number | undefined> {
  if (address.kind === 'file') return undefined;
  const { sessionGrantedBy } = await import('./zookeeper/open-client.ts');
  return sessionGrantedBy({ ...ports, address });
}

/** Makes a state manager. It touches nothing until it is used. */
export function createStateManager(
  address: StateAddress,
  ports: StateManagerPorts,
  choice: StateManagerChoice = {},
): StateManager {
  return address.kind === 'file'
    ? new FileStateManager({ ...ports, root: address.folder })
    : new ZooKeeperStateManager({ ...ports, ...choice, address });
}
