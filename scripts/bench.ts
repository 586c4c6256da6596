/* `npm run bench -- <name> [arguments]`: runs bench/<name>.ts or bench/<name>/main.ts. */

import { spawnSync } from 'node:child_process';
import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';

const folder = join(import.meta.dirname, '../bench');
const [name = '', ...args] = process.argv.slice(2);
const script = [join(folder, `${name}.ts`), join(folder, name, 'main.ts')].find((path) =>
  existsSync(path),
);
if (!/^[a-z-]+$/.test(name) || script === undefined) {
  console.error(`there is no bench '${name}'; known: ${known().join(', ')}`);
  process.exit(64);
}
process.exit(spawnSync(process.execPath, [script, ...args], { stdio: 'inherit' }).status ?? 1);

function known(): string[] {
  return readdirSync(folder)
    .filter((entry) => existsSync(join(folder, entry, 'main.ts')) || entry.endsWith('.ts'))
    .map((entry) => entry.replace(/\.ts$/, ''));
}
