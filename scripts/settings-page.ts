/* Writes docs/configuration.md from the table of settings, so that the page cannot fall behind. */

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { variableOf } from '../src/config/environment-layer.ts';
import { HERON_SETTING_PATTERNS, heronSetting } from '../src/model/heron-settings.ts';
import { SETTING_KEYS, SETTINGS, type SettingKey } from '../src/model/settings.ts';
import { isStateSetting } from '../src/model/state-settings.ts';
import type { Setting } from '../src/model/setting-table.ts';

/** What a table cannot say; in it, VARIABLES stands for examples. */
const INTRODUCTION = join(import.meta.dirname, 'settings-page.md');

const SECTIONS: readonly (readonly [title: string, has: (key: SettingKey) => boolean])[] = [
  ['Settings of a topology', (key) => key.startsWith('topology.')],
  ['Settings of the engine', (key) => key.startsWith('heron.') && !isStateSetting(key)],
  ["Settings of a cluster's state store", isStateSetting],
];

export function settingsPage(): string {
  const examples = ['topology.max.spout.pending', 'heron.shutdown.grace.ms'] as const;
  const variables = examples.map((key) => `\`${key}\` is \`${variableOf(key)}\``).join(', ');
  const sections = SECTIONS.map(([title, has]) => {
    const keys = SETTING_KEYS.filter(has);
    const head = '| setting | takes | default | unit | what it does |\n|---|---|---|---|---|\n';
    return `\n## ${title}\n\n${head}${keys.map(settingRow).join('')}`;
  });
  return (
    readFileSync(INTRODUCTION, 'utf8').replace('VARIABLES', variables) +
    sections.join('') +
    heronSection()
  );
}

function settingRow(key: SettingKey): string {
  const { type, default: value, unit, doc }: Setting<unknown> = SETTINGS[key];
  const text = value === undefined ? '' : `\`${defaultText(value)}\``;
  return `| \`${key}\` | ${type.expected} | ${text} | ${unit ?? ''} | ${doc} |\n`;
}

function defaultText(value: unknown): string {
  return Array.isArray(value) ? value.join(',') : JSON.stringify(value).replaceAll('"', '');
}

function heronSection(): string {
  const rows = HERON_SETTING_PATTERNS.map((pattern) => {
    const { fate, explanation } = heronSetting(pattern) ?? {};
    const answer = fate === 'missing' ? 'refused' : 'warning';
    return `| \`${pattern}\` | ${answer} | ${explanation} |\n`;
  });
  const intro =
    "\n## Heron's settings that are not here\n\n| setting | answer | it … |\n|---|---|---|\n";
  return intro + rows.join('');
}
