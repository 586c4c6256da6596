import { type EngineError, messageOf, stackOf, userError } from '../base/errors.ts';

/**
 * The error for user code that failed while the engine loaded it: one line that says what happened,
 * with the stack of the user's own error.
 */
export function moduleFailed(what: string, cause: unknown): EngineError {
  const [firstLine = ''] = messageOf(cause).split('\n');
  const error = userError('MODULE_FAILED', `${what}: ${firstLine}`, cause);
  error.stack = userStackOf(cause);
  return error;
}

/** Node's frames below the user's say nothing to the author of a topology. */
function userStackOf(cause: unknown): string {
  return stackOf(cause)
    .split('\n')
    .filter((line) => !/^\s+at .*\bnode:internal\//.test(line))
    .join('\n');
}
