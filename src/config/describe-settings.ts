import { isSettingKey, parseSetting, SETTING_KEYS, SETTINGS } from '../model/settings.ts';
import type { Setting, SettingUnit } from '../model/setting-table.ts';
import type { ConfigLayers } from './config-layers.ts';
import { redacted } from './redacted.ts';

/** A setting as `heron config show` gives it. */
export interface DescribedSetting {
  readonly key: string;
  /** Of the setting's type; null where there is no value. */
  readonly value: string | number | boolean | Readonly<Record<string, number>> | null;
  readonly unit: SettingUnit | null;
  /** `default`, or where the value stands. */
  readonly origin: string;
}

/** All of the engine's settings in the order of their table, then those that it does not know. */
export function describeSettings({ entries }: ConfigLayers): readonly DescribedSetting[] {
  const others = [...entries.keys()].filter((key) => !isSettingKey(key)).toSorted();
  return [...SETTING_KEYS, ...others].map((key) => {
    const entry = entries.get(key);
    const setting: Setting<unknown> | undefined = isSettingKey(key) ? SETTINGS[key] : undefined;
    const unit = setting?.unit ?? null;
    if (entry === undefined) {
      return { key, value: shown(setting?.default), unit, origin: 'default' };
    }
    const text = redacted(key, entry.text);
    const isParsed = isSettingKey(key) && text === entry.text;
    const value = isParsed ? shown(parseSetting(key, text)) : text;
    return { key, value, unit, origin: entry.origin };
  });
}

function shown(value: unknown): DescribedSetting['value'] {
  if (value instanceof Map) return Object.fromEntries(value as ReadonlyMap<string, number>);
  if (Array.isArray(value)) return value.join(',');
  return (value ?? null) as DescribedSetting['value'];
}
