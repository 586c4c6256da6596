import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { messageOf } from '../base/errors.ts';
import type { ConfigEntry, ConfigLayer } from './config-layer.ts';
import { parseConfigYaml } from './config-yaml.ts';
import { checkEntries } from './check-entries.ts';

/**
 * The settings of a cluster: all `.yaml` files of its folder, in the order of their names; later
 * ones win. A folder that is not there has none.
 */
export async function readConfigFiles(folder: string): Promise<ConfigLayer> {
  const { entries, problems } = await readConfigEntries(folder);
  const checked = checkEntries(entries);
  return { ...checked, problems: [...problems, ...checked.problems] };
}

/** The same without a look at the values; the problems are those of the files themselves. */
export async function readConfigEntries(
  folder: string,
): Promise<Pick<ConfigLayer, 'entries' | 'problems'>> {
  const entries = new Map<string, ConfigEntry>();
  const problems: string[] = [];
  for (const name of await yamlFiles(folder, problems)) {
    const file = join(folder, name);
    const text = await textOf(file, problems);
    if (text === undefined) continue;
    const parsed = parseConfigYaml(file, text);
    problems.push(...parsed.problems);
    for (const [key, entry] of parsed.entries) entries.set(key, entry);
  }
  return { entries, problems };
}

async function yamlFiles(folder: string, problems: string[]): Promise<readonly string[]> {
  try {
    const names = await readdir(folder);
    return names.filter((name) => /^[^.].*\.ya?ml$/.test(name)).toSorted();
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT')
      problems.push(`${folder}: ${messageOf(error)}`);
    return [];
  }
}

async function textOf(file: string, problems: string[]): Promise<string | undefined> {
  try {
    return await readFile(file, 'utf8');
  } catch (error) {
    problems.push(`${file}: ${messageOf(error)}`);
    return undefined;
  }
}
