import type { PacketConnection } from '../net/packet-connection.ts';
import type { OnDone } from '../net/send-queue.ts';
import { backPressureSet } from '../wire/back-pressure-notice.ts';
import { NO_REQUEST_ID, packetHeaderBytes, writePacketHeader } from '../wire/frame.ts';
import type { MessageType } from '../wire/message-type.ts';
import { TUPLE_SET_2_TYPE } from '../wire/tuple-set-format.ts';
import { grantedBytesSet } from '../wire/tuple-set-writer.ts';
import { grantedBytesMessage, TUPLE_STREAM_TYPE } from '../wire/tuple-stream-message.ts';
import type { PressureCause } from './pressure-signal.ts';

/*
  How a stream manager sends what it did not decode. Tuples and end markers keep their order; credit
  overtakes them, since credit that waited behind data would slow the very queue that it opens; so
  does back pressure.
*/

/** Sends one packet in order with all others; `payload` must not change until `onDone`. */
export function sendDataPacket(
  connection: PacketConnection,
  typeName: string,
  payload: Uint8Array,
  onDone: OnDone,
): boolean {
  const header = Buffer.allocUnsafe(packetHeaderBytes(typeName));
  writePacketHeader(header, 0, typeName, NO_REQUEST_ID, payload.length);
  return connection.sendPacket(header, payload, onDone);
}

/** Tells an instance how many bytes it may send again. */
export function sendInstanceCredit(
  connection: PacketConnection,
  task: number,
  bytes: number,
): void {
  connection.send(EncodedSet, grantedBytesSet(task, bytes));
}

/** Tells a spout to hold because of `cause`, or to go on. */
export function sendInstanceHold(
  connection: PacketConnection,
  task: number,
  cause: PressureCause | undefined,
): void {
  const notice = {
    isHeld: cause !== undefined,
    component: cause?.component,
    streamManager: cause?.streamManager,
  };
  connection.send(EncodedSet, backPressureSet(task, notice));
}

/**
 * Tells a stream manager how many bytes it may send again to one task, of which the last
 * `lostBytes` are gone with the task's process.
 */
export function sendPeerCredit(
  connection: PacketConnection,
  task: number,
  bytes: number,
  lostBytes: number,
): void {
  connection.send(EncodedStreamMessage, grantedBytesMessage(task, bytes, lostBytes));
}

/** Tells a stream manager that so many bytes of acks for trees of its spout task were discarded. */
export function sendLostAcks(connection: PacketConnection, task: number, bytes: number): void {
  connection.send(EncodedStreamMessage, grantedBytesMessage(task, 0, bytes));
}

const EncodedSet = encoded(TUPLE_SET_2_TYPE);
const EncodedStreamMessage = encoded(TUPLE_STREAM_TYPE);

/** A message whose value is its bytes. */
function encoded(typeName: string): MessageType<Uint8Array> {
  return { typeName, encode: (bytes) => bytes, decode: (bytes) => bytes.slice() };
}
