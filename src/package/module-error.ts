import { pathToFileURL } from 'node:url';
import { type EngineError, messageOf, stackOf, userError } from '../base/errors.ts';

const OWN_FOLDER = `${pathToFileURL(import.meta.dirname).href}/`;

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

/** Frames of Node and of this folder, below the user's, say nothing to the author of a topology. */
function userStackOf(cause: unknown): string {
  const isUsers = (line: string): boolean =>
    !/^\s+at /.test(line) || !(line.includes('node:internal/') || line.includes(OWN_FOLDER));
  return stackOf(cause).split('\n').filter(isUsers).join('\n');
}
