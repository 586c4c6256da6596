/*
  Real sockets on loopback: the TCP network, a server of packets, connections and clients over it.
*/
import assert from 'node:assert/strict';
import { connect, createServer, type Socket } from 'node:net';
import { describe, test, type TestContext } from 'node:test';
import { systemClock } from '../../../src/base/clock.ts';
import type { EngineError } from '../../../src/base/errors.ts';
import { silentLogger } from '../../../src/base/logger.ts';
import { createSeededRandom, createSystemRandom } from '../../../src/base/random.ts';
import { ReconnectingClient } from '../../../src/net/client.ts';
import { MessageHandlers } from '../../../src/net/message-handlers.ts';
import type { Address } from '../../../src/net/network.ts';
import { PacketConnection } from '../../../src/net/packet-connection.ts';
import { PacketServer, type PacketServerOptions } from '../../../src/net/server.ts';
import { tcpNetwork } from '../../../src/net/tcp-network.ts';
import { createRingMemory, RingReader, RingWriter } from '../../../src/ring/byte-ring.ts';
import { AtomicsDoorbell } from '../../../src/ring/atomics-doorbell.ts';
import {
  encodePacket,
  NO_REQUEST_ID,
  packetHeaderBytes,
  writePacketHeader,
} from '../../../src/wire/frame.ts';
import { eventually } from '../../support/eventually.ts';
import { textMessage, textRequest } from '../../support/text-messages.ts';

const LOOPBACK: Address = { host: '127.0.0.1', port: 0 };
const Note = textMessage('Note');
const Question = textRequest('Question');
const DATA = 'heron.proto.system.HeronTupleSet';

const common = {
  clock: systemClock,
  random: createSystemRandom(),
  logger: silentLogger,
  packetBytesMax: 1024 * 1024,
};

async function aServer(
  t: TestContext,
  handlers: MessageHandlers,
  overrides: Partial<PacketServerOptions> = {},
): Promise<PacketServer> {
  const options = { ...common, network: tcpNetwork, address: LOOPBACK, handlers, ...overrides };
  const server = await PacketServer.listen(options);
  t.after(() => server.close());
  return server;
}

async function aConnection(
  t: TestContext,
  address: Address,
  handlers = new MessageHandlers(),
): Promise<PacketConnection> {
  const stream = await tcpNetwork.connect(address);
  const connection = new PacketConnection(stream, { ...common, handlers });
  t.after(() => connection.abort());
  return connection;
}

/** A peer that speaks whatever the test writes. */
async function aSocket(t: TestContext, { host, port }: Address): Promise<Socket> {
  const socket = connect({ host, port });
  socket.on('error', () => {});
  t.after(() => socket.destroy());
  await new Promise<void>((resolve) => socket.once('connect', resolve));
  return socket;
}

describe('listening and dialling', () => {
  test('port 0 is replaced by the port that was chosen', async (t) => {
    const server = await aServer(t, new MessageHandlers());
    assert.ok(server.address.port > 0);
    assert.equal(server.addressText, `127.0.0.1:${server.address.port}`);
  });

  test('a port in use is refused with its address', async (t) => {
    const { address } = await aServer(t, new MessageHandlers());
    await assert.rejects(aServer(t, new MessageHandlers(), { address }), (error: EngineError) => {
      assert.equal(error.code, 'PORT_IN_USE');
      assert.match(error.message, new RegExp(`127\\.0\\.0\\.1:${address.port}`));
      return true;
    });
  });

  test('a port is free again as soon as its server is closed', async (t) => {
    const server = await aServer(t, new MessageHandlers());
    const connection = await aConnection(t, server.address);
    await eventually(() => server.connections.size === 1);
    await server.close();
    await connection.closed;
    const again = await aServer(t, new MessageHandlers(), { address: server.address });
    assert.deepEqual(again.address, server.address);
  });

  test('nobody there', async (t) => {
    const server = await aServer(t, new MessageHandlers());
    await server.close();
    await assert.rejects(tcpNetwork.connect(server.address), {
      code: 'CONNECTION_REFUSED',
      retryable: true,
    });
  });

  test('a host without an address', async () => {
    await assert.rejects(tcpNetwork.connect({ host: 'no.such.host.invalid', port: 1 }), {
      code: 'CONNECTION_LOST',
      retryable: true,
    });
  });

  test('a dial that was given up', async (t) => {
    const server = await aServer(t, new MessageHandlers());
    const giveUp = new AbortController();
    const dial = tcpNetwork.connect(server.address, giveUp.signal);
    giveUp.abort();
    await assert.rejects(dial, { code: 'CONNECTION_CLOSED' });
    await assert.rejects(tcpNetwork.connect(server.address, giveUp.signal), {
      code: 'CONNECTION_CLOSED',
    });
  });
});

describe('conversations', () => {
  test('requests, messages and data, both ways', async (t) => {
    const seen: string[] = [];
    const handlers = new MessageHandlers()
      .onRequest(Question, async (value, connection) => {
        connection.send(Note, `about ${value}`);
        return `${value}!`;
      })
      .onRaw(DATA, (packet) => seen.push(Buffer.from(packet.payload).toString('latin1')));
    const server = await aServer(t, handlers);
    const notes: string[] = [];
    const own = new MessageHandlers().on(Note, (value) => notes.push(value));
    const connection = await aConnection(t, server.address, own);
    const answers = await Promise.all(
      ['a', 'b', 'c'].map((text) => connection.request(Question, text, { timeoutMs: 10_000 })),
    );
    assert.deepEqual(answers, ['a!', 'b!', 'c!']);
    assert.deepEqual(notes, ['about a', 'about b', 'about c']);
    const header = new Uint8Array(packetHeaderBytes(DATA));
    writePacketHeader(header, 0, DATA, NO_REQUEST_ID, 5);
    connection.sendPacket(header, Buffer.from('tuple'));
    await eventually(() => assert.deepEqual(seen, ['tuple']));
  });

  test('the reason of a refusal arrives although its receiver goes on sending', async (t) => {
    const handlers = new MessageHandlers().onRequest(Question, (_value, connection) => {
      queueMicrotask(() => connection.close());
      return 'refused';
    });
    const server = await aServer(t, handlers);
    for (let round = 0; round < 20; round += 1) {
      const connection = await aConnection(t, server.address);
      const answer = connection.request(Question, 'may I', { timeoutMs: 10_000 });
      for (let count = 0; count < 50; count += 1) connection.send(Note, 'x'.repeat(10_000));
      assert.equal(await answer, 'refused');
      await connection.closed;
    }
  });

  test('a slow reader gets everything, in order', async (t) => {
    const numbers: number[] = [];
    const handlers = new MessageHandlers().onRaw(DATA, (packet, connection) => {
      numbers.push(packet.bytes.readUInt32LE(packet.payloadStart));
      if (numbers.length % 50 !== 0) return;
      connection.pauseReading();
      setImmediate(() => connection.resumeReading());
    });
    const server = await aServer(t, handlers);
    const connection = await aConnection(t, server.address);
    const payloads = Array.from({ length: 2000 }, (_, index) => {
      const payload = Buffer.alloc(32 * 1024);
      payload.writeUInt32LE(index);
      return payload;
    });
    const header = new Uint8Array(packetHeaderBytes(DATA));
    writePacketHeader(header, 0, DATA, NO_REQUEST_ID, 32 * 1024);
    let done = 0;
    const onDone = (written: boolean): void => {
      assert.equal(written, true);
      done += 1;
    };
    for (const payload of payloads) assert.ok(connection.sendPacket(header, payload, onDone));
    assert.equal(connection.queuedBytes, 2000 * (32 * 1024 + header.length));
    await eventually(() => numbers.length === 2000, { timeoutMs: 30_000 });
    assert.deepEqual(
      numbers,
      numbers.map((_, index) => index),
    );
    assert.equal(done, 2000);
    assert.equal(connection.queuedBytes, 0);
  });

  test('frames of a ring go out uncopied, and are released when written', async (t) => {
    const random = createSeededRandom(5);
    const expected: string[] = [];
    const received: string[] = [];
    const handlers = new MessageHandlers().onRaw(DATA, (packet) =>
      received.push(Buffer.from(packet.payload).toString('hex')),
    );
    const server = await aServer(t, handlers);
    const connection = await aConnection(t, server.address);
    const memory = createRingMemory(64 * 1024);
    const bell = new AtomicsDoorbell();
    const writer = new RingWriter(memory, bell, bell);
    const reader = new RingReader(memory, bell);
    const release = (): void => reader.release();
    const forward = (): void => {
      while (reader.next()) {
        const payload = reader.bytes.subarray(reader.start, reader.end);
        const header = new Uint8Array(packetHeaderBytes(DATA));
        writePacketHeader(header, 0, DATA, NO_REQUEST_ID, payload.length);
        connection.sendPacket(header, payload, release);
      }
    };
    for (let count = 0; count < 500; count += 1) {
      const bytes = random.bytes(random.below(8000));
      expected.push(Buffer.from(bytes).toString('hex'));
      assert.equal(await writer.waitForRoom(bytes.length), true);
      const at = writer.reserve(bytes.length);
      writer.bytes.set(bytes, at);
      writer.commit(at, at + bytes.length);
      forward();
    }
    await eventually(() => received.length === expected.length);
    assert.deepEqual(received, expected);
  });
});

describe('foreign bytes end their own connection and nothing else', () => {
  const random = createSeededRandom(11);
  const foreign: readonly (readonly [string, Uint8Array])[] = [
    ['an HTTP request', Buffer.from('GET /topologies HTTP/1.1\r\nHost: x\r\n\r\n')],
    ['a TLS hello', Buffer.from(`1603010200010001fc0303${'00'.repeat(500)}`, 'hex')],
    ['random bytes', Buffer.from(random.bytes(5000))],
    [
      'a packet that does not decode',
      encodePacket(Note.typeName, NO_REQUEST_ID, Buffer.from('broken')),
    ],
  ];
  for (const [what, bytes] of foreign) {
    test(what, async (t) => {
      const warnings: unknown[] = [];
      const logger = {
        ...silentLogger,
        warn: (message: string, fields?: unknown): void => void warnings.push(message, fields),
      };
      const handlers = new MessageHandlers()
        .on(Note, () => {})
        .onRequest(Question, (value) => value.toUpperCase());
      const server = await aServer(t, handlers, { logger });
      const neighbour = await aConnection(t, server.address);
      const socket = await aSocket(t, server.address);
      const ended = new Promise((resolve) => socket.once('close', resolve));
      socket.resume();
      socket.write(bytes);
      await ended;
      assert.equal(warnings.length, 2, 'one warning with its fields');
      assert.equal(await neighbour.request(Question, 'alive', { timeoutMs: 10_000 }), 'ALIVE');
      assert.equal(server.connections.size, 1);
    });
  }
});

describe('servers', () => {
  test('refuse peers that may not connect, and more than they were made for', async (t) => {
    const closedTo = await aServer(t, new MessageHandlers(), { accepts: () => false });
    const stranger = await aConnection(t, closedTo.address);
    await stranger.closed;
    const small = await aServer(t, new MessageHandlers(), { connectionsMax: 1 });
    const first = await aConnection(t, small.address);
    await eventually(() => small.connections.size === 1);
    const second = await aConnection(t, small.address);
    await second.closed;
    assert.equal(first.isOpen, true);
    assert.equal(small.connections.size, 1);
  });

  test('tell of new connections, and forget those that ended', async (t) => {
    const seen: PacketConnection[] = [];
    const server = await aServer(t, new MessageHandlers(), {
      onConnection: (connection) => void seen.push(connection),
    });
    const connection = await aConnection(t, server.address);
    await eventually(() => seen.length === 1);
    connection.abort();
    await eventually(() => server.connections.size === 0);
    assert.equal(seen[0]?.closeReason?.code, 'CONNECTION_LOST');
  });
});

describe('clients', () => {
  test('follow a server that comes back, and one that moves', async (t) => {
    const seen: string[] = [];
    const handlers = (name: string): MessageHandlers =>
      new MessageHandlers().on(Note, (value) => seen.push(`${name} ${value}`));
    const first = await aServer(t, handlers('first'));
    const client = new ReconnectingClient({
      ...common,
      peer: 'server',
      network: tcpNetwork,
      handlers: new MessageHandlers(),
      backoffMinMs: 1,
      backoffMaxMs: 20,
      onConnected: (connection) => void connection.send(Note, 'hello'),
    });
    t.after(() => client.close());
    client.retarget(first.address);
    await eventually(() => assert.deepEqual(seen, ['first hello']));
    await first.close();
    await eventually(() => client.lastError?.code === 'CONNECTION_REFUSED');
    const again = await aServer(t, handlers('again'), { address: first.address });
    await eventually(() => assert.equal(seen[1], 'again hello'));
    const elsewhere = await aServer(t, handlers('elsewhere'));
    client.retarget(elsewhere.address);
    await eventually(() => assert.equal(seen[2], 'elsewhere hello'));
    await eventually(() => again.connections.size === 0);
    assert.equal(client.connection?.remote, elsewhere.addressText);
  });

  test('a peer that never answers does not hold up another client', async (t) => {
    const silent = createServer(() => {});
    await new Promise<void>((resolve) => silent.listen(0, '127.0.0.1', resolve));
    t.after(() => silent.close());
    const { port } = silent.address() as { port: number };
    const options = {
      ...common,
      network: tcpNetwork,
      handlers: new MessageHandlers(),
      backoffMinMs: 1,
      backoffMaxMs: 5,
      onConnected: async (connection: PacketConnection): Promise<void> => {
        await connection.request(Question, 'hello', { timeoutMs: 20 });
      },
    };
    const stuck = new ReconnectingClient({ ...options, peer: 'silent' });
    const lively = new ReconnectingClient({ ...options, peer: 'server' });
    t.after(() => stuck.close());
    t.after(() => lively.close());
    stuck.retarget({ host: '127.0.0.1', port });
    await eventually(() => stuck.lastError?.code === 'REQUEST_TIMEOUT');
    const server = await aServer(
      t,
      new MessageHandlers().onRequest(Question, () => 'hello'),
    );
    lively.retarget(server.address);
    await eventually(() => lively.isConnected);
    assert.equal(stuck.isConnected, false);
  });
});
