import { z } from '@hono/zod-openapi';
import { redacted } from '../../config/redacted.ts';
import type { ConfigMap } from '../../model/logical-topology.ts';
import { effectiveConfig, runtimeKey } from '../../model/runtime-config.ts';
import { isSettingKey, SETTING_KEYS, SETTINGS } from '../../model/settings.ts';
import type { Setting } from '../../model/setting.ts';

/*
  The settings of a topology with where each comes from. What may be a secret is not shown (R18).

    default     the engine's own; nobody has set it
    submitted   part of the stored topology, whether by its module, a file or a flag
    runtime     changed while it runs (heron update --runtime-config)
*/

export const configEntrySchema = z.object({
  key: z.string(),
  value: z.string().nullable(),
  origin: z.enum(['default', 'submitted', 'runtime']),
  /** Null: of the whole topology. */
  component: z.string().nullable(),
  unit: z.string().nullable(),
  /** True when a running topology heeds a new value. */
  isLive: z.boolean(),
});

export type ConfigEntry = z.output<typeof configEntrySchema>;

/** Defaults belong to the topology as a whole; a component has what it sets itself. */
export function configEntriesOf(config: ConfigMap, component: string | null): ConfigEntry[] {
  const effective = effectiveConfig(config);
  const all = component === null ? [...SETTING_KEYS, ...effective.keys()] : [...effective.keys()];
  return [...new Set<string>(all)].toSorted().map((key) => {
    const text = effective.get(key);
    const setting: Setting<unknown> | undefined = isSettingKey(key) ? SETTINGS[key] : undefined;
    const set = config.has(runtimeKey(key)) ? 'runtime' : 'submitted';
    return {
      key,
      value: text === undefined ? defaultText(setting?.default) : redacted(key, text),
      origin: text === undefined ? 'default' : set,
      component,
      unit: setting?.unit ?? null,
      isLive: setting?.isLive === true,
    };
  });
}

function defaultText(value: unknown): string | null {
  if (value === undefined) return null;
  if (value instanceof Map) return value.size === 0 ? null : JSON.stringify([...value]);
  if (Array.isArray(value)) return value.join(',');
  return typeof value === 'string' ? value : JSON.stringify(value);
}
