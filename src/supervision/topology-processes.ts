import type { TopologyId } from '../base/ids.ts';
import type { ProcessIdentity } from '../base/process-identity.ts';
import type { ProcessTable } from './process-table.ts';

/*
  Every process that a topology ever started on this machine, found by a mark in its environment:
  children inherit it, so what user code starts is found too, even when its parents are dead. The
  id is random, so no other process carries it.
*/

const MARK = 'HERON_TOPOLOGY_ID';

/** What marks a process as one of this topology's. */
export function topologyMark(id: TopologyId): NodeJS.ProcessEnv {
  return { [MARK]: id };
}

export function findTopologyProcesses(
  processes: ProcessTable,
  id: TopologyId,
): readonly ProcessIdentity[] {
  return processes.findByVariable(MARK, id);
}
