import type { ConfigMap, LogicalTopology } from './logical-topology.ts';
import { effectiveConfig } from './runtime-config.ts';
import { Settings } from './settings.ts';

/** The settings of a component as they hold now; those of the component win, whenever they came. */
export function componentSettings(
  topology: Pick<LogicalTopology, 'config'>,
  component: { readonly config: ConfigMap },
): Settings {
  return new Settings(effectiveConfig(topology.config), effectiveConfig(component.config));
}
