import type { ValueSerializer } from '../../api/serializer.ts';
import { hasCode, messageOf, userError } from '../../base/errors.ts';
import type { ComponentName } from '../../base/ids.ts';
import type { OutputStream } from '../../model/logical-topology.ts';
import { valueProblem } from '../../wire/rich-values.ts';

/*
  The values of one stream as they are sent. With a serializer of the topology's own each travels as
  bytes: the engine routes them as it routes bytes, so that equal bytes are one grouping key.
*/

export class SentValues {
  readonly #component: ComponentName;
  readonly #output: OutputStream;
  readonly #serializer: ValueSerializer | undefined;

  constructor(
    component: ComponentName,
    output: OutputStream,
    serializer: ValueSerializer | undefined,
  ) {
    this.#component = component;
    this.#output = output;
    this.#serializer = serializer;
  }

  /** Each value travels as bytes that the topology's serializer has made. */
  get isSerialized(): boolean {
    return this.#serializer !== undefined;
  }

  /** @throws EngineError VALUE_NOT_SERIALIZABLE that names the field. */
  of(values: readonly unknown[]): readonly unknown[] {
    const serializer = this.#serializer;
    if (serializer === undefined) return values;
    return values.map((value, position) => this.#serialized(serializer, value, position));
  }

  /** The error of sending `values`, with the field and the place in it where one is to blame. */
  refusal(error: unknown, values: readonly unknown[]): unknown {
    if (!hasCode(error, 'VALUE_NOT_SERIALIZABLE')) return error;
    for (const [position, value] of values.entries()) {
      const problem = valueProblem(value);
      if (problem !== undefined) return this.#refused(position, problem);
    }
    return error;
  }

  /** A copy: the serializer may use its memory again for the next value. */
  #serialized(serializer: ValueSerializer, value: unknown, position: number): Uint8Array {
    let bytes: unknown;
    try {
      bytes = serializer.serialize(value);
    } catch (cause) {
      const failed = `: the topology's serializer failed: ${messageOf(cause)}`;
      throw this.#refused(position, failed, cause);
    }
    if (bytes instanceof Uint8Array) return new Uint8Array(bytes);
    const made = bytes instanceof Promise ? 'a promise' : `a value of type ${typeof bytes}`;
    throw this.#refused(position, `: the topology's serializer made ${made}, not a Uint8Array`);
  }

  #refused(position: number, problem: string, cause?: unknown): Error {
    const { stream, fields } = this.#output;
    const where = `in stream '${stream}' of '${this.#component}'`;
    return userError('VALUE_NOT_SERIALIZABLE', `${fields[position]}${problem}, ${where}`, cause);
  }
}
