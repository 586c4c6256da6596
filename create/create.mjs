#!/usr/bin/env node
/*
  `npm create heron-ts <folder>` is `heron new <folder>` where nothing is installed yet: npm gets
  this package with the engine beside it, and the engine's command does the work.
*/

import process from 'node:process';

// The engine's entry is dist/api/index.js, or src/api/index.ts in the repository.
const command = new URL('../../bin/heron.mjs', import.meta.resolve('heron-ts'));
process.argv.splice(2, 0, 'new');
await import(command.href);
