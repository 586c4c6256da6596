import {
  type ContainerId,
  containerId,
  type TopologyId,
  type TopologyName,
} from '../../base/ids.ts';
import { paths } from '../../state-manager/paths.ts';
import type { StateManager } from '../../state-manager/state-manager.ts';

/*
  Removes a topology from the state tree, in Heron's order: first what live processes would look
  for, last what says that the topology exists, so that an interrupted removal can be found and
  repeated. The record of a completed topology stays.
*/

/** The first half: afterwards nobody finds the topology's processes any more. */
export async function removeRunningNodes(
  stateManager: StateManager,
  name: TopologyName,
): Promise<void> {
  await stateManager.delete(paths.topologyMaster(name));
  await stateManager.delete(paths.metricsCache(name));
  await stateManager.delete(paths.packingPlan(name));
  await stateManager.delete(paths.physicalPlan(name));
  for (const child of await stateManager.list(paths.containers(name))) {
    await stateManager.delete(paths.container(name, parseContainer(child)));
  }
  for (const child of await stateManager.list(paths.restarts(name))) {
    await stateManager.delete(paths.restart(name, parseContainer(child)));
  }
  await stateManager.delete(paths.scheduler(name));
}

/** The second half: afterwards the name is free. */
export async function removeTopologyNodes(
  stateManager: StateManager,
  name: TopologyName,
  ids: readonly TopologyId[],
): Promise<void> {
  await stateManager.delete(paths.drain(name));
  // Nobody finds an epoch counter by the topology's name: it goes before what leads to its id.
  for (const id of ids) await stateManager.delete(paths.epoch(id));
  await stateManager.delete(paths.token(name));
  await stateManager.delete(paths.executionState(name));
  await stateManager.delete(paths.topology(name));
}

function parseContainer(name: string): ContainerId {
  return containerId(Number(name));
}
