import type { LogicalTopology } from './logical-topology.ts';

/**
 * True when no component is ours: then the topology's processes and tools may all be Heron's own.
 */
export function isForeignTopology(topology: LogicalTopology): boolean {
  return topology.components.every((component) => component.language !== 'typescript');
}
