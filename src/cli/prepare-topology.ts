import type { TopologyName } from '../base/ids.ts';
import { moduleWarnings, readConfigLayers } from '../config/config-layers.ts';
import type { ConfigMap, LogicalTopology, TopologyState } from '../model/logical-topology.ts';
import type { PackingPlan } from '../model/packing-plan.ts';
import { INSPECT_LIMIT_MS } from '../package/inspect-module.ts';
import { packageTopology } from '../package/package-topology.ts';
import { createPacking } from '../packing/create.ts';
import type { CommandContext } from './command-context.ts';
import type { Place } from './place.ts';

/** What a person has written about a topology that is to run. */
export interface TopologySource {
  readonly place: Place;
  readonly file: string;
  readonly name: TopologyName;
  readonly args: readonly string[];
  /** Settings of the command line; others come from where config-layers.ts says. */
  readonly config: ConfigMap;
  /** Whether its spouts are to emit from the start. */
  readonly initialState: Extract<TopologyState, 'RUNNING' | 'PAUSED'>;
  readonly timeoutSeconds: number;
}

/** A topology that has passed every check, with where its tasks will run. */
export interface PreparedTopology {
  readonly topology: LogicalTopology;
  readonly packingPlan: PackingPlan;
  readonly archivePath: string;
  /** The files that its module was bundled of. */
  readonly sources: readonly string[];
  /** Sentences for its author. */
  readonly warnings: readonly string[];
}

const MS_PER_SECOND = 1000;

/**
 * Bundles a module, looks at its topology in a process of its own, checks everything and deals the
 * tasks to containers. Touches nothing but the folder that is given.
 *
 * @throws EngineError with what is wrong with the module, its topology, its settings or its demands
 */
export async function prepareTopology(
  source: TopologySource,
  archiveFolder: string,
  context: CommandContext,
): Promise<PreparedTopology> {
  const { timeoutSeconds, place, config: properties, ...module } = source;
  const { cluster } = place;
  const layers = await readConfigLayers({ ...context, cluster, properties });
  const request = { ...module, config: layers.above, baseConfig: layers.below };
  const loadLimitMs = Math.min(INSPECT_LIMIT_MS, timeoutSeconds * MS_PER_SECOND);
  const packaged = await packageTopology({ ...request, archiveFolder, loadLimitMs }, context);
  const { topology, archivePath, sources } = packaged;
  context.afterStep('package');
  const packed = createPacking(topology.config).pack(topology);
  context.afterStep('pack');
  const unread = [...layers.warnings, ...moduleWarnings(topology, layers)];
  const warnings = [...packaged.warnings, ...unread, ...packed.warnings];
  return { topology, packingPlan: packed.plan, archivePath, sources, warnings };
}
