import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { describe, test } from 'node:test';
import * as fc from 'fast-check';
import { EngineError, hasCode } from '../../../src/base/errors.ts';
import { createSeededRandom } from '../../../src/base/random.ts';
import {
  encodePacket,
  FrameAssembler,
  NO_REQUEST_ID,
  packetHeaderBytes,
  REQUEST_ID_BYTES,
  writePacketHeader,
} from '../../../src/wire/frame.ts';

const LIMIT_BYTES = 1_000_000;
const TYPE_NAME = 'heron.proto.system.HeronTupleSet2';
const REQUEST_ID = Uint8Array.from({ length: REQUEST_ID_BYTES }, (_, index) => index);

interface Received {
  readonly typeName: string;
  readonly requestId: string;
  readonly hasRequestId: boolean;
  readonly payload: string;
}

function receive(assembler: FrameAssembler, chunks: readonly Buffer[]): Received[] {
  const received: Received[] = [];
  for (const chunk of chunks) {
    assembler.feed(chunk);
    for (let packet = assembler.next(); packet !== undefined; packet = assembler.next()) {
      received.push({
        typeName: packet.typeName,
        requestId: Buffer.from(packet.requestId).toString('hex'),
        hasRequestId: packet.hasRequestId,
        payload: Buffer.from(packet.payload).toString('hex'),
      });
    }
  }
  return received;
}

function receiveAll(chunks: readonly Buffer[], limitBytes = LIMIT_BYTES): Received[] {
  return receive(new FrameAssembler(limitBytes), chunks);
}

function packetOf(payload: Uint8Array, requestId = NO_REQUEST_ID, typeName = TYPE_NAME): Buffer {
  return Buffer.from(encodePacket(typeName, requestId, payload));
}

/** A packet with any lengths, right or wrong. */
function rawPacket(length: number, nameLength: number, rest: Uint8Array): Buffer {
  const head = Buffer.alloc(8);
  head.writeUInt32BE(length, 0);
  head.writeUInt32BE(nameLength, 4);
  return Buffer.concat([head, rest]);
}

describe('writing', () => {
  test("the lengths are those of Heron's worked example", () => {
    const bytes = packetOf(Buffer.alloc(10));
    assert.equal(bytes.readUInt32BE(0), 83);
    assert.equal(bytes.readUInt32BE(4), 33);
    assert.equal(bytes.toString('latin1', 8, 41), TYPE_NAME);
    assert.equal(bytes.readUInt32BE(73), 10);
    assert.equal(bytes.length, 87);
  });

  test('a header goes into given memory and nothing around it is touched', () => {
    const into = new Uint8Array(packetHeaderBytes(TYPE_NAME) + 20).fill(0xee);
    const payloadStart = writePacketHeader(into, 10, TYPE_NAME, REQUEST_ID, 7);
    assert.equal(payloadStart, 10 + packetHeaderBytes(TYPE_NAME));
    assert.ok(into.subarray(0, 10).every((byte) => byte === 0xee));
    assert.ok(into.subarray(payloadStart).every((byte) => byte === 0xee));
    const whole = packetOf(new Uint8Array(7), REQUEST_ID);
    assert.deepEqual(Buffer.from(into.subarray(10, payloadStart)), whole.subarray(0, -7));
  });
});

describe('reading', () => {
  test('tells requests from one-way messages', () => {
    const [oneWay, request] = receiveAll([
      packetOf(Buffer.from('ab')),
      packetOf(Buffer.from('cd'), REQUEST_ID),
    ]);
    assert.equal(oneWay?.hasRequestId, false);
    assert.equal(request?.hasRequestId, true);
    assert.equal(request?.requestId, Buffer.from(REQUEST_ID).toString('hex'));
    assert.equal(request?.payload, Buffer.from('cd').toString('hex'));
  });

  test('a packet split at any place, and any two places, is the same packet', () => {
    const stream = Buffer.concat([
      packetOf(Buffer.from('first'), REQUEST_ID),
      packetOf(Buffer.alloc(0)),
      packetOf(Buffer.from('third'), NO_REQUEST_ID, 'a.b.C'),
    ]);
    const whole = receiveAll([stream]);
    assert.equal(whole.length, 3);
    for (let one = 0; one <= stream.length; one += 1) {
      assert.deepEqual(receiveAll([stream.subarray(0, one), stream.subarray(one)]), whole);
      for (let two = one; two <= stream.length; two += 7) {
        const chunks = [stream.subarray(0, one), stream.subarray(one, two), stream.subarray(two)];
        assert.deepEqual(receiveAll(chunks), whole);
      }
    }
  });

  test('one byte at a time is enough', () => {
    const stream = Buffer.concat([packetOf(Buffer.from('x')), packetOf(Buffer.from('y'))]);
    const bytes = Array.from(stream, (byte) => Buffer.from([byte]));
    assert.deepEqual(receiveAll(bytes), receiveAll([stream]));
  });

  test('any packets in any chunks come out as they went in', () => {
    const packets = fc.array(fc.uint8Array({ maxLength: 300 }), { minLength: 1, maxLength: 20 });
    const cuts = fc.array(fc.nat(5000), { maxLength: 30 });
    fc.assert(
      fc.property(packets, cuts, (payloads, places) => {
        const stream = Buffer.concat(payloads.map((payload) => packetOf(payload)));
        const sorted = [0, ...places.map((place) => place % stream.length), stream.length];
        sorted.sort((one, other) => one - other);
        const chunks = sorted.slice(1).map((end, index) => stream.subarray(sorted[index], end));
        const received = receiveAll(chunks).map(({ payload }) => payload);
        const sent = payloads.map((payload) => Buffer.from(payload).toString('hex'));
        assert.deepEqual(received, sent);
      }),
    );
  });

  test('type names that fall into one place of the cache stay apart', () => {
    const names = Array.from({ length: 500 }, (_, index) => `heron.proto.X${index}`);
    const stream = Buffer.concat(
      [...names, ...names].map((name) => packetOf(Buffer.alloc(0), NO_REQUEST_ID, name)),
    );
    const received = receiveAll([stream]).map(({ typeName }) => typeName);
    assert.deepEqual(received, [...names, ...names]);
  });
});

describe('memory', () => {
  test('a packet inside one chunk is a view, one across chunks is put together', () => {
    const first = packetOf(Buffer.from('first'));
    const second = packetOf(Buffer.from('second'));
    const chunk = Buffer.concat([first, second.subarray(0, 50)]);
    const assembler = new FrameAssembler(LIMIT_BYTES);
    assembler.feed(chunk);
    assert.equal(assembler.next()?.bytes, chunk);
    assert.equal(assembler.next(), undefined);
    assert.equal(assembler.pendingBytes, 50);
    assembler.feed(second.subarray(50));
    assert.equal(assembler.next()?.bytes.length, second.length);
    assert.equal(assembler.pendingBytes, 0);
  });

  test('F2: copies stay as they were when the memory of the chunks is used again', () => {
    const random = createSeededRandom(3);
    const payloads = Array.from({ length: 50 }, () => random.bytes(200));
    const stream = Buffer.concat(payloads.map((payload) => packetOf(payload)));
    const assembler = new FrameAssembler(LIMIT_BYTES);
    const kept: Uint8Array[] = [];
    const memory = Buffer.alloc(333);
    for (let at = 0; at < stream.length; at += memory.length) {
      const bytes = stream.copy(memory, 0, at);
      assembler.feed(memory.subarray(0, bytes));
      for (let packet = assembler.next(); packet !== undefined; packet = assembler.next()) {
        kept.push(packet.payload);
      }
    }
    assert.deepEqual(
      kept.map((payload) => new Uint8Array(payload)),
      payloads,
    );
  });

  test('packets that have not been taken yet outlive their chunk when the rest is kept', () => {
    const chunk = Buffer.concat(
      ['first', 'second', 'third'].map((text) => packetOf(Buffer.from(text))),
    );
    const assembler = new FrameAssembler(LIMIT_BYTES);
    assembler.feed(chunk);
    assert.equal(String(assembler.next()?.payload), 'first');
    assembler.keepRest();
    chunk.fill(0xee);
    assert.equal(String(assembler.next()?.payload), 'second');
    assert.equal(String(assembler.next()?.payload), 'third');
    assert.equal(assembler.next(), undefined);
  });

  test('packets across chunks share memory, large ones have their own', () => {
    const assembler = new FrameAssembler(LIMIT_BYTES);
    const memoryOf = (payloadBytes: number): ArrayBufferLike | undefined => {
      const bytes = packetOf(new Uint8Array(payloadBytes));
      assembler.feed(bytes.subarray(0, 50));
      assert.equal(assembler.next(), undefined);
      assembler.feed(bytes.subarray(50));
      return assembler.next()?.bytes.buffer;
    };
    const shared = memoryOf(1_000);
    assert.equal(memoryOf(40_000), shared);
    assert.notEqual(memoryOf(400_000), shared);
    assert.equal(memoryOf(2_000), shared);
  });

  test('nothing is set aside for a packet over the limit', () => {
    const assembler = new FrameAssembler(LIMIT_BYTES);
    assembler.feed(rawPacket(0xffff_ffff, 10, new Uint8Array(0)));
    const before = process.memoryUsage().arrayBuffers;
    assert.throws(() => assembler.next(), { code: 'PACKET_TOO_LARGE' });
    assert.ok(process.memoryUsage().arrayBuffers - before < LIMIT_BYTES);
  });
});

describe('limits and broken bytes', () => {
  const fixedBytes = 4 + REQUEST_ID_BYTES + 4;
  const empty = new Uint8Array(0);

  test('a packet of exactly the limit passes, one byte more does not', () => {
    const packet = packetOf(new Uint8Array(100));
    const length = packet.readUInt32BE(0);
    assert.equal(receiveAll([packet], length).length, 1);
    assert.throws(() => receiveAll([packet], length - 1), { code: 'PACKET_TOO_LARGE' });
  });

  const rows: readonly (readonly [string, Buffer, string])[] = [
    ['an HTTP request', Buffer.from('GET / HTTP/1.1\r\nHost: x\r\n\r\n'), 'PACKET_TOO_LARGE'],
    ['a TLS hello', Buffer.from('16030102000100', 'hex').subarray(0, 7), 'more'],
    ['a whole TLS hello', Buffer.from('160301020001000100fc0303', 'hex'), 'PACKET_TOO_LARGE'],
    ['zeros', Buffer.alloc(64), 'PACKET_MALFORMED'],
    ['a length below the fixed part', rawPacket(fixedBytes - 1, 0, empty), 'PACKET_MALFORMED'],
    ['a name longer than the packet', rawPacket(fixedBytes + 3, 4, empty), 'PACKET_MALFORMED'],
    ['a name of 4 GiB', rawPacket(500, 0xffff_ffff, empty), 'PACKET_MALFORMED'],
    ['no name', rawPacket(fixedBytes, 0, Buffer.alloc(36)), 'PACKET_MALFORMED'],
    ['an endless name', rawPacket(fixedBytes + 300, 300, empty), 'PACKET_MALFORMED'],
    [
      'an unprintable name',
      packetOf(empty, NO_REQUEST_ID, 'heron.\u0007proto'),
      'PACKET_MALFORMED',
    ],
    [
      'a payload length that disagrees',
      rawPacket(fixedBytes + 2, 1, Buffer.concat([Buffer.from('n'), Buffer.alloc(37)])),
      'PACKET_MALFORMED',
    ],
  ];
  for (const [what, bytes, code] of rows) {
    test(`${what}: ${code}`, () => {
      if (code === 'more') assert.deepEqual(receiveAll([bytes]), []);
      else assert.throws(() => receiveAll([bytes]), { code });
    });
  }

  test('an HTTP request can be recognised in the message', () => {
    assert.throws(() => receiveAll([Buffer.from('GET / HTTP/1.1\r\n')]), /"GET " as text/);
  });

  test('any bytes give packets or an error with a code, never anything else', () => {
    const valid = Buffer.concat([packetOf(Buffer.from('abc')), packetOf(Buffer.from('defg'))]);
    const mutated = fc
      .array(fc.tuple(fc.nat(valid.length - 1), fc.nat(255)), { minLength: 1, maxLength: 6 })
      .map((changes) => {
        const bytes = Buffer.from(valid);
        for (const [at, value] of changes) bytes[at] = value;
        return bytes;
      });
    const random = fc.uint8Array({ maxLength: 200 }).map((bytes) => Buffer.from(bytes));
    fc.assert(
      fc.property(fc.oneof(mutated, random), fc.nat(100), (bytes, cut) => {
        try {
          receiveAll([bytes.subarray(0, cut), bytes.subarray(cut)], 10_000);
        } catch (error) {
          if (!(error instanceof EngineError)) throw error;
          assert.ok(hasCode(error, 'PACKET_TOO_LARGE', 'PACKET_MALFORMED'));
        }
      }),
      { numRuns: 3000 },
    );
  });
});

describe("packets of Heron's own processes", () => {
  const folder = new URL('../../golden/packets/', import.meta.url);
  const names = readdirSync(folder).filter((name) => name.endsWith('.bin'));

  test('there are some', () => assert.ok(names.length > 50));

  test('each is read as its description says, and written again to the same bytes', () => {
    const assembler = new FrameAssembler(16 * 1024 * 1024);
    for (const name of names) {
      const bytes = readFileSync(new URL(name, folder));
      const description = JSON.parse(
        readFileSync(new URL(name.replace(/bin$/, 'json'), folder), 'utf8'),
      ) as { L: number; type: string; reqid: string; one_way: boolean; payload_length: number };
      const [packet, ...others] = receive(assembler, [bytes.subarray(0, 30), bytes.subarray(30)]);
      assert.deepEqual(others, [], name);
      assert.equal(packet?.typeName, description.type, name);
      assert.equal(packet?.requestId, description.reqid, name);
      assert.equal(packet?.hasRequestId, !description.one_way, name);
      const payload = Buffer.from(packet.payload, 'hex');
      assert.equal(payload.length, description.payload_length, name);
      const written = packetOf(payload, Buffer.from(packet.requestId, 'hex'), packet.typeName);
      assert.deepEqual(written, bytes, name);
    }
  });
});
