/*
  Where the engine's own files are. The same code runs as TypeScript from `src/` in the repository
  and as JavaScript from `dist/` in the installed package; only this file knows the difference.
*/

import { dirname, extname, join, sep } from 'node:path';
import { assert } from './assert.ts';

/** The compiled tree mirrors `src/`, so the root is two folders up from here in both. */
const TREE = dirname(import.meta.dirname);
const EXTENSION = extname(import.meta.filename);

/** The folder that holds the engine's package.json. */
export function packageRoot(): string {
  return dirname(TREE);
}

/**
 * The file of a process or a worker thread, to be given to `spawn` or `new Worker`.
 *
 * @param name its path below `src/` without an extension: `executor/main`.
 */
export function entryFile(name: string): string {
  assert(extname(name) === '', `an entry is named without its extension, not '${name}'`);
  return join(TREE, `${name}${EXTENSION}`);
}

/** True for a line of a stack in the engine's own code, in Node's or in the command line's. */
export function isEngineFrame(line: string): boolean {
  const folders = ['src', 'dist'].map((name) => join(packageRoot(), name, sep));
  return (
    /\bnode:|\/node_modules\/commander\//.test(line) ||
    folders.some((folder) => line.includes(folder))
  );
}

/** The arguments with which Node runs every process of the engine, before the entry file. */
export function nodeArguments(): readonly string[] {
  return ['--enable-source-maps'];
}
