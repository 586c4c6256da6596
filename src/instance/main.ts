/*
  An instance: the process of one task. The main thread runs the user's code, a worker thread the
  gateway; thread-channel.ts tells what they say to each other.
*/

import { AssertionError } from '../base/assert.ts';
import { EngineError } from '../base/errors.ts';
import { EXIT, type ExitCode, exitCodeOf } from '../base/exit-codes.ts';
import { type ProcessOptions, runProcess } from '../base/process-main.ts';
import { parseInstanceIdentity } from './instance-identity.ts';
import { InstanceProcess } from './instance-process.ts';

const options: ProcessOptions = {
  name: 'heron-instance',
  exitCodeOf: instanceExitCode,
  // The gateway watches the parent: user code may keep this thread busy for ever.
  endsWithParent: false,
};

runProcess(options, (context) => {
  const identity = parseInstanceIdentity(process.argv.slice(2));
  new InstanceProcess(identity, context).start();
});

/** What is neither ours nor the environment's comes from the user's code. */
function instanceExitCode(error: unknown): ExitCode {
  if (error instanceof AssertionError) return EXIT.failure;
  return error instanceof EngineError ? exitCodeOf(error) : EXIT.userCode;
}
