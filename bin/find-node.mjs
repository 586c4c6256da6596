/*
  Finds a Node that is new enough. Plain JavaScript in the manner of Node 18, because an older Node
  has to read this file to say what is missing.
*/

import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import process from 'node:process';

const NODE_MAJOR_MIN = 24;

/** True when this process is itself new enough. */
export function ownNodeIsNewEnough() {
  return Number.parseInt(process.versions.node, 10) >= NODE_MAJOR_MIN;
}

/**
 * The Node that a repository installs for itself, if it has.
 *
 * @param {string} root the repository's folder
 * @returns {string | undefined}
 */
export function repositoryNode(root) {
  const name = `node-${process.platform}-${process.arch}`;
  const file = join(root, 'node_modules', name, 'bin', 'node');
  return existsSync(file) ? file : undefined;
}

/** @returns {never} */
export function refuse(/** @type {string} */ reason) {
  process.stderr.write(`${reason}\n`);
  process.exit(1);
}

export function refuseWindows() {
  if (process.platform !== 'win32') return;
  refuse('heron-ts does not run on Windows; use Linux, for example in WSL 2');
}

/** @returns {never} */
export function refuseOldNode() {
  refuse(`heron-ts needs Node ${NODE_MAJOR_MIN} or newer; this is ${process.versions.node}`);
}

/**
 * Runs a program in place of this process: its signals, its terminal and its end are ours.
 *
 * @param {string} program
 * @param {readonly string[]} args
 * @param {NodeJS.ProcessEnv} env
 */
export function runInPlace(program, args, env = process.env) {
  const child = spawn(program, args, { stdio: 'inherit', env });
  for (const signal of /** @type {const} */ (['SIGINT', 'SIGTERM', 'SIGHUP'])) {
    process.on(signal, () => child.kill(signal));
  }
  child.on('error', (error) => refuse(`cannot run ${program}: ${error.message}`));
  child.on('exit', (code, signal) => {
    if (signal === null) process.exit(code ?? 1);
    process.removeAllListeners(signal);
    process.kill(process.pid, signal);
  });
}
