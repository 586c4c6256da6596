import type { LogicalTopology } from './logical-topology.ts';
import { Settings } from './settings.ts';

/** Whether any spout of a topology begins traces; then all its tasks go on with them. */
export function samplesTraces({
  config,
  components,
}: Pick<LogicalTopology, 'config' | 'components'>): boolean {
  return components.some(
    (component) => new Settings(config, component.config).get('topology.trace.sample.ratio') > 0,
  );
}
