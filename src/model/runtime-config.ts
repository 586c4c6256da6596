import { type ComponentName, componentName } from '../base/ids.ts';
import type { ConfigMap, LogicalTopology } from './logical-topology.ts';
import { didYouMean } from './nearest.ts';
import { quotable } from './quotable.ts';
import { REPLAYS_KEY, REPLAYS_KEY_REFUSED } from './replaying-spouts.ts';
import type { Setting } from './setting.ts';
import { isSettingKey, nearestKnownKey, settingProblem, SETTINGS } from './settings.ts';

/*
  Config that is changed while the topology runs. As in Heron, the value of a key K that was changed
  stands beside the submitted one, under `K:runtime`, in the topology of the physical plan; so
  everybody sees both, and a restart of any process changes nothing.
*/

const SUFFIX = ':runtime';

export interface RuntimeChange {
  /** Undefined: of the whole topology. */
  readonly component: ComponentName | undefined;
  readonly key: string;
  readonly value: string;
}

/** The key under which a plan's topology holds what has been changed. */
export function runtimeKey(key: string): string {
  return `${key}${SUFFIX}`;
}

/** The config as it holds now: what was submitted, under what has been changed since. */
export function effectiveConfig(config: ConfigMap): ConfigMap {
  const changes = [...config].filter(([key]) => key.endsWith(SUFFIX));
  if (changes.length === 0) return config;
  const effective = new Map([...config].filter(([key]) => !key.endsWith(SUFFIX)));
  for (const [key, value] of changes) effective.set(key.slice(0, -SUFFIX.length), value);
  return effective;
}

/**
 * The change that `[component:]key:value` asks for; undefined when it is of another form. As in
 * Heron, none of the three can hold a colon.
 */
export function parseRuntimeChange(text: string): RuntimeChange | undefined {
  const parts = text.split(':').map((part) => part.trim());
  if (parts.length > 3 || parts.includes('')) return undefined;
  const [value, key, component] = parts.toReversed();
  if (key === undefined || value === undefined) return undefined;
  return { component: component === undefined ? undefined : componentName(component), key, value };
}

/**
 * Everything for which changes cannot be made, one sentence each. Keys of the user's own are free;
 * of the engine's, those that its processes heed while they run.
 */
export function runtimeChangeProblems(
  changes: readonly RuntimeChange[],
  { components }: Pick<LogicalTopology, 'components'>,
): readonly string[] {
  const names = components.map(({ name }) => name);
  return changes.flatMap((change) => changeProblems(change, names));
}

function changeProblems(
  { component, key, value }: RuntimeChange,
  names: readonly ComponentName[],
): readonly string[] {
  const isKnown = component === undefined || names.includes(component);
  const unknown = `there is no component '${quotable(component ?? '')}'`;
  const refused = keyProblem(key, value);
  return [
    ...(isKnown ? [] : [`${unknown}${didYouMean(component, names)}`]),
    ...(refused === undefined ? [] : [refused]),
  ];
}

function keyProblem(key: string, value: string): string | undefined {
  if (key === REPLAYS_KEY) return REPLAYS_KEY_REFUSED;
  if (isSettingKey(key)) {
    const { isLive }: Setting<unknown> = SETTINGS[key];
    if (isLive !== true)
      return `${key} is read when a process starts; it cannot change while the topology runs`;
  }
  const meant = nearestKnownKey(key);
  const slip = `there is no setting '${quotable(key)}'; did you mean '${meant}'?`;
  return settingProblem(key, value) ?? (meant === undefined ? undefined : slip);
}
