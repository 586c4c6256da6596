import type { TopologyId } from '../base/ids.ts';
import { AdvisedError } from './advised-error.ts';
import type { FoundTopology } from './find-topology.ts';
import { placeText } from './place.ts';

/**
 * The id of a topology that runs, however well: for commands that can do nothing with another one.
 *
 * @throws EngineError TOPOLOGY_NOT_FOUND when it has completed, TOPOLOGY_NOT_READY when it is
 *   wreckage
 */
export function runningId({ place, status }: FoundTopology): TopologyId {
  const { id, state, record } = status;
  const { name } = record;
  if (state === 'COMPLETED') {
    throw new AdvisedError('TOPOLOGY_NOT_FOUND', `${name} has completed; nothing of it runs`, {
      domain: 'user',
      next: 'submit it again',
    });
  }
  if (id !== undefined && state !== 'HALF_DEAD' && state !== 'DAMAGED') return id;
  throw new AdvisedError('TOPOLOGY_NOT_READY', `${name} is ${state}: nothing runs`, {
    domain: 'environment',
    next: `'heron status ${placeText(place)} ${name}' says more`,
  });
}
