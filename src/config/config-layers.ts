import { join } from 'node:path';
import { type EngineError, userError } from '../base/errors.ts';
import type { ConfigMap, DeclaredTopology } from '../model/logical-topology.ts';
import { configWarnings, SETTING_KEYS, settingConflicts } from '../model/settings.ts';
import { isStateSetting } from '../model/state-settings.ts';
import { checkEntries } from './check-entries.ts';
import { readConfigFiles } from './config-files.ts';
import { type ConfigEntry, type ConfigLayer, textsOf } from './config-layer.ts';
import { environmentLayer } from './environment-layer.ts';

/*
  Where settings come from, from the weakest to the strongest:

    the engine's defaults            model/setting-table.ts
    the cluster's files              <config root>/<cluster>/*.yaml
    the topology's module            builder.setConfig(…); each component may have its own
    environment variables            HERON_TOPOLOGY_STMGRS=3
    flags of the command             --config-property topology.stmgrs=3

  What is about the state store is the cluster's alone: it stands in files or in the environment,
  and reaches the processes as an address (cluster-settings.ts).

  The module stands between: a cluster says what is usual, an author what the topology needs, and
  whoever submits it what this run is to have. All of them end up in the stored topology, so that
  its processes read nothing else.
*/

export interface ConfigSources {
  /** The folder with one folder for each cluster. */
  readonly configRoot: string;
  readonly cluster: string;
  readonly variables: NodeJS.ProcessEnv;
  /** Those of `--config-property`. */
  readonly properties: ConfigMap;
}

/** The layers around a topology's module. */
export interface ConfigLayers {
  /** Weaker than the module's settings: the cluster's files. */
  readonly below: ConfigMap;
  /** Stronger than the module's settings: environment and flags. */
  readonly above: ConfigMap;
  readonly warnings: readonly string[];
  /** The strongest entry of each key that one of the layers has. */
  readonly entries: ReadonlyMap<string, ConfigEntry>;
}

/** @throws EngineError INVALID_CONFIG with everything that is wrong, and where it stands. */
export async function readConfigLayers(sources: ConfigSources): Promise<ConfigLayers> {
  const files = await readConfigFiles(join(sources.configRoot, sources.cluster));
  const environment = environmentLayer(sources.variables);
  const flags = flagLayer(sources.properties);
  const layers = [files, environment, flags];
  const problems = layers.flatMap((layer) => layer.problems);
  if (problems.length > 0) throw invalidConfig(problems);
  return {
    below: ofTopologies(textsOf(files.entries)),
    above: ofTopologies(new Map([...textsOf(environment.entries), ...textsOf(flags.entries)])),
    warnings: layers.flatMap((layer) => layer.warnings),
    entries: new Map(layers.flatMap((layer) => [...layer.entries])),
  };
}

/** What contradicts itself in the layers alone: a topology's own settings may still mend it. */
export function layerConflicts({ entries }: ConfigLayers): readonly string[] {
  return settingConflicts(textsOf(entries)).map((conflict) => {
    const named = SETTING_KEYS.filter((key) => conflict.includes(key) && entries.has(key));
    const origins = named.map((key) => `${key} by ${entries.get(key)?.origin}`);
    return origins.length === 0 ? conflict : `${conflict} (${origins.join(', ')})`;
  });
}

/** One sentence for each key that the topology's module gave and that will be passed over. */
export function moduleWarnings(
  { config, components }: DeclaredTopology,
  { entries }: ConfigLayers,
): readonly string[] {
  const known = [
    ...configWarnings(config).filter(({ key }) => !entries.has(key)),
    ...components.flatMap((component) => configWarnings(component.config)),
  ];
  const configs = [config, ...components.map((component) => component.config)];
  const misplaced = configs.flatMap((each) => [...each.keys()].filter(isStateSetting));
  return [
    ...known.map(({ message }) => message),
    ...misplaced.map((key) => `'${key}' is the cluster's, not a topology's; it is passed over`),
  ];
}

function flagLayer(properties: ConfigMap): ConfigLayer {
  const origin = '--config-property';
  const entries = new Map(Array.from(properties, ([key, text]) => [key, { text, origin }]));
  const checked = checkEntries(entries);
  const misplaced = [...properties.keys()]
    .filter(isStateSetting)
    .map((key) => `${origin}: ${key} is the cluster's; write it to a file of its settings`);
  return { ...checked, problems: [...checked.problems, ...misplaced] };
}

function ofTopologies(config: ConfigMap): ConfigMap {
  return new Map([...config].filter(([key]) => !isStateSetting(key)));
}

export function invalidConfig(problems: readonly string[]): EngineError {
  const [only, ...others] = problems;
  const list = problems.map((problem) => `\n  - ${problem}`).join('');
  const what =
    only !== undefined && others.length === 0 ? only : `${problems.length} problems:${list}`;
  return userError('INVALID_CONFIG', `the settings are not valid: ${what}`);
}
