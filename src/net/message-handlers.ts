import type { Packet } from '../wire/frame.ts';
import type { MessageType, RequestType } from '../wire/message-type.ts';
import { assert } from '../base/assert.ts';
import type { PacketConnection, PacketDispatcher } from './packet-connection.ts';

/** Receives a packet undecoded; frame.ts (F1, F2) says how long the packet may be used. */
export type PacketHandler = (packet: Packet, connection: PacketConnection) => void;

/**
 * What to do with each type of packet. One table serves any number of connections; each call says
 * which one it is about.
 *
 * A handler that throws an EngineError closes that connection with it. Anything else that is thrown
 * is a mistake of ours and ends the process.
 */
export class MessageHandlers implements PacketDispatcher {
  readonly #handlers = new Map<string, PacketHandler>();
  #onUnknown: PacketHandler | undefined;

  /** One-way messages. */
  on<T>(type: MessageType<T>, handle: (value: T, connection: PacketConnection) => void): this {
    return this.onRaw(type.typeName, (packet, connection) => {
      handle(type.decode(packet.payload), connection);
    });
  }

  /** Requests; what the handler returns, or its promise resolves to, is the response. */
  onRequest<Q, R>(
    type: RequestType<Q, R>,
    handle: (value: Q, connection: PacketConnection) => R | Promise<R>,
  ): this {
    return this.onRaw(type.request.typeName, (packet, connection) => {
      const answer = handle(type.request.decode(packet.payload), connection);
      if (!(answer instanceof Promise)) {
        connection.respond(packet.requestId, type.response, answer);
        return;
      }
      const { requestId } = packet; // Now: the packet does not last until there is an answer.
      answer.then(
        (value) => connection.respond(requestId, type.response, value),
        (error: unknown) => connection.failHandler(error),
      );
    });
  }

  /** Packets of this type, undecoded; for the data path. */
  onRaw(typeName: string, handle: PacketHandler): this {
    assert(!this.#handlers.has(typeName), `two handlers for ${typeName}`);
    this.#handlers.set(typeName, handle);
    return this;
  }

  /** Called for types without a handler, besides the counting that the connection does. */
  onUnknown(handle: PacketHandler): this {
    this.#onUnknown = handle;
    return this;
  }

  /** False when the type is unknown. */
  dispatch(packet: Packet, connection: PacketConnection): boolean {
    const handle = this.#handlers.get(packet.typeName);
    if (handle !== undefined) {
      handle(packet, connection);
      return true;
    }
    this.#onUnknown?.(packet, connection);
    return false;
  }
}
