import { stat } from 'node:fs/promises';
import { resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import {
  type BuildOptions,
  type BuiltTopology,
  isTopologyDefinition,
  type TopologyDefinition,
} from '../api/topology.ts';
import { EngineError, userError } from '../base/errors.ts';
import { moduleFailed } from './module-error.ts';

export interface LoadOptions extends BuildOptions {
  /** The path that errors name: the author's file, where the module is a bundle made of it. */
  readonly shownAs?: string;
}

/**
 * Imports a topology module and builds the topology that it defines. Used at submit and again by
 * every instance (R2), with the same arguments.
 *
 * @param file Relative to the working directory, or absolute.
 * @throws EngineError MODULE_NOT_FOUND, MODULE_FAILED with the user's stack,
 *   MODULE_WITHOUT_TOPOLOGY, and what `TopologyDefinition.build` throws: INVALID_TOPOLOGY,
 *   INVALID_CONFIG, COMPONENT_FAILED.
 */
export async function loadTopologyModule(
  file: string,
  { shownAs, ...options }: LoadOptions = {},
): Promise<BuiltTopology> {
  const path = resolve(file);
  const shown = shownAs ?? path;
  await checkModuleFile(path);
  const definition = definitionIn(shown, await importModule(path, shown));
  try {
    return definition.build(options);
  } catch (error) {
    if (error instanceof EngineError) throw error;
    throw moduleFailed(`the function given to topology() in ${shown} failed`, error);
  }
}

/** @throws EngineError MODULE_NOT_FOUND with the path that was tried. */
export async function checkModuleFile(path: string): Promise<void> {
  let isFile: boolean;
  try {
    isFile = (await stat(path)).isFile();
  } catch (cause) {
    throw userError('MODULE_NOT_FOUND', `there is no topology module ${path}`, cause);
  }
  if (!isFile) throw userError('MODULE_NOT_FOUND', `${path} is a folder, not a topology module`);
}

type ModuleExports = Readonly<Record<string, unknown>>;

async function importModule(path: string, shown: string): Promise<ModuleExports> {
  try {
    return (await import(pathToFileURL(path).href)) as ModuleExports;
  } catch (error) {
    throw moduleFailed(`the module ${shown} failed while it was loaded`, error);
  }
}

/** The default export wins; otherwise exactly one export must be a topology. */
function definitionIn(shown: string, exported: ModuleExports): TopologyDefinition {
  const { default: byDefault } = exported;
  if (isTopologyDefinition(byDefault)) return byDefault;
  const found = Object.entries(exported).filter(([, value]) => isTopologyDefinition(value));
  const [only, ...others] = found;
  if (only !== undefined && others.length === 0) return only[1] as TopologyDefinition;
  throw userError('MODULE_WITHOUT_TOPOLOGY', explain(shown, Object.keys(exported), found));
}

function explain(
  shown: string,
  names: readonly string[],
  found: readonly (readonly [string, unknown])[],
): string {
  if (found.length > 1) {
    const several = found.map(([name]) => name).join(', ');
    return `${shown} exports several topologies (${several}); make the one to run the default`;
  }
  const what = names.length === 0 ? 'exports nothing' : `exports ${names.join(', ')}`;
  return (
    `${shown} exports no topology, it ${what}; ` +
    "write: export default topology('my-topology', (builder) => { … })"
  );
}
