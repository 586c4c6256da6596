import { userError } from '../base/errors.ts';
import type { ConfigMap } from './logical-topology.ts';
import { nearest } from './nearest.ts';
import { quotable } from './quotable.ts';
import { type Setting, SETTINGS } from './setting-table.ts';
import type { SettingType } from './setting-types.ts';

/*
  Typed reading of configs, which are text by key. Keys that the engine does not know are the
  user's own and pass; `misspeltKeys` finds those that look like a slip of the pen.
*/

export { SETTINGS } from './setting-table.ts';

export type SettingKey = keyof typeof SETTINGS;

/** The type of a setting's value; `undefined` is in it where there is no default. */
export type SettingValue<Key extends SettingKey> =
  (typeof SETTINGS)[Key] extends Setting<infer Value, infer Default> ? Value | Default : never;

/** What surrounds one tuple in a packet: names of component and stream, ids, lengths; with room. */
const PACKET_HEADERS_MAX = 64 * 1024;

export const SETTING_KEYS: readonly SettingKey[] = Object.keys(SETTINGS) as SettingKey[];

export function isSettingKey(key: string): key is SettingKey {
  return Object.hasOwn(SETTINGS, key);
}

/**
 * Configs stacked on each other, read with types and defaults.
 *
 * @example
 * ```ts
 * const settings = new Settings(topology.config, component.config);
 * settings.get('topology.stmgrs'); // number
 * ```
 */
export class Settings {
  readonly #layers: readonly ConfigMap[];

  /** Later layers win over earlier ones; the defaults lie below them all. */
  constructor(...layers: readonly ConfigMap[]) {
    this.#layers = layers.toReversed();
  }

  /** The text as it was written, also of keys that the engine does not know. */
  text(key: string): string | undefined {
    return this.#layers.find((layer) => layer.has(key))?.get(key);
  }

  /** @throws EngineError INVALID_CONFIG when the text is not of the setting's type. */
  get<Key extends SettingKey>(key: Key): SettingValue<Key> {
    const setting: Setting<unknown> = SETTINGS[key];
    const text = this.text(key);
    const value = text === undefined ? setting.default : parseSetting(key, text);
    // The table gives each key its parser and its default: both are of the key's type.
    return value as SettingValue<Key>;
  }
}

/**
 * The value of one setting's text.
 *
 * @throws EngineError INVALID_CONFIG that names the key, what is allowed, and the text.
 */
export function parseSetting(key: SettingKey, text: string): unknown {
  const value = typeOf(key).parse(text.trim());
  if (value === undefined) throw userError('INVALID_CONFIG', wrongText(key, text));
  return value;
}

/** One sentence for each text of a config that is not of its setting's type. */
export function configProblems(config: ConfigMap): readonly string[] {
  const problems: string[] = [];
  for (const [key, text] of config) {
    const isWrong = isSettingKey(key) && typeOf(key).parse(text.trim()) === undefined;
    if (isWrong) problems.push(wrongText(key, text));
  }
  return problems;
}

/**
 * One sentence for each pair of settings that cannot both hold. Expects texts of the right types.
 */
export function settingConflicts(config: ConfigMap): readonly string[] {
  if (configProblems(config).length > 0) return [];
  const settings = new Settings(config);
  const tuple = settings.get('heron.instance.set.data.tuple.size.bytes');
  const packet = settings.get('heron.streammgr.network.options.maximum.packet.mb') * 1024 * 1024;
  const least = settings.get('heron.executor.restart.backoff.min.ms');
  const most = settings.get('heron.executor.restart.backoff.max.ms');
  const problems: string[] = [];
  if (tuple + PACKET_HEADERS_MAX > packet) {
    problems.push(
      `heron.instance.set.data.tuple.size.bytes: a tuple of ${tuple} bytes and its headers must ` +
        `fit into heron.streammgr.network.options.maximum.packet.mb, which is ${packet} bytes`,
    );
  }
  if (least > most) {
    problems.push(
      `heron.executor.restart.backoff.min.ms: ${least} is above ` +
        `heron.executor.restart.backoff.max.ms, which is ${most}`,
    );
  }
  return problems;
}

/**
 * The engine's key that a user probably meant by a key that is not one, so that the caller can
 * warn. Only keys in the engine's own name spaces are looked at.
 */
export function nearestKnownKey(key: string): SettingKey | undefined {
  if (isSettingKey(key) || !/^(topology|heron)\./.test(key)) return undefined;
  const found = nearest(key, SETTING_KEYS);
  return found !== undefined && isSettingKey(found) ? found : undefined;
}

/** One sentence for each key of a config that looks like a slip of the pen. */
export function misspeltKeys(config: ConfigMap): readonly string[] {
  return [...config.keys()].flatMap((key) => {
    const meant = nearestKnownKey(key);
    if (meant === undefined) return [];
    return [`there is no setting '${quotable(key)}'; did you mean '${meant}'?`];
  });
}

function typeOf(key: SettingKey): SettingType<unknown> {
  return SETTINGS[key].type;
}

function wrongText(key: SettingKey, text: string): string {
  return `${key}: expected ${typeOf(key).expected}, got '${quotable(text)}'`;
}
