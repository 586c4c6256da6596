import type { ConfigMap } from './logical-topology.ts';
import type { SettingValue } from './settings.ts';

const MODE = 'topology.reliability.mode';
/** Heron's older spelling; its C++ and Java clients still write it. */
const ACKING = 'topology.acking';

export type Reliability = SettingValue<typeof MODE>;

/**
 * What a topology is promised for each tuple. Also for topologies of other languages, whose
 * settings nobody has checked: an absent mode with `topology.acking` is at least once, as in Heron.
 * Effectively once is at most once here: neither keeps account of tuples, and checkpoints, which
 * would make it more, are not taken.
 */
export function reliabilityOf(config: Pick<ConfigMap, 'get'>): Reliability {
  const mode = config.get(MODE)?.trim().toUpperCase();
  if (mode !== undefined) return mode === 'ATLEAST_ONCE' ? mode : 'ATMOST_ONCE';
  return config.get(ACKING)?.trim().toLowerCase() === 'true' ? 'ATLEAST_ONCE' : 'ATMOST_ONCE';
}
