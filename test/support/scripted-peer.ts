import type { TestContext } from 'node:test';
import { systemClock } from '../../src/base/clock.ts';
import { silentLogger } from '../../src/base/logger.ts';
import { createSystemRandom } from '../../src/base/random.ts';
import { MessageHandlers } from '../../src/net/message-handlers.ts';
import { PacketConnection } from '../../src/net/packet-connection.ts';
import { tcpNetwork } from '../../src/net/tcp-network.ts';
import { NO_REQUEST_ID, packetHeaderBytes, writePacketHeader } from '../../src/wire/frame.ts';
import { Hello, StartBackPressure, StopBackPressure } from '../../src/wire/messages.ts';
import {
  type PressureSignal,
  startSignal,
  stopSignal,
} from '../../src/stream-manager/pressure-signal.ts';
import {
  STREAM_MESSAGE_HEAD_MAX,
  STREAM_MESSAGE_TAIL_MAX,
  TUPLE_STREAM_TYPE,
  TupleStreamMessageReader,
  writeStreamMessageHead,
  writeStreamMessageTail,
} from '../../src/wire/tuple-stream-message.ts';

export interface HelloFields {
  readonly topologyName: string;
  readonly topologyId: string;
  readonly streamManager: string;
  readonly token?: string;
  readonly engineVersion?: string;
  readonly planEpoch?: number;
}

/** A stream manager that dials another one, for tests of the latter. */
export class ScriptedPeer {
  readonly connection: PacketConnection;
  /** Credit that came back, by task. */
  readonly granted = new Map<number, number>();
  /** Sets that came, by destination task. */
  readonly sets: (readonly [task: number, set: Buffer])[] = [];
  /** What it was told of back pressure. */
  readonly pressure: PressureSignal[] = [];

  static async connect(t: TestContext, port: number): Promise<ScriptedPeer> {
    const peer = new ScriptedPeer(await tcpNetwork.connect({ host: '127.0.0.1', port }));
    t.after(() => peer.connection.abort());
    return peer;
  }

  private constructor(stream: ConstructorParameters<typeof PacketConnection>[0]) {
    const reader = new TupleStreamMessageReader();
    this.connection = new PacketConnection(stream, {
      handlers: new MessageHandlers()
        .on(StartBackPressure, (start) => void this.pressure.push(startSignal(start)))
        .on(StopBackPressure, (stop) => void this.pressure.push(stopSignal(stop)))
        .onRaw(TUPLE_STREAM_TYPE, (packet) => {
          reader.open(packet.bytes, packet.payloadStart, packet.payloadEnd);
          const { destinationTask, grantedBytes, setStart, setEnd } = reader;
          if (setEnd > setStart) {
            this.sets.push([destinationTask, Buffer.from(packet.bytes.subarray(setStart, setEnd))]);
          }
          this.granted.set(
            destinationTask,
            (this.granted.get(destinationTask) ?? 0) + grantedBytes,
          );
        }),
      packetBytesMax: 16 * 1024 * 1024,
      clock: systemClock,
      random: createSystemRandom(),
      logger: silentLogger,
    });
  }

  async hello(fields: HelloFields) {
    const request = Hello.request.create({
      topologyName: fields.topologyName,
      topologyId: fields.topologyId,
      stmgr: fields.streamManager,
      ...(fields.token !== undefined && { token: fields.token }),
      ...(fields.engineVersion !== undefined && { engineVersion: fields.engineVersion }),
      ...(fields.planEpoch !== undefined && { planEpoch: BigInt(fields.planEpoch) }),
    });
    return this.connection.request(Hello, request, { timeoutMs: 5_000 });
  }

  /** Sends a set to a task as a peer does. */
  sendSet(task: number, set: Uint8Array, sourceTask: number, tupleCount: number): void {
    const room = Buffer.alloc(STREAM_MESSAGE_HEAD_MAX + set.length + STREAM_MESSAGE_TAIL_MAX);
    const start = STREAM_MESSAGE_HEAD_MAX;
    const end = start + set.length;
    room.set(set, start);
    const payload = room.subarray(
      writeStreamMessageHead(room, start, end, task),
      writeStreamMessageTail(room, end, sourceTask, tupleCount),
    );
    const header = Buffer.alloc(packetHeaderBytes(TUPLE_STREAM_TYPE));
    writePacketHeader(header, 0, TUPLE_STREAM_TYPE, NO_REQUEST_ID, payload.length);
    this.connection.sendPacket(header, payload);
  }
}
