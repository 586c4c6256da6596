/**
 * How the values of a topology's tuples become bytes and come back; given to
 * {@link TopologyBuilder.setSerializer} in place of the engine's own form.
 *
 * A grouping key is the bytes of its value: equal bytes go to the same task, and nothing else does.
 * A serializer must therefore give equal keys equal bytes, in every process.
 *
 * @example
 * ```ts
 * const json: ValueSerializer = {
 *   serialize: (value) => new TextEncoder().encode(JSON.stringify(value)),
 *   deserialize: (bytes) => JSON.parse(new TextDecoder().decode(bytes)),
 * };
 * export default topology('words', (builder) => {
 *   builder.setSerializer(json);
 * });
 * ```
 */
export interface ValueSerializer {
  /** The bytes are copied: the next call may use their memory again. */
  serialize(value: unknown): Uint8Array;
  /** The bytes are the receiver's to keep. */
  deserialize(bytes: Uint8Array): unknown;
}
