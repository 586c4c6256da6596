import { environmentError } from '../base/errors.ts';
import type { TopologyId, TopologyName } from '../base/ids.ts';
import type { LogicalTopology } from '../model/logical-topology.ts';
import type { PackingPlan } from '../model/packing-plan.ts';
import { paths } from '../state-manager/paths.ts';
import type { StateManager } from '../state-manager/state-manager.ts';
import { StoredTopology } from '../wire/messages.ts';
import { decodePackingPlan } from '../wire/packing-plan.ts';
import { decodeTopology, type TopologyMessage } from '../wire/topology.ts';

/** What a submit has stored and a master never changes. */
export interface TopologyFacts {
  readonly packing: PackingPlan;
  readonly topology: LogicalTopology;
  /** The same topology, for passing on. */
  readonly message: TopologyMessage;
}

/**
 * @throws EngineError START_TIMEOUT (retryable) while a node is missing, WRONG_TOPOLOGY when the
 *   name belongs to another submit, STATE_CORRUPTED, or what the state manager says.
 */
export async function readTopologyFacts(
  stateManager: StateManager,
  name: TopologyName,
  id: TopologyId,
): Promise<TopologyFacts> {
  const packing = decodePackingPlan(await present(stateManager, paths.packingPlan(name)));
  const bytes = await present(stateManager, paths.topology(name));
  const topology = decodeTopology(bytes);
  if (topology.name !== name || topology.id !== id) {
    const held = `${topology.name} (${topology.id})`;
    throw environmentError(
      'WRONG_TOPOLOGY',
      `this is the topology master of ${name} (${id}), but the state tree holds ${held}`,
    );
  }
  return { packing, topology, message: StoredTopology.decode(bytes) };
}

async function present(stateManager: StateManager, path: string): Promise<Uint8Array> {
  const bytes = await stateManager.read(path);
  if (bytes !== undefined) return bytes;
  throw environmentError('START_TIMEOUT', `there is no ${path}`, { retryable: true });
}
