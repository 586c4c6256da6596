/** Thrown when the engine breaks one of its own rules; never caused by a user's input. */
export class AssertionError extends Error {
  override readonly name = 'AssertionError';
}

/**
 * States a belief about our own code. It stays on in production: a process that broke its own rule
 * ends, and its executor starts it again.
 *
 * @throws AssertionError when the condition is false.
 */
export function assert(condition: boolean, reason: string): asserts condition {
  if (!condition) throw new AssertionError(reason);
}

/** Narrows away `undefined` where an absent value would be our own mistake. */
export function assertDefined<T>(value: T | undefined, reason: string): T {
  if (value === undefined) throw new AssertionError(reason);
  return value;
}

/** Closes an exhaustive switch: the compiler objects while a case is missing. */
export function unreachable(value: never): never {
  throw new AssertionError(`unexpected case ${JSON.stringify(value)}`);
}
