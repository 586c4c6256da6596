import { writeFile } from 'node:fs/promises';
import { basename, extname, join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { BuildFailure, BuildOptions, Message, Plugin } from 'esbuild';
import { assertDefined } from '../base/assert.ts';
import { type EngineError, messageOf, userError } from '../base/errors.ts';
import { checkModuleFile } from './load-module.ts';

/** The bundle's name in the archive; its map stands beside it. */
export const BUNDLE_FILE = 'topology.mjs';
export const BUNDLE_MAP_FILE = `${BUNDLE_FILE}.map`;

const ENTRY_EXTENSIONS = ['.ts', '.mts', '.js', '.mjs'];

/**
 * CommonJS packages use these names, which an ES module does not have. As globals they do not
 * collide with an author's own `const __dirname = …`.
 */
const BANNER = `
import { createRequire as __createRequire } from 'node:module';
globalThis.require ??= __createRequire(import.meta.url);
globalThis.__filename ??= import.meta.filename;
globalThis.__dirname ??= import.meta.dirname;`.trimStart();

export interface Bundle {
  /** Sentences for the author: what may not work on another machine. */
  readonly warnings: readonly string[];
  /** Every file that is in it, the module itself among them. */
  readonly sources: readonly string[];
}

/**
 * Bundles a topology module and all that it imports, but the engine, into `topology.mjs` with a
 * source map. One file travels to the containers, in whatever dialect of TypeScript it was written.
 *
 * @throws EngineError MODULE_NOT_FOUND, INVALID_ARGUMENT, or MODULE_FAILED with every error's file
 *   and line
 */
export async function bundleTopology(file: string, toFolder: string): Promise<Bundle> {
  const entry = resolve(file);
  if (!ENTRY_EXTENSIONS.includes(extname(entry))) {
    const endings = ENTRY_EXTENSIONS.join(', ');
    const text = `${entry} cannot be a topology module: it must end in ${endings}`;
    throw userError('INVALID_ARGUMENT', text);
  }
  await checkModuleFile(entry);
  const addons = new Set<string>();
  const { code, map, messages, sources } = await build(entry, toFolder, addons);
  await writeFile(join(toFolder, BUNDLE_FILE), code);
  await writeFile(join(toFolder, BUNDLE_MAP_FILE), withAbsoluteSources(map, toFolder));
  return { warnings: [...messages.map(describe), ...[...addons].map(addonWarning)], sources };
}

interface BuildOutput {
  readonly code: Uint8Array;
  readonly map: string;
  readonly messages: readonly Message[];
  readonly sources: readonly string[];
}

async function build(entry: string, toFolder: string, addons: Set<string>): Promise<BuildOutput> {
  // Only a submit bundles; every other command starts faster without the bundler.
  const esbuild = await import('esbuild');
  try {
    const result = await esbuild.build({
      ...SETTINGS,
      entryPoints: [entry],
      outfile: join(toFolder, BUNDLE_FILE),
      plugins: [externalAddons(addons)],
    });
    const output = (extension: string) =>
      assertDefined(
        result.outputFiles.find(({ path }) => extname(path) === extension),
        `the bundler writes a ${extension} file`,
      );
    return {
      code: output('.mjs').contents,
      map: output('.map').text,
      messages: result.warnings,
      sources: Object.keys(result.metafile.inputs).map((input) => resolve(input)),
    };
  } catch (error) {
    throw bundleFailed(entry, error);
  } finally {
    await esbuild.stop();
  }
}

const SETTINGS = {
  bundle: true,
  write: false,
  metafile: true,
  platform: 'node',
  format: 'esm',
  target: 'node24',
  sourcemap: 'linked',
  // Class names appear in plans, logs and stacks.
  keepNames: true,
  // The containers' own copy of the engine is the one that runs the topology (R9).
  external: ['heron-ts', 'heron-ts/*'],
  banner: { js: BANNER },
  logLevel: 'silent',
} as const satisfies BuildOptions;

/** Compiled addons cannot be bundled: they are loaded from where they are installed. */
function externalAddons(found: Set<string>): Plugin {
  return {
    name: 'external-addons',
    setup(plugins) {
      plugins.onResolve({ filter: /\.node$/ }, ({ path, resolveDir }) => {
        const addon = resolve(resolveDir, path);
        found.add(addon);
        return { path: addon, external: true };
      });
    },
  };
}

function addonWarning(addon: string): string {
  return `the native addon ${basename(addon)} is not in the archive; every machine needs ${addon}`;
}

/** Stacks then name the author's files wherever the bundle is unpacked. */
function withAbsoluteSources(map: string, folder: string): string {
  const parsed = JSON.parse(map) as { sources: string[] };
  const sources = parsed.sources.map((source) => pathToFileURL(resolve(folder, source)).href);
  return JSON.stringify({ ...parsed, sources });
}

function bundleFailed(entry: string, error: unknown): EngineError {
  const messages = (error as Partial<BuildFailure>).errors;
  const lines = messages?.map(describe) ?? [messageOf(error)];
  const [only, ...others] = lines;
  const what = others.length === 0 ? ` ${only}` : lines.map((line) => `\n  ${line}`).join('');
  return userError('MODULE_FAILED', `cannot bundle ${basename(entry)}:${what}`, error);
}

/** `<file>:<line>:<column>: <what is wrong>`, the column counted from 1 as editors do. */
function describe({ text, location }: Message): string {
  if (location === null) return text;
  return `${resolve(location.file)}:${location.line}:${location.column + 1}: ${text}`;
}
