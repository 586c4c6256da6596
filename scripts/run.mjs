/*
  `npm run <command> -- <arguments>`: installs what is missing, then runs scripts/<command>.ts under
  Node 24. Plain JavaScript in the manner of Node 18, so that any Node that runs npm can start it.

  The stamp in node_modules names the lockfile that was installed. With the right stamp and a Node
  that is new enough, all of this takes a few milliseconds.
*/

import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { delimiter, dirname, join } from 'node:path';
import process from 'node:process';
import { fileURLToPath } from 'node:url';
import {
  ownNodeIsNewEnough,
  refuse,
  refuseOldNode,
  refuseWindows,
  repositoryNode,
  runInPlace,
} from '../bin/find-node.mjs';

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const modules = join(root, 'node_modules');
const stampFile = join(modules, '.heron-installed');

refuseWindows();
const [command = '', ...args] = process.argv.slice(2);
const script = join(root, 'scripts', `${command}.ts`);
if (!/^[a-z-]+$/.test(command) || !existsSync(script)) {
  refuse(`there is no command '${command}'; package.json lists the commands`);
}

installWhenStale();
const node = ownNodeIsNewEnough() ? process.execPath : repositoryNode(root);
if (node === undefined) refuseOldNode();
runInPlace(node, [script, ...args], {
  ...process.env,
  PATH: [dirname(node), join(modules, '.bin'), process.env.PATH].join(delimiter),
  // Saves each of the many processes the 70 ms that it takes to strip and compile its modules.
  NODE_COMPILE_CACHE: process.env.NODE_COMPILE_CACHE ?? join(root, '.cache', 'compile'),
});

function installWhenStale() {
  const lockfile = readFileSync(join(root, 'package-lock.json'));
  const platform = `${process.platform}-${process.arch}`;
  const stamp = `${createHash('sha256').update(lockfile).digest('hex')} ${platform}\n`;
  if (existsSync(stampFile) && readFileSync(stampFile, 'utf8') === stamp) return;

  process.stderr.write('installing dependencies (npm ci --ignore-scripts)\n');
  const npm = process.env.npm_execpath;
  const [program, first] = npm === undefined ? ['npm', []] : [process.execPath, [npm]];
  const install = ['ci', '--ignore-scripts', '--loglevel=error'];
  // Standard output belongs to the command.
  const options = { cwd: root, stdio: /** @type {const} */ (['inherit', 2, 2]) };
  const { status, error } = spawnSync(program, [...first, ...install], options);
  if (error !== undefined) refuse(`cannot run npm: ${error.message}`);
  if (status !== 0) refuse(`npm ci ended with ${status}; its messages are above`);
  writeFileSync(stampFile, stamp);
}
