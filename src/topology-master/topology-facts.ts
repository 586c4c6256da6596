import { environmentError, messageOf } from '../base/errors.ts';
import { containerOfStreamManager, type TopologyId, type TopologyName } from '../base/ids.ts';
import type { Logger } from '../base/logger.ts';
import type { LogicalTopology } from '../model/logical-topology.ts';
import type { PackingPlan } from '../model/packing-plan.ts';
import { storedPackingProblems, storedTopologyProblems } from '../model/validate-stored.ts';
import { paths } from '../state-manager/paths.ts';
import type { StateManager } from '../state-manager/state-manager.ts';
import { StoredTopology } from '../wire/messages.ts';
import { decodePackingPlan } from '../wire/packing-plan.ts';
import { decodePhysicalPlan } from '../wire/physical-plan.ts';
import { decodeTopology, type TopologyMessage } from '../wire/topology.ts';

const NOTHING = { cpuCores: 0, ramBytes: 0, diskBytes: 0 };

/** What a submit has stored, and updates since. */
export interface TopologyFacts {
  readonly packing: PackingPlan;
  /** What it was read from; undefined when something else stands in for it. */
  readonly packingBytes: Uint8Array | undefined;
  readonly topology: LogicalTopology;
  /** The same topology, for passing on. */
  readonly message: TopologyMessage;
}

export interface FactSources {
  readonly stateManager: StateManager;
  readonly topologyName: TopologyName;
  readonly topologyId: TopologyId;
  /** The topology as it lies in the container's folder. */
  readonly definition?: Uint8Array | undefined;
  readonly logger: Logger;
}

/**
 * What a submit has stored may have been damaged since. A master that died of it would be started
 * again and again, so it goes on by what else is known, and says so in its log; `heron status`
 * reads the same nodes and shows what is wrong with them.
 *
 *   topology, unreadable or not fit to run   the definition in the container's folder
 *   packing plan, unreadable                 the placement of the physical plan that is in force
 *   packing plan that does not fit           as it is: the executors work by it too
 *
 * @throws EngineError START_TIMEOUT (retryable) while a node is missing, WRONG_TOPOLOGY when the
 *   name belongs to another submit, STATE_CORRUPTED (retryable: it may be mended) when nothing
 *   stands in for what is damaged, or what the state manager says.
 */
export async function readTopologyFacts(sources: FactSources): Promise<TopologyFacts> {
  const { stateManager, topologyName, logger } = sources;
  const { packing, packingBytes } = await readPacking(sources);
  const stored = await present(stateManager, paths.topology(topologyName));
  const bytes = soundTopology(stored, sources);
  const topology = decodeTopology(bytes);
  for (const problem of storedPackingProblems(packing, topology)) {
    logger.error('the packing plan does not fit its topology', { problem });
  }
  return { packing, packingBytes, topology, message: StoredTopology.decode(bytes) };
}

async function readPacking(
  sources: FactSources,
): Promise<Pick<TopologyFacts, 'packing' | 'packingBytes'>> {
  const { stateManager, topologyName, logger } = sources;
  const path = paths.packingPlan(topologyName);
  const bytes = await present(stateManager, path);
  try {
    return { packing: decodePackingPlan(bytes), packingBytes: bytes };
  } catch (error) {
    const placement = await placementInForce(sources);
    if (placement === undefined) throw unreadable(path, error);
    logger.error(`${path} cannot be read; the physical plan stands in for it`, { error });
    return { packing: placement, packingBytes: undefined };
  }
}

/** The part of a packing plan that a master needs; undefined when there is no readable plan. */
async function placementInForce({
  stateManager,
  topologyName,
  topologyId,
}: FactSources): Promise<PackingPlan | undefined> {
  const bytes = await stateManager.read(paths.physicalPlan(topologyName));
  const plan = bytes && unlessDamaged(() => decodePhysicalPlan(bytes));
  if (plan?.topology.id !== topologyId) return undefined;
  const containers = plan.streamManagers.flatMap(({ id }) => {
    const container = containerOfStreamManager(id);
    if (container === undefined) return [];
    const instances = plan.instances.filter(({ streamManager }) => streamManager === id);
    return [
      {
        id: container,
        required: NOTHING,
        instances: instances.map((instance) => ({ ...instance, resource: NOTHING })),
      },
    ];
  });
  return { id: topologyId, containers };
}

/** The bytes of the topology to work by. */
function soundTopology(stored: Uint8Array, sources: FactSources): Uint8Array {
  const { topologyName, definition, logger } = sources;
  const path = paths.topology(topologyName);
  const problems = problemsOf(stored, sources);
  if (problems.length === 0) return stored;
  const isDefinitionSound =
    definition !== undefined && problemsOf(definition, sources).length === 0;
  const stands = isDefinitionSound
    ? 'the definition in the container stands in for it'
    : 'it stays';
  for (const problem of problems) {
    logger.error(`${path} is not fit to run; ${stands}`, { problem });
  }
  if (isDefinitionSound) return definition;
  checkReadable(stored, path);
  return stored;
}

/** @throws EngineError WRONG_TOPOLOGY: that is no damage. */
function problemsOf(
  bytes: Uint8Array,
  { topologyName, topologyId }: FactSources,
): readonly string[] {
  let topology: LogicalTopology;
  try {
    topology = decodeTopology(bytes);
  } catch (error) {
    return [messageOf(error)];
  }
  if (topology.name !== topologyName || topology.id !== topologyId) {
    const held = `${topology.name} (${topology.id})`;
    throw environmentError(
      'WRONG_TOPOLOGY',
      `this is the topology master of ${topologyName} (${topologyId}), but the state tree holds ` +
        held,
    );
  }
  return storedTopologyProblems(topology);
}

function checkReadable(bytes: Uint8Array, path: string): void {
  try {
    decodeTopology(bytes);
  } catch (error) {
    throw unreadable(path, error);
  }
}

function unreadable(path: string, cause: unknown): Error {
  const text = `${path} cannot be read: ${messageOf(cause)}`;
  return environmentError('STATE_CORRUPTED', text, { retryable: true, cause });
}

function unlessDamaged<Value>(decode: () => Value): Value | undefined {
  try {
    return decode();
  } catch {
    return undefined;
  }
}

async function present(stateManager: StateManager, path: string): Promise<Uint8Array> {
  const bytes = await stateManager.read(path);
  if (bytes !== undefined) return bytes;
  throw environmentError('START_TIMEOUT', `there is no ${path}`, { retryable: true });
}
