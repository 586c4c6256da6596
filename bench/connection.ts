/*
  What a data packet costs on its way through a connection: sending, the loopback socket and
  receiving, all in one thread. The socket's system calls are most of it.

  Left out: everything that is done with the payload.

  Run: node bench/connection.ts
*/
import { systemClock } from '../src/base/clock.ts';
import { silentLogger } from '../src/base/logger.ts';
import { createSystemRandom } from '../src/base/random.ts';
import { MessageHandlers } from '../src/net/message-handlers.ts';
import { PacketConnection } from '../src/net/packet-connection.ts';
import { PacketServer } from '../src/net/server.ts';
import { tcpNetwork } from '../src/net/tcp-network.ts';
import {
  FrameAssembler,
  NO_REQUEST_ID,
  packetHeaderBytes,
  writePacketHeader,
} from '../src/wire/frame.ts';

const TYPE_NAME = 'heron.proto.system.HeronTupleSet2';
const ROUNDS = 5;
const WINDOW_BYTES = 1024 * 1024;

const headerBytes = packetHeaderBytes(TYPE_NAME);
const common = {
  clock: systemClock,
  random: createSystemRandom(),
  logger: silentLogger,
  packetBytesMax: 16 * 1024 * 1024,
};

function median(values: number[]): number {
  values.sort((one, other) => one - other);
  return values[values.length >> 1] ?? Number.NaN;
}

/** Cuts packets out of one chunk, the way a socket delivers them. */
function assembleNanoseconds(payloadBytes: number): number {
  const packet = Buffer.alloc(headerBytes + payloadBytes);
  writePacketHeader(packet, 0, TYPE_NAME, NO_REQUEST_ID, payloadBytes);
  const packets = Math.max(1, Math.floor((64 * 1024) / packet.length));
  const chunk = Buffer.concat(Array.from({ length: packets }, () => packet));
  const assembler = new FrameAssembler(common.packetBytesMax);
  const runs = Math.ceil(2_000_000 / packets);
  const startMs = performance.now();
  for (let run = 0; run < runs; run += 1) {
    assembler.feed(chunk);
    while (assembler.next() !== undefined);
  }
  return ((performance.now() - startMs) * 1e6) / (runs * packets);
}

async function socketMicroseconds(payloadBytes: number, packets: number): Promise<number> {
  const all = Promise.withResolvers<void>();
  let received = 0;
  const handlers = new MessageHandlers().onRaw(TYPE_NAME, () => {
    received += 1;
    if (received === packets) all.resolve();
  });
  const address = { host: '127.0.0.1', port: 0 };
  const server = await PacketServer.listen({ ...common, network: tcpNetwork, address, handlers });
  const stream = await tcpNetwork.connect(server.address);
  const connection = new PacketConnection(stream, { ...common, handlers: new MessageHandlers() });
  const header = new Uint8Array(headerBytes);
  writePacketHeader(header, 0, TYPE_NAME, NO_REQUEST_ID, payloadBytes);
  const payload = Buffer.alloc(payloadBytes);
  let sent = 0;
  const sendMore = (): void => {
    while (sent < packets && connection.queuedBytes < WINDOW_BYTES) {
      sent += 1;
      connection.sendPacket(header, payload, sendMore);
    }
  };
  const startMs = performance.now();
  sendMore();
  await all.promise;
  const spentMs = performance.now() - startMs;
  connection.close();
  await server.close();
  return (spentMs * 1000) / packets;
}

for (const payloadBytes of [100, 32 * 1024]) {
  const assembling: number[] = [];
  const sockets: number[] = [];
  for (let round = 0; round < ROUNDS; round += 1) {
    assembling.push(assembleNanoseconds(payloadBytes));
    sockets.push(await socketMicroseconds(payloadBytes, payloadBytes > 1000 ? 20_000 : 200_000));
  }
  const [cut, whole] = [median(assembling).toFixed(0), median(sockets).toFixed(2)];
  console.log(`${payloadBytes} bytes: cut from a chunk ${cut} ns, sent and received ${whole} us`);
}
