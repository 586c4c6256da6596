import { readdirSync, readFileSync } from 'node:fs';
import type { TopologyId } from '../base/ids.ts';
import { identityOf, type ProcessIdentity } from '../base/process-identity.ts';

/*
  Every process that a topology ever started on this machine, found by a mark in its environment:
  children inherit it, so what user code starts is found too, even when its parents are dead. The
  id is random, so no other process carries it. Only Linux shows environments; elsewhere nothing is
  found and pid files must do.
*/

const MARK = 'HERON_TOPOLOGY_ID';

/** What marks a process as one of this topology's. */
export function topologyMark(id: TopologyId): NodeJS.ProcessEnv {
  return { [MARK]: id };
}

export function findTopologyProcesses(id: TopologyId): readonly ProcessIdentity[] {
  if (process.platform !== 'linux') return [];
  const mark = Buffer.from(`${MARK}=${id}\0`);
  return readdirSync('/proc').flatMap((entry) => {
    const pid = Number(entry);
    if (!Number.isInteger(pid) || pid === process.pid) return [];
    const identity = identityOf(pid); // Before the look inside: the pid may change its owner.
    return identity !== undefined && hasInEnvironment(pid, mark) ? [identity] : [];
  });
}

function hasInEnvironment(pid: number, mark: Buffer): boolean {
  try {
    const environment = readFileSync(`/proc/${pid}/environ`);
    const at = environment.indexOf(mark);
    return at === 0 || (at > 0 && environment[at - 1] === 0);
  } catch {
    return false; // Gone, or another user's and so not ours.
  }
}
