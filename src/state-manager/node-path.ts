import { userError } from '../base/errors.ts';

const SEGMENT = /^[^/\\\0]{1,200}$/;

/**
 * Refuses a path that could leave the state tree: names in it may come straight from a command
 * line.
 *
 * @throws INVALID_ARGUMENT
 */
export function checkNodePath(path: string): void {
  const isSafe = path
    .split('/')
    .every((segment) => SEGMENT.test(segment) && segment !== '.' && segment !== '..');
  if (!isSafe) {
    const shown = JSON.stringify(path);
    throw userError('INVALID_ARGUMENT', `${shown} is not the path of a node in the state tree`);
  }
}
