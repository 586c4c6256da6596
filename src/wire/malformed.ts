import { type EngineError, environmentError, hasCode } from '../base/errors.ts';

/** Bytes from elsewhere that are not what they should be. The text says what is wrong. */
export function malformed(what: string, cause?: unknown): EngineError {
  return environmentError('PACKET_MALFORMED', what, { cause });
}

/**
 * Reads a node of the state tree: what is malformed in a packet is corrupted in the state manager.
 *
 * @throws EngineError with code STATE_CORRUPTED.
 */
export function readNode<T>(node: string, read: () => T): T {
  try {
    return read();
  } catch (error) {
    if (!hasCode(error, 'PACKET_MALFORMED')) throw error;
    const what = `the stored ${node} is corrupted: ${error.message}`;
    throw environmentError('STATE_CORRUPTED', what, { cause: error });
  }
}

/** A 64-bit field as a number. */
export function wholeNumber(value: bigint, field: string): number {
  const number = Number(value);
  if (!Number.isSafeInteger(number)) throw malformed(`${field} is out of range: ${value}`);
  return number;
}
