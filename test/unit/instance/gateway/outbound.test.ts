import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { taskId } from '../../../../src/base/ids.ts';
import { Outbound } from '../../../../src/instance/gateway/outbound.ts';
import {
  CONNECTION_MARKER,
  END_OF_INPUT_MARKER,
  LARGE_SET_MARKER,
} from '../../../../src/instance/ring-markers.ts';
import { createRingMemory, RingReader, RingWriter } from '../../../../src/ring/byte-ring.ts';
import { AtomicsDoorbell } from '../../../../src/ring/atomics-doorbell.ts';
import { GatewayConnection } from '../../../support/gateway-connection.ts';
import { writeFrame } from '../../../support/task-in-test.ts';
import { settledSet } from '../../../support/tracked-task.ts';
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

const anAck = (key: bigint): Uint8Array => settledSet({ acks: [{ key }] });

/** With `write`, which takes sets and kinds of markers. */
function anAckingOutbound() {
  const { ring, outbound } = anOutbound();
  const write = (...frames: readonly (Uint8Array | number)[]): void => {
    for (const frame of frames) {
      if (typeof frame === 'number') assert.ok(ring.writeMarker(frame));
      else writeFrame(ring, frame);
    }
    outbound.pump();
  };
  return { ring, outbound, write };
}

describe('the acks of a task', () => {
  it('U5: leave in order with the sets, and cost no credit', async () => {
    const { outbound, write } = anAckingOutbound();
    const peer = new GatewayConnection();
    outbound.connect(peer.connection, SET_BYTES + 1);
    write(anAck(1n), aSet('a'), anAck(2n), aSet('b'), anAck(3n));
    assert.deepEqual(await peer.take(), [
      'ack 1:1=0',
      'default: a',
      'ack 1:2=0',
      'default: b',
      'ack 1:3=0',
    ]);
    assert.ok(outbound.isDrained);
  });

  it('U5: need no credit; a set that has none is not overtaken', async () => {
    const { outbound, write } = anAckingOutbound();
    const peer = new GatewayConnection();
    outbound.connect(peer.connection, 1);
    write(aSet('a'), anAck(1n), aSet('b'), anAck(2n));
    assert.deepEqual(await peer.take(), ['default: a', 'ack 1:1=0']);
    assert.equal(outbound.isDrained, false);
    outbound.grant(SET_BYTES - 1);
    assert.deepEqual(await peer.take(), []);
    outbound.grant(1);
    assert.deepEqual(await peer.take(), ['default: b', 'ack 1:2=0']);
    assert.ok(outbound.isDrained);
  });

  it('U5: a set that waits for credit goes to the next connection, in its turn', async () => {
    const { outbound, write } = anAckingOutbound();
    const lost = new GatewayConnection();
    outbound.connect(lost.connection, 1);
    write(aSet('a'), aSet('b'), aSet('c'));
    assert.deepEqual(await lost.take(), ['default: a']);
    outbound.disconnect();
    const peer = new GatewayConnection();
    outbound.connect(peer.connection, 1_000);
    assert.deepEqual(await peer.take(), ['default: b', 'default: c']);
    assert.ok(outbound.isDrained);
  });

  it('R14: U6: G3: are thrown away until the answer to the marker; data goes on', async () => {
    const { outbound, write } = anAckingOutbound();
    outbound.connect(new GatewayConnection().connection, 1_000);
    outbound.disconnect();
    write(anAck(1n), aSet('a'));
    const peer = new GatewayConnection();
    outbound.connect(peer.connection, 1_000, true);
    assert.deepEqual(await peer.take(), ['default: a']);
    write(anAck(2n), LARGE_SET_MARKER);
    outbound.handleLargeSet(anAck(3n));
    write(CONNECTION_MARKER, anAck(4n));
    assert.deepEqual(await peer.take(), ['ack 1:4=0']);
    assert.ok(outbound.isDrained);
  });

  it('U2: U6: that are thrown away do not give back sets in front of them', async () => {
    const { ring, outbound, write } = anAckingOutbound();
    const peer = new GatewayConnection();
    outbound.connect(peer.connection, 1_000_000, true);
    const half = ring.payloadBytesMax;
    write(aSet('x'.repeat(half - 100)), anAck(1n), CONNECTION_MARKER);
    assert.equal(ring.hasRoom(half), false, 'the network still reads the set');
    const [first = ''] = await peer.take();
    assert.equal(first.length, half - 100 + 'default: '.length);
    assert.ok(ring.hasRoom(half));
    assert.ok(outbound.isDrained);
  });

  it('R14: U6: G3: of two losses are thrown away until both are answered', async () => {
    const { outbound, write } = anAckingOutbound();
    outbound.connect(new GatewayConnection().connection, 1_000);
    outbound.disconnect();
    outbound.connect(new GatewayConnection().connection, 1_000, true);
    outbound.disconnect();
    const peer = new GatewayConnection();
    outbound.connect(peer.connection, 1_000, true);
    write(anAck(1n), CONNECTION_MARKER, anAck(2n), CONNECTION_MARKER, anAck(3n));
    assert.deepEqual(await peer.take(), ['ack 1:3=0']);
  });

  it('R14: the end of a task that has not answered is sent all the same', async () => {
    const { outbound, write } = anAckingOutbound();
    const peer = new GatewayConnection();
    outbound.connect(peer.connection, 1_000, true);
    write(anAck(1n), END_OF_INPUT_MARKER);
    assert.deepEqual(await peer.take(), ['end 3']);
  });
});
