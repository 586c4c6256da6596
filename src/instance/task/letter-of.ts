import type { GivenUpMessage } from '../../api/component-runtime.ts';
import { hasCode } from '../../base/errors.ts';
import { DEFAULT_STREAM } from '../../base/ids.ts';
import { type DeadLetter, RECORD_FIELDS, encodeDeadLetter } from '../../model/dead-letter.ts';
import { decodeValue } from '../../wire/value-reader.ts';
import { encodeValue } from '../../wire/values.ts';
import type { CollectedStream } from './component-collector.ts';

/** Longer texts are cut: what is interesting stands in front. */
const MESSAGE_LENGTH_MAX = 2_048;
const STACK_LENGTH_MAX = 4_096;
const BUFFER_BYTES_MIN = 1_024;

/** What a letter says about the task that writes it. */
export type LetterOrigin = Pick<DeadLetter, 'id' | 'atMs' | 'topology' | 'component' | 'task'>;

/**
 * The letter of a message. Without values where they cannot be encoded, or where the letter would
 * have more than `bytesMax`.
 */
export function letterOf(
  message: GivenUpMessage,
  stream: Pick<CollectedStream, 'output' | 'sentValues'> | undefined,
  origin: LetterOrigin,
  bytesMax: number,
): DeadLetter {
  const { reason, messageId, position, attempts } = message;
  const { id, atMs, topology, component, task } = origin;
  const encoded = encodedValues(message.values, stream, bytesMax);
  const letter: DeadLetter = {
    id,
    atMs,
    topology,
    component,
    task,
    stream: stream?.output.stream ?? DEFAULT_STREAM,
    fields: stream?.output.fields ?? RECORD_FIELDS,
    values: encoded,
    serialized: stream?.sentValues.isSerialized ?? false,
    messageId: messageId?.slice(0, MESSAGE_LENGTH_MAX),
    position: position?.slice(0, MESSAGE_LENGTH_MAX),
    attempts,
    reason: {
      ...reason,
      message: reason.message?.slice(0, MESSAGE_LENGTH_MAX),
      stack: reason.stack?.slice(0, STACK_LENGTH_MAX),
    },
  };
  if (encoded === undefined || encodeDeadLetter(letter).length <= bytesMax) return letter;
  return { ...letter, values: undefined };
}

function encodedValues(
  values: readonly unknown[],
  stream: Pick<CollectedStream, 'sentValues'> | undefined,
  bytesMax: number,
): readonly string[] | undefined {
  try {
    const sent = stream?.sentValues.of(values) ?? values;
    const encoded: string[] = [];
    let bytes = 0;
    for (const value of sent) {
      const one = encodedValue(value, bytesMax);
      if (one === undefined) return undefined;
      bytes += one.length;
      if (bytes > bytesMax) return undefined;
      encoded.push(one.toString('base64'));
    }
    return encoded;
  } catch (error) {
    if (hasCode(error, 'VALUE_NOT_SERIALIZABLE')) return undefined;
    throw error;
  }
}

/** Undefined when it has more bytes than that. */
function encodedValue(value: unknown, bytesMax: number): Buffer | undefined {
  for (let size = BUFFER_BYTES_MIN; ; size *= 8) {
    const buffer = Buffer.allocUnsafe(Math.min(size, Math.ceil(bytesMax)));
    const end = encodeValue(value, buffer, 0);
    if (end >= 0) return buffer.subarray(0, end);
    if (size >= bytesMax) return undefined;
  }
}

/**
 * The values of a letter as they were emitted; undefined where it has none.
 *
 * @throws EngineError PACKET_MALFORMED, and what the serializer throws.
 */
export function valuesOf(
  letter: DeadLetter,
  deserialize: ((bytes: Uint8Array) => unknown) | undefined,
): readonly unknown[] | undefined {
  return letter.values?.map((text) => {
    const bytes = Buffer.from(text, 'base64');
    const value = decodeValue(bytes, 0, bytes.length);
    const isBytes = letter.serialized && value instanceof Uint8Array;
    return isBytes && deserialize !== undefined ? deserialize(value) : value;
  });
}
