/*
  Makes the published package from the repository: JavaScript with declarations and source maps in
  dist/, and a package.json that knows nothing of the repository.
*/

import { cp, glob, mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join, relative } from 'node:path';
import { mustPass, root, run, runTool } from './tools.ts';

const COPIED = ['README.md', 'CHANGELOG.md', 'LICENSE', 'NOTICE', 'bin', 'templates'];
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
  const staging = await mkdtemp(join(tmpdir(), 'heron-staging-'));
  try {
    const { name, version } = await stage(staging);
    const args = ['pack', '--ignore-scripts', '--pack-destination', into];
    await mustPass('npm pack', run('npm', args, staging));
    return join(into, `${String(name)}-${String(version)}.tgz`);
  } finally {
    await rm(staging, { recursive: true, force: true });
  }
}

async function stage(staging: string): Promise<Description> {
  const dist = join(staging, 'dist');
  const compile = ['--project', 'tsconfig.package.json', '--outDir', dist];
  await mustPass('compiling', runTool('tsc', compile));
  await copyGenerated(dist);
  await pointMapsAtPackage(dist);
  for (const name of COPIED) await cp(join(root, name), join(staging, name), { recursive: true });
  const source = JSON.parse(await readFile(join(root, 'package.json'), 'utf8')) as Description;
  const description = packageDescription(source);
  await writeFile(join(staging, 'package.json'), `${JSON.stringify(description, undefined, 2)}\n`);
  return description;
}

/** The generated messages are JavaScript already, with declarations beside them. */
async function copyGenerated(dist: string): Promise<void> {
  for await (const file of glob('src/**/*.{js,d.ts}', { cwd: root })) {
    const target = join(dist, file.slice('src/'.length));
    await mkdir(dirname(target), { recursive: true });
    await cp(join(root, file), target);
  }
}

/**
 * The compiler names sources by where the repository lies from the staging folder. In a stack they
 * should read as files of the package; their text is in the maps.
 */
async function pointMapsAtPackage(dist: string): Promise<void> {
  for await (const name of glob('**/*.js.map', { cwd: dist })) {
    const file = join(dist, name);
    const map = JSON.parse(await readFile(file, 'utf8')) as Description;
    const source = join(dirname(dist), 'src', name.replace(/\.js\.map$/, '.ts'));
    await writeFile(file, JSON.stringify({ ...map, sources: [relative(dirname(file), source)] }));
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
