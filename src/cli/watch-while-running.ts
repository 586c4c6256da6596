import { environmentError, hasCode } from '../base/errors.ts';
import type { TopologyId, TopologyName } from '../base/ids.ts';
import { paths } from '../state-manager/paths.ts';
import { decodeTopology } from '../wire/topology.ts';
import { watchUntil, type WatchedNode } from './watch-until.ts';

/**
 * Waits until a node of a topology is as wanted; false when that takes too long. A topology may
 * complete or be killed meanwhile, and what is waited for then never comes.
 *
 * @throws EngineError TOPOLOGY_NOT_FOUND as soon as the topology of this id has gone.
 */
export function watchWhileRunning(
  {
    name,
    id,
    ...watched
  }: Omit<WatchedNode, 'unless'> & { readonly name: TopologyName; readonly id: TopologyId },
  isWanted: (bytes: Uint8Array | undefined) => boolean,
): Promise<boolean> {
  const check = (bytes: Uint8Array | undefined): void => {
    if (isTopology(bytes, id)) return;
    throw environmentError('TOPOLOGY_NOT_FOUND', `${name} has ended meanwhile`);
  };
  return watchUntil({ ...watched, unless: { path: paths.topology(name), check } }, isWanted);
}

/** A record that cannot be read says nothing about whether the topology runs. */
function isTopology(bytes: Uint8Array | undefined, id: TopologyId): boolean {
  if (bytes === undefined) return false;
  try {
    return decodeTopology(bytes).id === id;
  } catch (error) {
    if (hasCode(error, 'STATE_CORRUPTED')) return true;
    throw error;
  }
}
