import { AssertionError } from '../base/assert.ts';
import { EngineError } from '../base/errors.ts';
import { EXIT, type ExitCode, exitCodeOf } from '../base/exit-codes.ts';
import type { ProcessContext, ProcessOptions } from '../base/process-main.ts';
import type { InstanceEnvironment } from './instance-environment.ts';
import { parseInstanceIdentity } from './instance-identity.ts';
import { InstanceProcess } from './instance-process.ts';

export const instanceOptions: ProcessOptions = {
  name: 'heron-instance',
  exitCodeOf: instanceExitCode,
  // The gateway watches the parent: user code may keep this thread busy for ever.
  endsWithParent: false,
};

/** The process of one task. */
export async function instanceMain(
  context: ProcessContext,
  environment: InstanceEnvironment,
): Promise<InstanceProcess> {
  const identity = parseInstanceIdentity(environment.arguments);
  const instance = new InstanceProcess(identity, context, environment);
  instance.start();
  return instance;
}

/** What is neither ours nor the environment's comes from the user's code. */
function instanceExitCode(error: unknown): ExitCode {
  if (error instanceof AssertionError) return EXIT.failure;
  return error instanceof EngineError ? exitCodeOf(error) : EXIT.userCode;
}
