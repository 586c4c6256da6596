import type { ConfigMap } from '../model/logical-topology.ts';
import type { SettingKey, SettingValue } from '../model/settings.ts';

/** What the value of a setting may be written as; inside, settings are text. */
export type ConfigValue =
  | string
  | number
  | boolean
  | readonly string[]
  | Readonly<Record<string, number>>;

type Written<Value> =
  Value extends ReadonlyMap<string, number> ? Readonly<Record<string, number>> : Value;

/** The engine's own settings with their types; see `SETTINGS`. */
type KnownConfig = {
  readonly [Key in SettingKey]?: Written<Exclude<SettingValue<Key>, undefined>> | string;
};

/**
 * Settings of a topology or a component. Besides the engine's own any key may be given: components
 * find it in `context.config.text(key)`.
 *
 * @example
 * ```ts
 * builder.setConfig({
 *   'topology.stmgrs': 2,
 *   'topology.component.rammap': { count: 512 * 1024 * 1024 },
 *   'words.minimum.length': 3,
 * });
 * ```
 */
export type ConfigInput = KnownConfig & { readonly [key: string]: ConfigValue | undefined };

/** Settings as the engine keeps them: text by key. */
export function toConfigMap(input: ConfigInput): ConfigMap {
  const config = new Map<string, string>();
  for (const [key, value] of Object.entries(input)) {
    if (value !== undefined) config.set(key, toText(value));
  }
  return config;
}

function toText(value: ConfigValue): string {
  if (typeof value !== 'object') return String(value);
  if (isList(value)) return value.join(',');
  return Object.entries(value)
    .map(([component, amount]) => `${component}:${amount}`)
    .join(',');
}

/** What `Array.isArray` says, which the compiler does not know of read-only arrays. */
function isList(value: object): value is readonly string[] {
  return Array.isArray(value);
}
