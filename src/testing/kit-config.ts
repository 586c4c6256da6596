import type { BuiltTopology } from '../api/topology.ts';

/** Rings that hold what a test sends, at a tenth of the time that it takes to make large ones. */
const QUEUE_BYTES = 128 * 1024;

/** Settings that make a run cheap, for topologies that say nothing of their own. */
const KIT_CONFIG: ReadonlyMap<string, string> = new Map([
  ['heron.instance.queue.bytes', String(QUEUE_BYTES)],
]);

export function withKitConfig(built: BuiltTopology): BuiltTopology {
  const { topology } = built;
  const config = new Map([...KIT_CONFIG, ...topology.config]);
  return { ...built, topology: { ...topology, config } };
}
