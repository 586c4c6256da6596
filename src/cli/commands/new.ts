import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { basename, join, resolve } from 'node:path';
import { packageRoot } from '../../base/entry.ts';
import { EngineError, environmentError, messageOf, userError } from '../../base/errors.ts';
import { systemCodeOf } from '../../base/system-codes.ts';
import { ENGINE_VERSION } from '../../base/version.ts';
import type { CommandContext, CommandResult } from '../command-context.ts';

export interface NewArguments {
  readonly folder: string;
}

/** The files that are the same in every project; README.md has its name in them. */
const TEMPLATES = ['topology.ts', 'topology.test.ts', 'README.md'];

/** Of what the project needs besides the engine. */
const DEVELOPMENT = { '@types/node': '^24.0.0', typescript: '^6.0.0' };

/**
 * Writes a project: a topology, its test and what they need. Files that are there with the same
 * content are left alone, so that it can be repeated; with another content they are refused, and
 * nothing is written.
 */
export async function newProject(
  { folder }: NewArguments,
  context: CommandContext,
): Promise<CommandResult> {
  const path = resolve(folder);
  const name = packageName(basename(path));
  const files = await projectFiles(name);
  try {
    const others = await othersAmong(files, path);
    if (others.length > 0) throw alreadyThere(path, others);
    await makeFolder(path);
    for (const [file, text] of files) {
      await writeFile(join(path, file), text);
      context.afterStep(`write-${file}`);
    }
  } catch (cause) {
    if (cause instanceof EngineError) throw cause;
    const text = `cannot write the project ${path}: ${messageOf(cause)}`;
    throw environmentError('FILE_FAILED', text, { cause });
  }
  const json = { name, folder: path, files: [...files.keys()] };
  return { json, text: nextSteps(path, folder, json.files) };
}

/** By file name. */
async function projectFiles(name: string): Promise<ReadonlyMap<string, string>> {
  const files = new Map([
    ['package.json', toJson(packageDescription(name))],
    ['tsconfig.json', toJson(COMPILER_CONFIG)],
  ]);
  for (const file of TEMPLATES) {
    const text = await readFile(join(packageRoot(), 'templates', 'project', file), 'utf8');
    files.set(file, text.replaceAll('{{name}}', name));
  }
  return files;
}

function packageDescription(name: string): object {
  return {
    name,
    private: true,
    type: 'module',
    engines: { node: '>=24' },
    scripts: {
      dev: 'heron dev topology.ts',
      start: 'heron run local topology.ts words',
      test: 'node --test',
      check: 'tsc',
    },
    dependencies: { 'heron-ts': `^${ENGINE_VERSION}` },
    devDependencies: DEVELOPMENT,
  };
}

/** Node runs the files as they are: only what it can strip is allowed. */
const COMPILER_CONFIG = {
  compilerOptions: {
    target: 'es2024',
    lib: ['es2024', 'esnext.disposable', 'esnext.array'],
    module: 'nodenext',
    types: ['node'],
    strict: true,
    noUncheckedIndexedAccess: true,
    noImplicitOverride: true,
    erasableSyntaxOnly: true,
    verbatimModuleSyntax: true,
    allowImportingTsExtensions: true,
    skipLibCheck: true,
    noEmit: true,
  },
  include: ['*.ts'],
};

function toJson(value: object): string {
  return `${JSON.stringify(value, undefined, 2)}\n`;
}

/** What npm takes for a name, from what the folder is called. */
function packageName(folder: string): string {
  const name = folder
    .toLowerCase()
    .replaceAll(/[^a-z0-9._-]+/g, '-')
    .replace(/^[._-]+/, '');
  return name === '' ? 'topology' : name;
}

/** Those that are there with another content. */
async function othersAmong(
  files: ReadonlyMap<string, string>,
  path: string,
): Promise<readonly string[]> {
  const others: string[] = [];
  for (const [file, text] of files) {
    const there = await readIfThere(join(path, file));
    if (there !== undefined && there !== text) others.push(file);
  }
  return others;
}

function alreadyThere(path: string, files: readonly string[]): EngineError {
  return userError(
    'INVALID_ARGUMENT',
    `${path} has a ${files.join(' and a ')} already; nothing was written: name another folder`,
  );
}

async function readIfThere(file: string): Promise<string | undefined> {
  try {
    return await readFile(file, 'utf8');
  } catch (error) {
    if (systemCodeOf(error) === 'ENOENT') return undefined;
    throw error;
  }
}

async function makeFolder(path: string): Promise<void> {
  try {
    await mkdir(path);
  } catch (error) {
    if (systemCodeOf(error) !== 'EEXIST') throw error;
  }
}

function nextSteps(path: string, folder: string, files: readonly string[]): string {
  return [
    `${path} has ${files.join(', ')}; next:`,
    ...(path === process.cwd() ? [] : [`  cd ${folder}`]),
    '  npm install',
    '  npm test',
    '  npm start',
  ].join('\n');
}
