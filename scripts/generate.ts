/*
  Makes src/wire/generated from src/wire/proto. With --check it changes nothing and fails when what
  is committed is not what the .proto files give. What is made how is in buf.yaml and buf.gen.yaml.
*/
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { parseArgs } from 'node:util';

const GENERATED = 'src/wire/generated';
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
if (values.check) {
  const stale = differences();
  if (stale.length > 0) {
    console.error(`${GENERATED} is not what src/wire/proto gives: ${stale.join(', ')}.`);
    console.error('Run `npm run generate` and commit the result.');
    process.exitCode = 1;
  }
} else {
  generate(root);
}
