import { configWarnings, settingProblem } from '../model/settings.ts';
import { type ConfigEntry, type ConfigLayer, textsOf } from './config-layer.ts';

/** Says what is wrong with the settings of a layer, each with its origin. */
export function checkEntries(entries: ReadonlyMap<string, ConfigEntry>): ConfigLayer {
  const problems = Array.from(entries, ([key, { text, origin }]) => {
    const problem = key === 'topology.name' ? NAME : settingProblem(key, text);
    return problem === undefined ? [] : [`${origin}: ${problem}`];
  });
  const warnings = configWarnings(textsOf(entries)).map(
    ({ key, message }) => `${entries.get(key)?.origin}: ${message}`,
  );
  return { entries, problems: problems.flat(), warnings };
}

const NAME = "topology.name is what 'heron submit' is given; remove it";
