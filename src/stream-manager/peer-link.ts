import type { Epoch, StreamManagerId, TaskId } from '../base/ids.ts';
import type { PacketConnection } from '../net/packet-connection.ts';
import {
  TUPLE_STREAM_TYPE,
  writeStreamMessageHead,
  writeStreamMessageTail,
} from '../wire/tuple-stream-message.ts';
import type { CreditOwner } from './credits.ts';
import { sendDataPacket, sendPeerCredit } from './data-packet.ts';
import type { SetSink } from './outbox.ts';
import type { OutgoingSet } from './outgoing-set.ts';
import type { PeerTraffic } from './traffic-metrics.ts';

/**
 * One connection with another stream manager, from its hello to its end: sets and credit both ways.
 */
export class PeerLink implements SetSink, CreditOwner {
  readonly peer: StreamManagerId;
  readonly connection: PacketConnection;
  /** The plan by which the one that dialled said hello. */
  readonly planEpoch: Epoch;
  readonly traffic: PeerTraffic;

  constructor(
    peer: StreamManagerId,
    connection: PacketConnection,
    planEpoch: Epoch,
    traffic: PeerTraffic,
  ) {
    this.peer = peer;
    this.connection = connection;
    this.planEpoch = planEpoch;
    this.traffic = traffic;
  }

  send(set: OutgoingSet, task: TaskId): void {
    const { bytes } = set;
    const payload = bytes.subarray(
      writeStreamMessageHead(bytes, set.start, set.end, task),
      writeStreamMessageTail(bytes, set.end, set.sourceTask, set.tupleCount),
    );
    this.traffic.tuplesToPeer.value += set.tupleCount;
    this.traffic.bytesToPeer.value += payload.length;
    const release = (): void => set.release();
    const isAccepted = sendDataPacket(this.connection, TUPLE_STREAM_TYPE, payload, release);
    if (!isAccepted) set.release(); // The link ends just now; its outboxes hear of it.
  }

  /** Nothing is sent once the connection has ended: C3 of credits.ts. */
  grant(task: number, bytes: number, lostBytes: number): void {
    sendPeerCredit(this.connection, task, bytes, lostBytes);
  }
}
