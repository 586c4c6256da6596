import { nearest } from '../model/nearest.ts';
import { quotable } from '../model/quotable.ts';
import { SETTING_KEYS, type SettingKey } from '../model/settings.ts';
import { checkEntries } from './check-entries.ts';
import type { ConfigEntry, ConfigLayer } from './config-layer.ts';

/*
  Settings in environment variables: HERON_ and the key in capitals, with `_` for `.`; a key that
  begins with `heron.` does not get HERON_ twice. Only the engine's settings can be given so.

    topology.max.spout.pending   HERON_TOPOLOGY_MAX_SPOUT_PENDING
    heron.shutdown.grace.ms      HERON_SHUTDOWN_GRACE_MS
*/

const PREFIX = 'HERON_';

/** Variables of ours that are no settings. */
const OTHERS: ReadonlySet<string> = new Set([
  'HERON_DATA',
  'HERON_CONFIG',
  'HERON_TOKEN',
  'HERON_STATE_DIGEST',
  'HERON_TOPOLOGY_ID',
]);

export function variableOf(key: SettingKey): string {
  const name = key.toUpperCase().replaceAll('.', '_');
  return name.startsWith(PREFIX) ? name : PREFIX + name;
}

const KEYS: ReadonlyMap<string, SettingKey> = new Map(
  SETTING_KEYS.map((key) => [variableOf(key), key]),
);

/** An empty variable counts as none. */
export function environmentLayer(variables: NodeJS.ProcessEnv): ConfigLayer {
  const entries = new Map<string, ConfigEntry>();
  const unknown: string[] = [];
  for (const [name, text] of Object.entries(variables)) {
    if (!name.startsWith(PREFIX) || text === undefined || text === '') continue;
    const key = KEYS.get(name);
    if (key !== undefined) entries.set(key, { text, origin: `environment variable ${name}` });
    else if (!OTHERS.has(name)) unknown.push(...suspicion(name));
  }
  const checked = checkEntries(entries);
  return { ...checked, warnings: [...unknown, ...checked.warnings] };
}

/** Other programs may have variables that begin like ours: only a slip of the pen is told. */
function suspicion(name: string): readonly string[] {
  const meant = nearest(name, KEYS.keys());
  const text = `environment variable ${quotable(name)} is no setting; did you mean ${meant}?`;
  return meant === undefined ? [] : [text];
}
