import { unreachable } from '../base/assert.ts';
import type { ConfigMap } from '../model/logical-topology.ts';
import { Settings } from '../model/settings.ts';
import { firstFitDecreasing } from './first-fit-decreasing.ts';
import type { Packing } from './packing.ts';
import { resourceCompliant } from './resource-compliant.ts';
import { roundRobin } from './round-robin.ts';

/**
 * The packing that a topology's setting `heron.packing.algorithm` names.
 *
 * @throws EngineError INVALID_CONFIG when there is none of that name.
 */
export function createPacking(config: ConfigMap): Packing {
  const algorithm = new Settings(config).get('heron.packing.algorithm');
  switch (algorithm) {
    case 'round-robin':
      return roundRobin;
    case 'resource-compliant-round-robin':
      return resourceCompliant;
    case 'first-fit-decreasing':
      return firstFitDecreasing;
    default:
      return unreachable(algorithm);
  }
}
