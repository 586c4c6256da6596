import { encodePacket, NO_REQUEST_ID } from '../wire/frame.ts';
import type { MessageType } from '../wire/message-type.ts';
import type { PacketConnection } from './packet-connection.ts';

/**
 * Sends a one-way message to many. It is encoded once, and what waits in the queues is one packet,
 * not one for each connection: a physical plan has as many receivers as it has parts.
 */
export function broadcast<T>(
  connections: Iterable<PacketConnection>,
  type: MessageType<T>,
  value: T,
): void {
  const packet = encodePacket(type.typeName, NO_REQUEST_ID, type.encode(value));
  for (const connection of connections) connection.sendShared(packet);
}
