import { EngineError, environmentError, messageOf } from '../../base/errors.ts';
import { systemCodeOf } from '../../base/system-codes.ts';

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
