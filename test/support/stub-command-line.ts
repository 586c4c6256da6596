import assert from 'node:assert/strict';
import { runCommandLine } from '../../src/cli/run-command-line.ts';

/* The command line in a process that kills itself after one of its steps: the first argument. */

const [step = '', ...args] = process.argv.slice(2);
await runCommandLine({
  args,
  stdout: process.stdout,
  stderr: process.stderr,
  environment: process.env,
  interruption: new AbortController().signal,
  afterStep: (passed) => {
    if (passed === step) process.kill(process.pid, 'SIGKILL');
  },
});
assert.fail(`there is no step '${step}'`);
