/*
  Proves the packed package where nothing of the repository can help it: in an empty folder,
  installed from the archive as a user would, a topology and a test compile against its
  declarations, the test passes, the topology is submitted by its command, counts words to the end,
  and leaves nothing running. A project made by `npm create heron-ts` compiles, tests and runs.
*/

import assert from 'node:assert/strict';
import { cp, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir, userInfo } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { pack } from './package-staging.ts';
import { mustPass, root, run, type ToolResult } from './tools.ts';

const TEST = 'testing/one-bolt.test.ts';
const EXAMPLE = ['word-count.ts', 'text-files.ts', TEST];
const COMPLETION_TIMEOUT_MS = 60_000;
const LOOK_EVERY_MS = 250;

const folder = await mkdtemp(join(tmpdir(), 'heron-package-'));
const topology = [`local/${userInfo().username}/dev`, 'words'];
/** A folder below the other one, where Node finds the same packages. */
const project = join(folder, 'my-words');
process.env['HERON_DATA'] = join(folder, 'data');

function heron(...args: readonly string[]): Promise<ToolResult> {
  return run(installed('heron'), args, folder);
}

function installed(command: string): string {
  return join(folder, 'node_modules', '.bin', command);
}

async function install(): Promise<void> {
  const archive = await pack(folder);
  await writeFile(join(folder, 'package.json'), '{ "private": true, "type": "module" }\n');
  const archives = [archive, await packCreate()];
  const args = [
    'install',
    '--ignore-scripts',
    '--omit=dev',
    '--no-audit',
    '--no-fund',
    ...archives,
  ];
  await mustPass('npm install', run('npm', args, folder));
  for (const file of EXAMPLE) await cp(join(root, 'examples', file), join(folder, file));
}

/** The package of `npm create heron-ts`. */
async function packCreate(): Promise<string> {
  const args = ['pack', '--ignore-scripts', '--json', '--pack-destination', folder];
  const output = await mustPass('npm pack', run('npm', args, join(root, 'create')));
  const [packed] = JSON.parse(output) as readonly [{ readonly filename: string }];
  return join(folder, packed.filename);
}

/** With the repository's compiler, but with every setting and declaration of the user's folder. */
async function compile(what: string, where: string, args: readonly string[]): Promise<void> {
  const node = ['--types', 'node', '--typeRoots', join(root, 'node_modules', '@types')];
  const compiler = join(root, 'node_modules', '.bin', 'tsc');
  await mustPass(`compiling ${what}`, run(compiler, [...args, ...node], where));
}

async function compileExample(): Promise<void> {
  const options = ['--noEmit', '--strict', '--target', 'es2024', '--module', 'nodenext'];
  await compile('the example', folder, [...options, '--allowImportingTsExtensions', ...EXAMPLE]);
}

/** The words of its sentences are printed by a component, so they are in the logs. */
async function useProject(): Promise<void> {
  await mustPass('npm create', run(installed('create-heron-ts'), [project], folder));
  await compile('the project', project, ['--project', '.']);
  await mustPass("the project's tests", run(process.execPath, ['--test'], project));
  const args = ['run', 'local', 'topology.ts', 'my-words'];
  await mustPass('heron run', run(installed('heron'), args, project));
  const logs = await mustPass('heron logs', heron('logs', 'local', 'my-words'));
  assert.match(logs, /the: 2/);
}

async function stateOfTopology(): Promise<unknown> {
  const output = await mustPass('heron status', heron('status', ...topology, '--json'));
  return (JSON.parse(output) as { readonly state?: unknown }).state;
}

async function countWords(): Promise<void> {
  const [place = '', name = ''] = topology;
  const text = join('node_modules', 'heron-ts', 'README.md');
  const args = [place, 'word-count.ts', name, join(folder, 'counts.json'), join(folder, text)];
  await mustPass('heron submit', heron('submit', ...args));
  const deadlineMs = performance.now() + COMPLETION_TIMEOUT_MS;
  while ((await stateOfTopology()) !== 'COMPLETED') {
    assert.ok(performance.now() < deadlineMs, 'the topology did not complete');
    await delay(LOOK_EVERY_MS);
  }
  const counts = JSON.parse(await readFile(join(folder, 'counts.json'), 'utf8')) as object;
  assert.ok('heron' in counts, 'the README does not speak of Heron');
}

try {
  await install();
  await compileExample();
  await mustPass('the test of a bolt', run(process.execPath, ['--test', TEST], folder));
  const version = await mustPass('heron version', heron('version'));
  assert.match(version, /\d+\.\d+\.\d+/);
  await countWords();
  await useProject();
  process.stdout.write(`the package works in an empty folder (${version.trim()})\n`);
} finally {
  // Says that there is nothing to kill when all went well, and ends what runs when it did not.
  await heron('kill', ...topology);
  await rm(folder, { recursive: true, force: true });
}
