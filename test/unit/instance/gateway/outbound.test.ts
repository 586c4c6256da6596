import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { taskId } from '../../../../src/base/ids.ts';
import { Outbound } from '../../../../src/instance/gateway/outbound.ts';
import { END_OF_INPUT_MARKER, LARGE_SET_MARKER } from '../../../../src/instance/ring-markers.ts';
import { createRingMemory, RingReader, RingWriter } from '../../../../src/ring/byte-ring.ts';
import { AtomicsDoorbell } from '../../../../src/ring/atomics-doorbell.ts';
import { GatewayConnection } from '../../../support/gateway-connection.ts';
import { writeFrame } from '../../../support/task-in-test.ts';
import { aTuple, tupleSetBytes } from '../../../support/tuple-sets.ts';

const aSet = (...words: string[]): Uint8Array =>
  tupleSetBytes({ task: 3, tuples: words.map((word) => aTuple(word)) });

const SET_BYTES = aSet('a').length;

function anOutbound(ringBytes = 64 * 1024) {
  const memory = createRingMemory(ringBytes);
  const bell = new AtomicsDoorbell();
  const ring = new RingWriter(memory, new AtomicsDoorbell(), bell);
  const outbound = new Outbound(new RingReader(memory, new AtomicsDoorbell()), taskId(3));
  const emit = (...words: string[]): void => {
    for (const word of words) writeFrame(ring, aSet(word));
    outbound.pump();
  };
  return { ring, outbound, emit };
}

describe('what a task has emitted', () => {
  it('leaves in order', async () => {
    const { outbound, emit } = anOutbound();
    const peer = new GatewayConnection();
    outbound.connect(peer.connection, 1_000_000);
    emit('a', 'b');
    emit('c');
    assert.deepEqual(await peer.take(), ['default: a', 'default: b', 'default: c']);
    assert.ok(outbound.isDrained);
    assert.deepEqual(outbound.takeCounts(), { setsSent: 3, bytesSent: 3 * SET_BYTES });
    assert.deepEqual(outbound.takeCounts(), { setsSent: 0, bytesSent: 0 });
  });

  it('U1: R4: stays while there is no credit; the balance goes below zero by one set', async () => {
    const { outbound, emit } = anOutbound();
    const peer = new GatewayConnection();
    outbound.connect(peer.connection, SET_BYTES + 1);
    emit('a', 'b', 'c', 'd');
    assert.deepEqual(await peer.take(), ['default: a', 'default: b']);
    outbound.grant(SET_BYTES - 1);
    assert.deepEqual(await peer.take(), [], 'the balance is zero');
    outbound.grant(1);
    assert.deepEqual(await peer.take(), ['default: c']);
    assert.equal(outbound.isDrained, false);
  });

  it('U1: nothing leaves before there is a connection', async () => {
    const { outbound, emit } = anOutbound();
    emit('a');
    const peer = new GatewayConnection();
    outbound.connect(peer.connection, 1_000);
    assert.deepEqual(await peer.take(), ['default: a']);
  });

  it('U1: without credits the queue of the connection bounds it, and it goes on', async () => {
    const { ring, outbound } = anOutbound(8 * 1024 * 1024);
    const peer = new GatewayConnection();
    outbound.connect(peer.connection, undefined);
    const word = 'x'.repeat(30_000);
    for (let sets = 0; sets < 100; sets += 1) writeFrame(ring, aSet(word));
    outbound.pump();
    assert.ok(peer.connection.queuedBytes < 1024 * 1024 + 40_000);
    let arrived = 0;
    for (let more = await peer.take(); more.length > 0; more = await peer.take()) {
      arrived += more.length;
    }
    assert.equal(arrived, 100);
  });

  it('U2: R15: is given back to the ring when the network has it, markers in turn', async () => {
    const { ring, outbound } = anOutbound();
    const peer = new GatewayConnection();
    outbound.connect(peer.connection, 1_000_000);
    const half = ring.payloadBytesMax;
    writeFrame(ring, aSet('x'.repeat(half - 100)));
    writeFrame(ring, aSet('y'.repeat(200)));
    assert.ok(ring.writeMarker(LARGE_SET_MARKER));
    outbound.handleLargeSet(aSet('large'));
    assert.equal(ring.hasRoom(half), false, 'the network still reads the first one');
    const [first = '', , last] = await peer.take();
    assert.equal(first.length, half - 100 + 'default: '.length);
    assert.equal(last, 'default: large');
    assert.ok(ring.hasRoom(half));
    assert.ok(outbound.isDrained);
  });

  it('R15: waits for the bytes of a large set, and keeps its place', async () => {
    const { ring, outbound, emit } = anOutbound();
    const peer = new GatewayConnection();
    outbound.connect(peer.connection, 1_000_000);
    emit('a');
    ring.writeMarker(LARGE_SET_MARKER);
    emit('c');
    assert.deepEqual(await peer.take(), ['default: a']);
    assert.equal(outbound.isDrained, false);
    outbound.handleLargeSet(aSet('b'));
    assert.deepEqual(await peer.take(), ['default: b', 'default: c']);
  });

  it('R15: R4: a large set costs credit as well', async () => {
    const { ring, outbound, emit } = anOutbound();
    const peer = new GatewayConnection();
    outbound.connect(peer.connection, 1);
    ring.writeMarker(LARGE_SET_MARKER);
    outbound.handleLargeSet(aSet('b'));
    emit('c');
    assert.deepEqual(await peer.take(), ['default: b']);
  });

  it('U3: goes to the next connection, with a full window, unless it was handed over', async () => {
    const { outbound, emit } = anOutbound();
    const lost = new GatewayConnection();
    outbound.connect(lost.connection, 1);
    emit('a', 'b', 'c');
    lost.connection.abort();
    outbound.disconnect();
    emit('d');
    const peer = new GatewayConnection();
    outbound.connect(peer.connection, 1_000);
    assert.deepEqual(await peer.take(), ['default: b', 'default: c', 'default: d']);
    assert.ok(outbound.isDrained);
  });

  it('U3: stays in the ring while a connection is closed of which nobody has told', async () => {
    const { outbound, emit } = anOutbound();
    const lost = new GatewayConnection();
    outbound.connect(lost.connection, 1_000);
    lost.connection.abort();
    emit('a');
    const peer = new GatewayConnection();
    outbound.connect(peer.connection, 1_000);
    assert.deepEqual(await peer.take(), ['default: a']);
  });

  it('U4: R3: its end follows the last set, and is said again on each connection', async () => {
    const { ring, outbound, emit } = anOutbound();
    const first = new GatewayConnection();
    outbound.connect(first.connection, 1_000);
    emit('a');
    ring.writeMarker(END_OF_INPUT_MARKER);
    assert.equal(outbound.hasEnded, false);
    outbound.pump();
    assert.deepEqual(await first.take(), ['default: a', 'end 3']);
    assert.ok(outbound.hasEnded && outbound.isDrained);
    outbound.disconnect();
    const second = new GatewayConnection();
    outbound.connect(second.connection, 1_000);
    assert.deepEqual(await second.take(), ['end 3']);
    assert.ok(outbound.isDrained);
  });

  it('U4: says so from the start when an earlier process brought the task to its end', async () => {
    const { outbound } = anOutbound();
    outbound.end();
    const peer = new GatewayConnection();
    outbound.connect(peer.connection, 1_000);
    assert.deepEqual(await peer.take(), ['end 3']);
    assert.ok(outbound.hasEnded && outbound.isDrained);
  });
});
