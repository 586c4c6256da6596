/*
  Makes src/wire/generated from src/wire/proto and docs/configuration.md from the settings' table.
  With --check it changes nothing and fails when what is committed is not what these sources give.
  How the first is made is in buf.yaml and buf.gen.yaml.
*/
import { execFileSync } from 'node:child_process';
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { parseArgs } from 'node:util';
import { settingsPage } from './settings-page.ts';

const GENERATED = 'src/wire/generated';
const SETTINGS_PAGE = 'docs/configuration.md';
const root = dirname(import.meta.dirname);

function generate(outputRoot: string): void {
  // The plugin is started as `node`, which has to be the Node that runs this script.
  const path = `${dirname(process.execPath)}:${process.env['PATH'] ?? ''}`;
  const buf = join(root, 'node_modules/@bufbuild/buf/bin/buf');
  execFileSync(process.execPath, [buf, 'generate', '--output', outputRoot], {
    cwd: root,
    env: { ...process.env, PATH: path },
    stdio: 'inherit',
  });
}

function readFolder(folder: string): Map<string, string> {
  const names = readdirSync(folder).toSorted();
  return new Map(names.map((name) => [name, readFileSync(join(folder, name), 'utf8')]));
}

/** Names of the files that differ, are missing or are left over. */
function differences(): string[] {
  const scratch = mkdtempSync(join(tmpdir(), 'heron-generate-'));
  try {
    generate(scratch);
    const fresh = readFolder(join(scratch, GENERATED));
    const committed = readFolder(join(root, GENERATED));
    const names = new Set([...fresh.keys(), ...committed.keys()]);
    return [...names].filter((name) => fresh.get(name) !== committed.get(name));
  } finally {
    rmSync(scratch, { recursive: true });
  }
}

const { values } = parseArgs({ options: { check: { type: 'boolean', default: false } } });
const pageFile = join(root, SETTINGS_PAGE);
if (values.check) {
  const stale = differences();
  if (stale.length > 0) {
    console.error(`${GENERATED} is not what src/wire/proto gives: ${stale.join(', ')}.`);
    console.error('Run `npm run generate` and commit the result.');
    process.exitCode = 1;
  }
  if (!existsSync(pageFile) || readFileSync(pageFile, 'utf8') !== settingsPage()) {
    console.error(`${SETTINGS_PAGE} is not what src/model/setting-table.ts gives.`);
    console.error('Run `npm run generate` and commit the result.');
    process.exitCode = 1;
  }
} else {
  generate(root);
  writeFileSync(pageFile, settingsPage());
}
