import { createRequire } from 'node:module';
import { types } from 'node:util';
import type * as MessagePack from 'msgpackr';
import { messageOf, userError } from '../base/errors.ts';
import { malformed } from './malformed.ts';
import { ValueCheck } from './value-check.ts';

/*
  Values with a shape of their own: objects, Map, Set, Date, undefined, typed arrays, and arrays of
  any of these; parts that occur more than once come back as they were. MessagePack by msgpackr,
  whose extensions carry what plain MessagePack cannot.

  msgpackr changes some values without a word. ValueCheck refuses those, except for -0, which is
  common in arithmetic: inside an object it travels as a NegativeZero.
*/

/** Stands for -0 inside a value that is being packed. */
class NegativeZero {
  readonly sign = -1;
}

/** Extension number; msgpackr's own ones are 0x00, 0x10, 0x11, letters and 0xff. */
const NEGATIVE_ZERO_TYPE = 0x2d;

let loaded: MessagePack.Packr | undefined;

/**
 * Loaded with the first use: it takes more of a start than all else that a task needs, its native
 * part above all, and strings, numbers and bytes do without it.
 */
function packr(): MessagePack.Packr {
  loaded ??= loadPackr();
  return loaded;
}

function loadPackr(): MessagePack.Packr {
  const load = createRequire(import.meta.url);
  const msgpackr = load('msgpackr') as typeof MessagePack;
  msgpackr.addExtension({
    Class: NegativeZero,
    type: NEGATIVE_ZERO_TYPE,
    write: () => 0,
    read: () => -0,
  });
  return new msgpackr.Packr({
    structuredClone: true,
    moreTypes: true,
    useBigIntExtension: true,
    mapsAsObjects: false,
    useRecords: true,
    int64AsType: 'bigint',
    copyBuffers: true,
    useToJSON: false,
  });
}

/**
 * The bytes of a value. They are valid until the next call.
 *
 * @throws EngineError with code VALUE_NOT_SERIALIZABLE.
 */
export function packRichValue(value: unknown): Uint8Array {
  const check = new ValueCheck();
  const problem = problemIn(value, check);
  if (problem !== undefined) throw userError('VALUE_NOT_SERIALIZABLE', `value${problem}`);
  return packr().pack(check.hasNegativeZero ? markNegativeZeros(value, new Map()) : value);
}

/** What keeps a value from being sent: where in it, and why; undefined when it can be. */
export function valueProblem(value: unknown): string | undefined {
  return problemIn(value, new ValueCheck());
}

/** A getter may do anything, and a proxy too. */
function problemIn(value: unknown, check: ValueCheck): string | undefined {
  try {
    return check.problemOf(value);
  } catch (error) {
    return `: what throws while it is read cannot be sent (${messageOf(error)})`;
  }
}

/** Throws PACKET_MALFORMED. */
export function unpackRichValue(bytes: Uint8Array): unknown {
  try {
    return packr().unpack(bytes);
  } catch (cause) {
    throw malformed(`a value is not readable: ${messageOf(cause)}`, cause);
  }
}

/** A copy with a NegativeZero for each -0, and with the same shared parts (by original). */
function markNegativeZeros(value: unknown, copies: Map<object, unknown>): unknown {
  if (Object.is(value, -0)) return new NegativeZero();
  if (typeof value !== 'object' || value === null) return value;
  const known = copies.get(value);
  if (known !== undefined) return known;
  if (Array.isArray(value)) {
    const copy: unknown[] = [];
    copies.set(value, copy);
    for (const element of value) copy.push(markNegativeZeros(element, copies));
    return copy;
  }
  if (value instanceof Map) {
    const copy = new Map<unknown, unknown>();
    copies.set(value, copy);
    for (const [key, element] of value) {
      copy.set(markNegativeZeros(key, copies), markNegativeZeros(element, copies));
    }
    return copy;
  }
  if (value instanceof Set) {
    const copy = new Set<unknown>();
    copies.set(value, copy);
    for (const element of value) copy.add(markNegativeZeros(element, copies));
    return copy;
  }
  if (types.isDate(value) || ArrayBuffer.isView(value)) return value;
  const copy: Record<string, unknown> = {};
  copies.set(value, copy);
  for (const [key, element] of Object.entries(value)) {
    copy[key] = markNegativeZeros(element, copies);
  }
  return copy;
}
