import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { type EngineError, environmentError } from '../../../src/base/errors.ts';
import type { Logger } from '../../../src/base/logger.ts';
import { createSeededRandom } from '../../../src/base/random.ts';
import { MessageHandlers } from '../../../src/net/message-handlers.ts';
import { PacketConnection } from '../../../src/net/packet-connection.ts';
import {
  encodePacket,
  NO_REQUEST_ID,
  packetHeaderBytes,
  writePacketHeader,
} from '../../../src/wire/frame.ts';
import { ManualClock } from '../../support/manual-clock.ts';
import { ScriptedStream } from '../../support/scripted-network.ts';
import { textMessage, textRequest } from '../../support/text-messages.ts';

const Note = textMessage('Note');
const Question = textRequest('Question');
const DATA = 'Data';
const SOME_ID = new Uint8Array(32).fill(9);

class LineCounter implements Logger {
  readonly lines: string[] = [];
  debug(message: string): void {
    this.lines.push(`debug ${message}`);
  }
  info(message: string): void {
    this.lines.push(`info ${message}`);
  }
  warn(message: string): void {
    this.lines.push(`warn ${message}`);
  }
  error(message: string): void {
    this.lines.push(`error ${message}`);
  }
  child(): Logger {
    return this;
  }
}

function aConnection(limits: { controlQueueBytesMax?: number; dataQueueBytesMax?: number } = {}) {
  const stream = new ScriptedStream();
  const handlers = new MessageHandlers();
  const clock = new ManualClock();
  const logger = new LineCounter();
  const random = createSeededRandom(1);
  const options = { handlers, clock, random, logger, packetBytesMax: 100_000, ...limits };
  const connection = new PacketConnection(stream, options);
  const reasons: EngineError[] = [];
  connection.onClose((reason) => reasons.push(reason));
  return { connection, stream, handlers, clock, logger, reasons };
}

/** Lets every microtask and tick that is due run. */
const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

function dataHeader(payloadBytes: number): Uint8Array {
  const header = new Uint8Array(packetHeaderBytes(DATA));
  writePacketHeader(header, 0, DATA, NO_REQUEST_ID, payloadBytes);
  return header;
}

function notePacket(text: string): Uint8Array {
  return encodePacket(Note.typeName, NO_REQUEST_ID, Note.encode(text));
}

describe('messages', () => {
  test('reach their handlers, decoded or raw', () => {
    const { connection, stream, handlers } = aConnection();
    const seen: string[] = [];
    handlers.on(Note, (value, from) => seen.push(value, String(from === connection)));
    handlers.onRaw(DATA, (packet) => {
      const { bytes, payloadStart, payloadEnd } = packet;
      seen.push(bytes.toString('latin1', payloadStart, payloadEnd));
    });
    const data = encodePacket(DATA, NO_REQUEST_ID, Buffer.from('raw'));
    stream.feed(Buffer.concat([notePacket('one'), data, notePacket('two')]));
    assert.deepEqual(seen, ['one', 'true', 'raw', 'two', 'true']);
  });

  test('of one turn travel in one write, in order', async () => {
    const { connection, stream } = aConnection();
    connection.send(Note, 'one');
    connection.send(Note, 'two');
    assert.equal(stream.pendingWrites, 0);
    await turn();
    assert.equal(stream.pendingWrites, 1);
    assert.deepEqual(
      stream.take().map(({ payload }) => payload),
      ['one', 'two'],
    );
    assert.equal(connection.queuedBytes, 0);
  });

  test('of unknown types are counted and ignored', () => {
    const { connection, stream, handlers, logger } = aConnection();
    const seen: string[] = [];
    handlers.onUnknown((packet) => seen.push(packet.typeName));
    stream.feed(encodePacket('Never', NO_REQUEST_ID, new Uint8Array(3)));
    stream.feed(encodePacket('Heard', SOME_ID, new Uint8Array(3)));
    assert.deepEqual(seen, ['Never', 'Heard']);
    assert.equal(connection.unknownPackets, 2);
    assert.equal(connection.isOpen, true);
    assert.equal(logger.lines.filter((line) => line.startsWith('debug')).length, 2);
  });

  test('two handlers for one type are our own mistake', () => {
    const { handlers } = aConnection();
    handlers.on(Note, () => {});
    assert.throws(() => handlers.on(Note, () => {}), { name: 'AssertionError' });
  });
});

describe('requests', () => {
  test('are answered by their id, in any order', async () => {
    const { connection, stream, clock } = aConnection();
    const first = connection.request(Question, 'first', { timeoutMs: 100 });
    const second = connection.request(Question, 'second', { timeoutMs: 100 });
    await turn();
    const [one, two] = stream.take();
    assert.ok(one && two);
    const answer = (id: Uint8Array, text: string): Uint8Array =>
      encodePacket('QuestionResponse', id, Question.response.encode(text));
    stream.feed(answer(two.requestId, 'B'));
    assert.equal(await second, 'B');
    stream.feed(answer(one.requestId, 'A'));
    assert.equal(await first, 'A');
    assert.equal(clock.pendingTimers, 0);
  });

  test('fail after their time, and a late answer is ignored', async () => {
    const { connection, stream, clock } = aConnection();
    const answer = connection.request(Question, 'slow', { timeoutMs: 100 });
    await turn();
    const [request] = stream.take();
    clock.advance(99);
    clock.advance(1);
    await assert.rejects(answer, { code: 'REQUEST_TIMEOUT', retryable: true });
    stream.feed(encodePacket('QuestionResponse', request?.requestId ?? SOME_ID, Buffer.from('x')));
    assert.equal(connection.isOpen, true);
    assert.equal(connection.unknownPackets, 1);
  });

  test('fail with the connection, and at once on a closed one', async () => {
    const { connection, stream, clock } = aConnection();
    const answer = connection.request(Question, 'lost', { timeoutMs: 100 });
    stream.hangUp();
    await assert.rejects(answer, { code: 'CONNECTION_CLOSED' });
    await assert.rejects(connection.request(Question, 'late', { timeoutMs: 100 }), {
      code: 'CONNECTION_CLOSED',
    });
    assert.equal(clock.pendingTimers, 0);
  });

  test('answered by another type end the connection', async () => {
    const { connection, stream, reasons } = aConnection();
    const answer = connection.request(Question, 'x', { timeoutMs: 100 });
    await turn();
    const [request] = stream.take();
    stream.feed(encodePacket('Note', request?.requestId ?? SOME_ID, Buffer.from('x')));
    await assert.rejects(answer, { code: 'CONNECTION_CLOSED' });
    assert.equal(reasons[0]?.code, 'UNEXPECTED_MESSAGE');
  });

  test('are handled, at once or later', async () => {
    const { stream, handlers } = aConnection();
    const later = Promise.withResolvers<string>();
    handlers.onRequest(Question, (value) => (value === 'now' ? 'NOW' : later.promise));
    const otherId = new Uint8Array(32).fill(5);
    stream.feed(
      Buffer.concat([
        encodePacket('QuestionRequest', SOME_ID, Buffer.from('later')),
        encodePacket('QuestionRequest', otherId, Buffer.from('now')),
      ]),
    );
    await turn();
    const [now] = stream.take();
    assert.equal(now?.payload, 'NOW');
    assert.deepEqual(now?.requestId, Buffer.from(otherId));
    later.resolve('LATER');
    await turn();
    const [late] = stream.take();
    assert.equal(late?.payload, 'LATER');
    assert.equal(late?.typeName, 'QuestionResponse');
    assert.deepEqual(late?.requestId, Buffer.from(SOME_ID));
  });

  test("the waiter's part comes before the packet behind the response", async () => {
    const { connection, stream, handlers } = aConnection();
    const seen: string[] = [];
    handlers.on(Note, (value) => seen.push(value));
    const asked = async (): Promise<string> => {
      const answer = await connection.request(Question, 'x', { timeoutMs: 100 });
      return `asked ${answer}`;
    };
    const waiter = (async () => seen.push(await asked()))();
    await turn();
    const [request] = stream.take();
    const id = request?.requestId ?? SOME_ID;
    const response = encodePacket('QuestionResponse', id, Buffer.from('A'));
    const chunk = Buffer.concat([response, notePacket('one'), notePacket('two')]);
    // As an event of its own: ticks run before microtasks there, as in the event of a socket.
    setImmediate(() => stream.feed(chunk));
    await waiter;
    await turn();
    assert.deepEqual(seen, ['asked A', 'one', 'two']);
  });

  test('a chunk right behind a response loses nothing', async () => {
    const { connection, stream, handlers } = aConnection();
    const seen: string[] = [];
    handlers.on(Note, (value) => seen.push(value));
    const waiter = connection.request(Question, 'x', { timeoutMs: 100 });
    await turn();
    const [request] = stream.take();
    const id = request?.requestId ?? SOME_ID;
    const response = encodePacket('QuestionResponse', id, Buffer.from('A'));
    stream.feed(Buffer.concat([response, notePacket('one')]));
    stream.feed(notePacket('two'));
    await waiter;
    await turn();
    assert.deepEqual(seen, ['one', 'two']);
  });
});

describe('data', () => {
  test('tells when its memory is free again', async () => {
    const { connection, stream } = aConnection();
    const done: boolean[] = [];
    const onDone = (written: boolean): void => void done.push(written);
    assert.equal(connection.sendPacket(dataHeader(1), Buffer.from('a'), onDone), true);
    await turn();
    assert.deepEqual(done, []);
    assert.equal(stream.take()[0]?.payload, 'a');
    assert.deepEqual(done, [true]);
    connection.sendPacket(dataHeader(1), Buffer.from('b'), onDone);
    connection.abort();
    assert.deepEqual(done, [true, false]);
    assert.equal(connection.queuedBytes, 0);
    assert.equal(connection.sendPacket(dataHeader(1), Buffer.from('c'), onDone), false);
    assert.equal(done.length, 2);
  });
});

describe('ending', () => {
  test('by close sends what was sent before, reads on, and waits for the peer', async () => {
    const { connection, stream, handlers, clock, reasons } = aConnection();
    handlers.on(Note, () => assert.fail('a handler was called after close'));
    connection.send(Note, 'last words');
    connection.close(environmentError('NOT_AUTHORIZED', 'no token'));
    assert.equal(connection.isOpen, false);
    assert.equal(connection.send(Note, 'too late'), false);
    await turn();
    assert.deepEqual(
      stream.take().map(({ payload }) => payload),
      ['last words'],
    );
    assert.equal(stream.isEnded, true);
    assert.equal(stream.isDestroyed, false);
    stream.feed(notePacket('ignored'));
    stream.hangUp();
    await connection.closed;
    assert.deepEqual(
      reasons.map(({ code }) => code),
      ['NOT_AUTHORIZED'],
    );
    assert.equal(clock.pendingTimers, 0);
  });

  test('by close does not wait for a peer that never ends', async () => {
    const { connection, stream, clock } = aConnection();
    connection.close();
    clock.advance(999);
    assert.equal(stream.isDestroyed, false);
    clock.advance(1);
    assert.equal(stream.isDestroyed, true);
    await connection.closed;
  });

  test('by abort is at once', async () => {
    const { connection, stream, reasons } = aConnection();
    connection.abort();
    assert.equal(stream.isDestroyed, true);
    connection.abort();
    connection.close();
    await connection.closed;
    assert.equal(reasons.length, 1);
    assert.equal(reasons[0]?.code, 'CONNECTION_CLOSED');
  });

  test('by the peer has its own code', async () => {
    const { connection, stream, reasons } = aConnection();
    stream.hangUp();
    await connection.closed;
    assert.equal(reasons[0]?.code, 'CONNECTION_LOST');
    assert.equal(reasons[0]?.retryable, true);
    const late: string[] = [];
    connection.onClose(({ code }) => late.push(code));
    assert.deepEqual(late, ['CONNECTION_LOST']);
  });

  test('by a full queue, of either lane', async () => {
    const control = aConnection({ controlQueueBytesMax: 100 });
    assert.equal(control.connection.send(Note, 'x'.repeat(40)), true);
    assert.equal(control.connection.send(Note, 'x'.repeat(40)), false);
    assert.equal(control.reasons[0]?.code, 'QUEUE_FULL');
    const data = aConnection({ dataQueueBytesMax: 100 });
    assert.equal(data.connection.sendPacket(dataHeader(20), Buffer.alloc(20)), true);
    assert.equal(data.connection.sendPacket(dataHeader(20), Buffer.alloc(20)), false);
    assert.equal(data.reasons[0]?.code, 'QUEUE_FULL');
    assert.equal(data.stream.isDestroyed, true);
    await turn();
  });

  const foreign: readonly (readonly [string, Buffer, string])[] = [
    ['an HTTP request', Buffer.from('POST / HTTP/1.1\r\n\r\n'), 'PACKET_TOO_LARGE'],
    ['zeros', Buffer.alloc(100), 'PACKET_MALFORMED'],
    ['a payload that does not decode', Buffer.from(notePacket('broken')), 'PACKET_MALFORMED'],
  ];
  for (const [what, bytes, code] of foreign) {
    test(`by ${what}: one warning`, () => {
      const { connection, stream, handlers, logger, reasons } = aConnection();
      handlers.on(Note, () => assert.fail('nothing of it reaches a handler'));
      stream.feed(bytes);
      stream.feed(bytes);
      assert.equal(connection.isOpen, false);
      assert.equal(reasons[0]?.code, code);
      assert.equal(logger.lines.length, 1);
      assert.match(logger.lines[0] ?? '', /^warn/);
    });
  }

  test('by an EngineError of a handler; any other error is not caught', async () => {
    const { stream, handlers, reasons } = aConnection();
    handlers.onRequest(Question, () =>
      Promise.reject(environmentError('STALE_EPOCH', 'an old master')),
    );
    stream.feed(encodePacket('QuestionRequest', SOME_ID, Buffer.from('x')));
    await turn();
    assert.equal(reasons[0]?.code, 'STALE_EPOCH');
    const other = aConnection();
    other.handlers.on(Note, () => {
      throw new TypeError('our own mistake');
    });
    assert.throws(() => other.stream.feed(notePacket('x')), TypeError);
  });
});

test('a handler that fails after the end has nobody to tell', async () => {
  const { connection, stream, handlers, logger } = aConnection();
  const later = Promise.withResolvers<string>();
  handlers.onRequest(Question, () => later.promise);
  stream.feed(encodePacket('QuestionRequest', SOME_ID, Buffer.from('x')));
  connection.close();
  later.reject(environmentError('STALE_EPOCH', 'an old master'));
  await turn();
  assert.deepEqual(logger.lines, []);
});

test('pausing reaches the stream', () => {
  const { connection, stream } = aConnection();
  connection.pauseReading();
  assert.equal(stream.isReading, false);
  connection.resumeReading();
  assert.equal(stream.isReading, true);
});
