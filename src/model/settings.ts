import { userError } from '../base/errors.ts';
import { heronSetting } from './heron-settings.ts';
import type { ConfigMap } from './logical-topology.ts';
import { nearest } from './nearest.ts';
import { quotable } from './quotable.ts';
import { REPLAYS_KEY, REPLAYS_KEY_REFUSED } from './replaying-spouts.ts';
import { type Setting, SETTINGS } from './setting-table.ts';
import type { SettingType } from './setting-types.ts';

/*
  Typed reading of configs, which are text by key. Keys that the engine does not know are the
  user's own and pass; `configWarnings` finds those that look as if the engine should know them.
*/

export { SETTINGS } from './setting-table.ts';

export type SettingKey = keyof typeof SETTINGS;

/** The type of a setting's value; `undefined` is in it where there is no default. */
export type SettingValue<Key extends SettingKey> =
  (typeof SETTINGS)[Key] extends Setting<infer Value, infer Default> ? Value | Default : never;

/** What surrounds one tuple in a packet: names of component and stream, ids, lengths; with room. */
const PACKET_HEADERS_MAX = 64 * 1024;

const HIGH_MARK = 'heron.streammgr.backpressure.high.bytes';
const LOW_MARK = 'heron.streammgr.backpressure.low.bytes';
const INSTANCE_CREDIT = 'heron.instance.credit.bytes';

/** How the engine's own keys begin. */
const NAME_SPACES = ['topology.', 'heron.'] as const;

/** Settings of which the first must be below the second, or equal where `true` says so. */
const ORDERED = [
  ['heron.executor.restart.backoff.min.ms', 'heron.executor.restart.backoff.max.ms', true],
  [
    'heron.streammgr.tmanager.heartbeat.interval.ms',
    'heron.tmanager.stmgr.state.timeout.ms',
    false,
  ],
  ['topology.retry.backoff.ms', 'topology.retry.backoff.max.ms', true],
] as const;

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

/** One sentence for each entry of a config that cannot hold: a wrong text, or a missing feature. */
export function configProblems(config: ConfigMap): readonly string[] {
  return Array.from(config, ([key, text]) => settingProblem(key, text)).filter(
    (problem) => problem !== undefined,
  );
}

/** One sentence when the text of this key cannot hold. */
export function settingProblem(key: string, text: string): string | undefined {
  if (isSettingKey(key)) {
    return typeOf(key).parse(text.trim()) === undefined ? wrongText(key, text) : undefined;
  }
  if (key === REPLAYS_KEY) return REPLAYS_KEY_REFUSED;
  const heron = heronSetting(key);
  const isAsked = heron?.fate === 'missing' && text.trim() !== heron.harmless;
  return isAsked ? `${quotable(key)} of Heron ${heron.explanation}` : undefined;
}

/**
 * One sentence for each pair of settings that cannot both hold. Expects texts of the right types.
 */
export function settingConflicts(config: ConfigMap): readonly string[] {
  if (configProblems(config).length > 0) return [];
  const settings = new Settings(config);
  return [
    ...tupleSizeConflicts(settings),
    ...timeoutConflicts(settings),
    ...droppingConflicts(settings),
    ...markConflicts(settings),
    ...ORDERED.flatMap(([lower, upper, isEqualFine]) => {
      const [least, most] = [settings.get(lower), settings.get(upper)];
      if (least < most || (isEqualFine && least === most)) return [];
      const relation = isEqualFine ? 'above' : 'not below';
      return [`${lower}: ${least} is ${relation} ${upper}, which is ${most}`];
    }),
  ];
}

function tupleSizeConflicts(settings: Settings): readonly string[] {
  const tuple = settings.get('heron.instance.set.data.tuple.size.bytes');
  const packet = settings.get('heron.streammgr.network.options.maximum.packet.mb') * 1024 * 1024;
  if (tuple + PACKET_HEADERS_MAX <= packet) return [];
  return [
    `heron.instance.set.data.tuple.size.bytes: a tuple of ${tuple} bytes and its headers must ` +
      `fit into heron.streammgr.network.options.maximum.packet.mb, which is ${packet} bytes`,
  ];
}

function timeoutConflicts(settings: Settings): readonly string[] {
  const timeout = settings.get('topology.message.timeout.secs');
  const hasOwnTimeout = timeout !== SETTINGS['topology.message.timeout.secs'].default;
  if (!hasOwnTimeout || settings.get('topology.enable.message.timeouts')) return [];
  return [
    `topology.message.timeout.secs: a time-out of ${timeout} s cannot hold while ` +
      'topology.enable.message.timeouts is false; remove one of the two',
  ];
}

/** Where tuples are dropped no spout stops, so it cannot be all of them. */
function droppingConflicts(settings: Settings): readonly string[] {
  const isDropping = settings.get('topology.droptuples.upon.backpressure');
  if (!isDropping || settings.get('topology.backpressure.scope') !== 'all') return [];
  return [
    "topology.backpressure.scope: 'all' stops spouts, but with " +
      'topology.droptuples.upon.backpressure tuples are dropped instead; remove one of the two',
  ];
}

function markConflicts(settings: Settings): readonly string[] {
  const { highBytes, lowBytes } = backPressureMarks(settings);
  const credit = settings.get(INSTANCE_CREDIT);
  return [
    ...(lowBytes < highBytes
      ? []
      : [`${LOW_MARK}: ${lowBytes} is not below ${HIGH_MARK}, which is ${highBytes}`]),
    ...(highBytes <= credit
      ? []
      : [
          `${HIGH_MARK}: ${highBytes} cannot be reached: what one instance may have sent ends at ` +
            `${INSTANCE_CREDIT}, which is ${credit}`,
        ]),
  ];
}

export interface BackPressureMarks {
  readonly highBytes: number;
  readonly lowBytes: number;
}

/**
 * The bytes that wait for one task when back pressure begins and ends. Where they are not set they
 * follow what an instance may send: one instance alone has to be able to reach the high mark.
 */
export function backPressureMarks(settings: Settings): BackPressureMarks {
  const markOf = (key: typeof HIGH_MARK | typeof LOW_MARK, most: number): number =>
    settings.text(key) === undefined ? Math.min(settings.get(key), most) : settings.get(key);
  const highBytes = markOf(HIGH_MARK, Math.floor(settings.get(INSTANCE_CREDIT) / 2));
  return { highBytes, lowBytes: markOf(LOW_MARK, Math.floor(highBytes / 4)) };
}

/**
 * The engine's key that a user probably meant by a key that is not one. Only keys in the engine's
 * own name spaces, or what could be a slip of theirs, are looked at.
 */
export function nearestKnownKey(key: string): SettingKey | undefined {
  if (isSettingKey(key)) return undefined;
  const space = key.slice(0, key.indexOf('.') + 1);
  if (nearest(space, NAME_SPACES) === undefined) return undefined;
  const found = nearest(key, SETTING_KEYS);
  return found !== undefined && isSettingKey(found) ? found : undefined;
}

export interface ConfigWarning {
  readonly key: string;
  readonly message: string;
}

/** What to tell of keys that will be passed over though they look as if they were the engine's. */
export function configWarnings(config: ConfigMap): readonly ConfigWarning[] {
  return Array.from(config.keys(), (key) => ({ key, message: warningOf(key) })).filter(
    (warning): warning is ConfigWarning => warning.message !== undefined,
  );
}

function warningOf(key: string): string | undefined {
  if (isSettingKey(key) || key === REPLAYS_KEY) return undefined;
  const heron = heronSetting(key);
  if (heron?.fate === 'missing') return undefined; // A problem, or it asks for nothing.
  if (heron !== undefined)
    return `${quotable(key)} of Heron ${heron.explanation}; it is passed over`;
  const meant = nearestKnownKey(key);
  const unknown = `there is no setting '${quotable(key)}'`;
  if (meant !== undefined) return `${unknown}; did you mean '${meant}'?`;
  if (!NAME_SPACES.some((space) => key.startsWith(space))) return undefined;
  return `${unknown}; give keys of your own another beginning than 'topology.' and 'heron.'`;
}

function typeOf(key: SettingKey): SettingType<unknown> {
  return SETTINGS[key].type;
}

function wrongText(key: SettingKey, text: string): string {
  return `${key}: expected ${typeOf(key).expected}, got '${quotable(text)}'`;
}
