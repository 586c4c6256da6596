import type { ComponentName } from '../base/ids.ts';
import type { LogLevel } from '../base/logger.ts';
import { componentSettings } from './component-settings.ts';
import type { LogicalTopology } from './logical-topology.ts';

/** The level as it holds now: a component's own, or that of the whole topology. */
export function logLevelOf(topology: LogicalTopology, component?: ComponentName): LogLevel {
  const own = topology.components.find(({ name }) => name === component);
  return componentSettings(topology, own ?? { config: new Map() }).get('topology.log.level');
}
