import { environmentError, userError } from '../../base/errors.ts';
import type { TopologyView } from '../state/topology-view.ts';

/** The engine's own processes are components of this form. */
const OF_ENGINE = /^__\w+__$/;

/** @throws EngineError INVALID_ARGUMENT that names those that there are. */
export function checkComponent(view: TopologyView, component: string): void {
  if (OF_ENGINE.test(component)) return;
  const components: readonly string[] = namesOf(view);
  if (components.includes(component)) return;
  const known = components.join(', ');
  const text = `'${view.name}' has no component '${component}'; it has ${known}`;
  throw userError('INVALID_ARGUMENT', text);
}

/** @throws EngineError TOPOLOGY_NOT_READY while the topology's definition cannot be read. */
export function namesOf({ name, topology }: TopologyView): readonly string[] {
  if (topology !== undefined) return topology.components.map((component) => component.name);
  const text = `the definition of '${name}' cannot be read, so its components are not known`;
  throw environmentError('TOPOLOGY_NOT_READY', text, { retryable: true });
}
