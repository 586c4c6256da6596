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

/**
 * Standing folders stay where they are once made. Deeper ones belong to one topology: they come
 * with their first node and go with their last.
 */
export function isStandingFolder(folder: string): boolean {
  return /^(\.heron-ts\/)?[^/]+$/.test(folder);
}
