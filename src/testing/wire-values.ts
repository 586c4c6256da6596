import { decodeValue } from '../wire/value-reader.ts';
import { encodeValue } from '../wire/values.ts';

const FIRST_TRY_BYTES = 256;
const IMMUTABLE: ReadonlySet<string> = new Set(['string', 'number', 'boolean', 'bigint']);

/**
 * A value as its receiver gets it: through the engine's own encoding, so that nothing that happens
 * to the original afterwards shows.
 *
 * @throws EngineError VALUE_NOT_SERIALIZABLE.
 */
export function throughWire(value: unknown): unknown {
  if (IMMUTABLE.has(typeof value)) return value;
  for (let bytes = FIRST_TRY_BYTES; ; bytes *= 4) {
    const into = new Uint8Array(bytes);
    const end = encodeValue(value, into, 0, bytes);
    if (end >= 0) return decodeValue(into, 0, end);
  }
}

/** The bytes of a value. */
export function wireBytes(value: unknown): Uint8Array {
  for (let bytes = FIRST_TRY_BYTES; ; bytes *= 4) {
    const into = new Uint8Array(bytes);
    const end = encodeValue(value, into, 0, bytes);
    if (end >= 0) return into.subarray(0, end);
  }
}
