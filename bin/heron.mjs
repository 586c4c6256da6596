#!/usr/bin/env node
/*
  The command `heron`. In the repository it runs the sources, under the repository's own Node where
  the machine's is too old; in the installed package it runs the compiled files.
*/

import { existsSync } from 'node:fs';
import * as module from 'node:module';
import { homedir } from 'node:os';
import { dirname, join } from 'node:path';
import process from 'node:process';
import { fileURLToPath, pathToFileURL } from 'node:url';
import {
  ownNodeIsNewEnough,
  refuseOldNode,
  refuseWindows,
  repositoryNode,
  runInPlace,
} from './find-node.mjs';

const self = fileURLToPath(import.meta.url);
const root = dirname(dirname(self));
const source = join(root, 'src', 'cli', 'main.ts');
const isRepository = existsSync(source);

refuseWindows();
if (ownNodeIsNewEnough()) {
  process.setSourceMapsEnabled(true);
  const data = process.env.HERON_DATA || join(homedir(), '.herondata');
  // Compiling is half of a short command's time; the engine's processes use the same folder.
  const cache = process.env.NODE_COMPILE_CACHE || join(data, 'compile-cache');
  // Node makes the folder, and tries for ever where none can be made, as below /proc.
  if (existsSync(dirname(cache))) module.enableCompileCache(cache);
  const main = isRepository ? source : join(root, 'dist', 'cli', 'main.js');
  await import(pathToFileURL(main).href);
} else {
  const node = isRepository ? repositoryNode(root) : undefined;
  if (node === undefined) refuseOldNode();
  runInPlace(node, [self, ...process.argv.slice(2)]);
}
