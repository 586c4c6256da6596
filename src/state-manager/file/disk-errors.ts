import { EngineError, environmentError, messageOf } from '../../base/errors.ts';

/** The operating system's code of a failed file operation, such as `ENOENT`. */
export function systemCodeOf(error: unknown): string | undefined {
  return error instanceof Error ? (error as NodeJS.ErrnoException).code : undefined;
}

/** Waits for `operation`; an error with one of these system codes becomes `fallback`. */
export async function unless<T, F>(
  systemCodes: readonly string[],
  operation: Promise<T>,
  fallback: F,
): Promise<T | F> {
  try {
    return await operation;
  } catch (error) {
    if (systemCodes.includes(systemCodeOf(error) ?? '')) return fallback;
    throw error;
  }
}

/** What a person must change before the folder can be written. */
const NOT_WRITABLE: ReadonlyMap<string, string> = new Map([
  ['EACCES', 'this user may not write there'],
  ['EPERM', 'the file system does not allow it'],
  ['EROFS', 'the file system is read-only'],
  ['ENOSPC', 'the disk is full'],
  ['EDQUOT', "the user's disk quota is used up"],
  ['ENOTDIR', 'a part of that path is a file, not a folder'],
  ['EEXIST', 'a file is in the place of a folder'],
  ['ENOENT', 'the folder cannot be made there'],
]);

export function readFailure(root: string, path: string, cause: unknown): EngineError {
  if (cause instanceof EngineError) return cause;
  const message = `cannot read the state node ${path} under ${root}: ${messageOf(cause)}`;
  return environmentError('STATE_UNAVAILABLE', message, { retryable: true, cause });
}

export function writeFailure(root: string, path: string, cause: unknown): EngineError {
  if (cause instanceof EngineError) return cause;
  const reason = NOT_WRITABLE.get(systemCodeOf(cause) ?? '');
  if (reason !== undefined) {
    const message = `cannot write the state node ${path} under ${root}: ${reason}`;
    return environmentError('STATE_NOT_WRITABLE', message, { cause });
  }
  const message = `cannot write the state node ${path} under ${root}: ${messageOf(cause)}`;
  return environmentError('STATE_UNAVAILABLE', message, { retryable: true, cause });
}
