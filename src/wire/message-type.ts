/**
 * The two shapes in which the network layer knows a message: its name on the wire and the two ways
 * between a value and its bytes. The table of all messages is in messages.ts.
 */

/** One message of the protocol. `typeName` is the full proto name, as the packet carries it. */
export interface MessageType<T> {
  readonly typeName: string;
  encode(value: T): Uint8Array;
  /**
   * The value may keep views of `bytes`, which must therefore not be written again.
   *
   * @throws EngineError PACKET_MALFORMED when the bytes are not such a message.
   */
  decode(bytes: Uint8Array): T;
}

/** A request and the response that belongs to it. */
export interface RequestType<Q, R> {
  readonly request: MessageType<Q>;
  readonly response: MessageType<R>;
}
