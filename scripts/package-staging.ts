/*
  Makes the published package from the repository: JavaScript with declarations and source maps in
  dist/, and a package.json that knows nothing of the repository.
*/

import { cp, glob, mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { mustPass, root, run, runTool } from './tools.ts';

const STAGING = join(root, '.staging');
const COPIED = ['README.md', 'CHANGELOG.md', 'LICENSE', 'NOTICE', 'bin'];
/** What of the repository's package.json is about the package. */
const KEPT_KEYS = [
  'name',
  'version',
  'description',
  'keywords',
  'license',
  'type',
  'engines',
  'bin',
  'exports',
  'dependencies',
];

type Description = Readonly<Record<string, unknown>>;

/** Packs the package into the given folder and returns the file. */
export async function pack(into: string): Promise<string> {
  await rm(STAGING, { recursive: true, force: true });
  await mustPass('compiling', runTool('tsc', ['--project', 'tsconfig.package.json']));
  await copyGenerated();
  for (const name of COPIED) await cp(join(root, name), join(STAGING, name), { recursive: true });
  const source = JSON.parse(await readFile(join(root, 'package.json'), 'utf8')) as Description;
  const description = packageDescription(source);
  await writeFile(join(STAGING, 'package.json'), `${JSON.stringify(description, undefined, 2)}\n`);
  const args = ['pack', '--ignore-scripts', '--pack-destination', into];
  await mustPass('npm pack', run('npm', args, STAGING));
  return join(into, `${String(source['name'])}-${String(source['version'])}.tgz`);
}

/** The generated messages are JavaScript already, with declarations beside them. */
async function copyGenerated(): Promise<void> {
  for await (const file of glob('src/**/*.{js,d.ts}', { cwd: root })) {
    const target = join(STAGING, 'dist', file.slice('src/'.length));
    await mkdir(dirname(target), { recursive: true });
    await cp(join(root, file), target);
  }
}

function packageDescription(source: Description): Description {
  const kept = KEPT_KEYS.map((key) => [key, source[key]] as const);
  const exports = Object.entries(source['exports'] as Readonly<Record<string, string>>);
  return { ...Object.fromEntries(kept), exports: Object.fromEntries(exports.map(compiledExport)) };
}

function compiledExport([name, file]: readonly [string, string]): readonly [string, unknown] {
  const compiled = file.replace(/^\.\/src\//, './dist/').replace(/\.ts$/, '');
  return [name, { types: `${compiled}.d.ts`, default: `${compiled}.js` }];
}
