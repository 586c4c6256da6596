import { EngineError, messageOf, userError } from '../base/errors.ts';
import { type TopologyName, topologyName } from '../base/ids.ts';
import { type Completion, parseCompletion } from '../model/completion.ts';
import type { LogicalTopology } from '../model/logical-topology.ts';
import { didYouMean } from '../model/nearest.ts';
import type { PackingPlan } from '../model/packing-plan.ts';
import { storedPackingProblems, storedTopologyProblems } from '../model/validate-stored.ts';
import { topologyNameProblems } from '../model/validate-topology.ts';
import { paths } from '../state-manager/paths.ts';
import type { StateManager } from '../state-manager/state-manager.ts';
import { decodeExecutionState, type ExecutionState } from '../wire/execution-state.ts';
import { decodePackingPlan } from '../wire/packing-plan.ts';
import { decodePhysicalPlan } from '../wire/physical-plan.ts';
import { decodeTopology } from '../wire/topology.ts';
import { AdvisedError } from './advised-error.ts';
import { completePlace, type Place, placeText, type WrittenPlace } from './place.ts';

/*
  What the state tree says about one name. Commands that die leave some of the nodes without the
  others, and disks damage them, so each may be missing and a damaged one is only remembered: that
  is for `status` to show and for `kill` to remove.
*/

export interface TopologyRecord {
  readonly name: TopologyName;
  readonly topology: LogicalTopology | undefined;
  readonly packingPlan: PackingPlan | undefined;
  readonly execution: ExecutionState | undefined;
  /** Of the topology at hand, or of the last one of this name when there is none. */
  readonly completion: Completion | undefined;
  /** Anything at all that only a topology has, or had. */
  readonly hasNodes: boolean;
  /** One error for each node that is there but cannot be read. */
  readonly damage: readonly EngineError[];
}

/** @throws EngineError INVALID_ARGUMENT */
export function parseTopologyName(text: string): TopologyName {
  const [problem] = topologyNameProblems(text);
  if (problem !== undefined) throw userError('INVALID_ARGUMENT', problem.message);
  return topologyName(text);
}

export async function readTopologyRecord(
  stateManager: StateManager,
  name: TopologyName,
): Promise<TopologyRecord> {
  const damage: EngineError[] = [];
  let hasNodes = false;
  const read = async <Value>(
    path: string,
    decode: (bytes: Uint8Array) => Value,
  ): Promise<Value | undefined> => {
    const bytes = await stateManager.read(path);
    if (bytes === undefined) return undefined;
    if (path !== paths.completed(name)) hasNodes = true;
    try {
      return decode(bytes);
    } catch (error) {
      damage.push(damaged(path, error));
      return undefined;
    }
  };
  const topology = await read(paths.topology(name), decodeTopology);
  const packingPlan = await read(paths.packingPlan(name), decodePackingPlan);
  if (topology !== undefined) damage.push(...unfit(topology, packingPlan));
  const execution = await read(paths.executionState(name), decodeExecutionState);
  await read(paths.token(name), (bytes) => bytes);
  await read(paths.physicalPlan(name), decodePhysicalPlan);
  const completion = await read(paths.completed(name), parseCompletion);
  const isOfThis = topology === undefined ? !hasNodes : completion?.topologyId === topology.id;
  return {
    name,
    topology,
    packingPlan,
    execution,
    completion: isOfThis ? completion : undefined,
    hasNodes,
    damage,
  };
}

/** Where a topology belongs by its own record, or by what was written where it has none. */
export function placeOf(
  { execution }: TopologyRecord,
  written: WrittenPlace,
  currentUser: string,
): Place {
  if (execution === undefined) return completePlace(written, currentUser);
  const { cluster, role, environ } = execution;
  return { cluster, role, environ };
}

/** @throws EngineError TOPOLOGY_NOT_FOUND with what was probably meant. */
export async function notFound(
  stateManager: StateManager,
  name: TopologyName,
  written: WrittenPlace,
): Promise<EngineError> {
  const names = [
    ...(await stateManager.list(paths.topologies)),
    ...(await stateManager.list(paths.completedTopologies)),
  ];
  const known = names.filter((other) => other !== name); // Its own record, when it has completed.
  const where = [written.cluster, written.role, written.environ].filter(Boolean).join('/');
  const text = `there is no topology '${name}' in ${where}${didYouMean(name, known)}`;
  return userError('TOPOLOGY_NOT_FOUND', text);
}

export function isElsewhere(name: TopologyName, place: Place): EngineError {
  const there = placeText(place);
  return new AdvisedError('TOPOLOGY_NOT_FOUND', `the topology '${name}' belongs to ${there}`, {
    domain: 'user',
    next: `write ${there} in place of what you wrote`,
  });
}

/** What can be read may still not be fit to run, or not fit together. */
function unfit(
  topology: LogicalTopology,
  packingPlan: PackingPlan | undefined,
): readonly EngineError[] {
  const { name } = topology;
  const packing = packingPlan === undefined ? [] : storedPackingProblems(packingPlan, topology);
  return [
    ...storedTopologyProblems(topology).map((text) => damaged(paths.topology(name), text)),
    ...packing.map((text) => damaged(paths.packingPlan(name), text)),
  ];
}

function damaged(path: string, cause: unknown): EngineError {
  const text = `the node ${path} is damaged: ${messageOf(cause)}`;
  return new EngineError('STATE_CORRUPTED', text, { domain: 'environment', cause });
}
