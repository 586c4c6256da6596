import { layerConflicts, readConfigLayers } from '../../config/config-layers.ts';
import { type DescribedSetting, describeSettings } from '../../config/describe-settings.ts';
import type { ConfigMap } from '../../model/logical-topology.ts';
import { checkCluster } from '../cluster.ts';
import type { CommandContext, CommandResult } from '../command-context.ts';
import { parsePlace } from '../place.ts';
import { textTable } from '../text-table.ts';

export interface ConfigShowArguments {
  /** A place, or only its cluster. */
  readonly place: string;
  readonly config: ConfigMap;
  /** Only what somebody has set. */
  readonly changed: boolean;
}

/** Shows each setting as a topology without settings of its own would get it here and now. */
export async function configShow(
  { place, config: properties, changed }: ConfigShowArguments,
  context: CommandContext,
): Promise<CommandResult> {
  const { cluster } = parsePlace(place);
  await checkCluster(cluster, context);
  const layers = await readConfigLayers({ ...context, cluster, properties });
  const warnings = [...layers.warnings, ...layerConflicts(layers)];
  const all = describeSettings(layers);
  const settings = changed ? all.filter(({ origin }) => origin !== 'default') : all;
  if (!context.output.isJson) {
    for (const warning of warnings) context.output.warn(`warning: ${warning}`);
  }
  const table = textTable(['SETTING', 'VALUE', 'FROM'], settings.map(row), context.output);
  return { json: { cluster, settings, warnings }, text: table };
}

function row({ key, value, unit, origin }: DescribedSetting): readonly string[] {
  if (value === null) return [key, '-', origin];
  const text = typeof value === 'object' ? JSON.stringify(value) : String(value);
  return [key, unit === null || unit === 'count' ? text : `${text} ${unit}`, origin];
}
