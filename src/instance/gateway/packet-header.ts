import { NO_REQUEST_ID, packetHeaderBytes, writePacketHeader } from '../../wire/frame.ts';

/** The header of a one-way packet of the data plane, in fresh memory. */
export function encodePacketHeader(typeName: string, payloadBytes: number): Uint8Array {
  const header = Buffer.allocUnsafe(packetHeaderBytes(typeName));
  writePacketHeader(header, 0, typeName, NO_REQUEST_ID, payloadBytes);
  return header;
}
