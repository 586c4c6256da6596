import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { taskId } from '../../../../src/base/ids.ts';
import { Inbound } from '../../../../src/instance/gateway/inbound.ts';
import { TaskStatusReader, TaskStatusWriter } from '../../../../src/instance/task-status.ts';
import { createTaskStatusMemory } from '../../../../src/instance/task-status.ts';
import { createRingMemory, RingReader, RingWriter } from '../../../../src/ring/byte-ring.ts';
import { AtomicsDoorbell } from '../../../../src/ring/atomics-doorbell.ts';
import { encodePacket, FrameAssembler, NO_REQUEST_ID } from '../../../../src/wire/frame.ts';
import { TUPLE_SET_2_TYPE } from '../../../../src/wire/tuple-set-format.ts';
import { grantedBytesSet } from '../../../../src/wire/tuple-set-writer.ts';
import { GatewayConnection } from '../../../support/gateway-connection.ts';
import { setText } from '../../../support/task-in-test.ts';
import { aTuple, type TestSet, tupleSetBytes } from '../../../support/tuple-sets.ts';

const aSet = (word: string, set: Partial<TestSet> = {}): Uint8Array =>
  tupleSetBytes({ task: 1, tuples: [aTuple(word)], ...set });

const SET_BYTES = aSet('a').length;

function anInbound({ windowBytes = 4 * SET_BYTES, ringBytes = 64 * 1024 } = {}) {
  const memory = createRingMemory(ringBytes);
  const statusMemory = createTaskStatusMemory();
  const status = new TaskStatusWriter(statusMemory);
  const reader = new RingReader(memory, new AtomicsDoorbell());
  const largeSets: Uint8Array[] = [];
  const granted: number[] = [];
  const inbound = new Inbound({
    ring: new RingWriter(memory, new AtomicsDoorbell(), new AtomicsDoorbell()),
    task: taskId(3),
    status: new TaskStatusReader(statusMemory),
    windowBytes,
    sendLargeSet: (bytes) => void largeSets.push(bytes),
    onGrant: (bytes) => void granted.push(bytes),
  });
  const receive = (payload: Uint8Array): void => {
    const assembler = new FrameAssembler(Number.MAX_SAFE_INTEGER);
    const chunk = Buffer.from(encodePacket(TUPLE_SET_2_TYPE, NO_REQUEST_ID, payload));
    assembler.feed(chunk);
    inbound.handleSet(assembler.next() ?? assert.fail('one packet'));
    chunk.fill(0xee); // The socket reads into it again.
  };
  /** The task reads one frame and is done with it; returns what it was. */
  const consume = (): string | undefined => {
    if (!reader.next()) return undefined;
    const { kind, bytes, start, end } = reader;
    const frame = Buffer.from(bytes.subarray(start, end));
    if (kind === 0) status.addConsumed(end - start);
    reader.release();
    return kind === 0 ? setText(frame) : `marker ${kind}`;
  };
  return { inbound, receive, consume, largeSets, granted };
}

describe('what a stream manager sends', () => {
  it('reaches the task in order', () => {
    const { receive, consume } = anInbound();
    receive(aSet('a'));
    receive(aSet('b'));
    assert.deepEqual([consume(), consume(), consume()], ['default: a', 'default: b', undefined]);
  });

  it('V1: waits outside of a full ring, in order, and moves on as the task reads', () => {
    const { inbound, receive, consume } = anInbound();
    const words = Array.from({ length: 20 }, (_, index) => `${index} ${'x'.repeat(10_000)}`);
    for (const word of words) receive(aSet(word));
    const seen: string[] = [];
    for (let word = consume(); word !== undefined; word = consume()) {
      seen.push(word);
      inbound.pump();
    }
    assert.deepEqual(
      seen,
      words.map((word) => `default: ${word}`),
    );
  });

  it('V2: keeps its order when a later set would find room', () => {
    const { inbound, receive, consume } = anInbound();
    const [large, small] = ['x'.repeat(30_000), 'small'];
    for (const word of [large, large, large, small]) receive(aSet(word));
    const seen: (number | undefined)[] = [];
    for (let sets = 0; sets < 4; sets += 1) {
      seen.push(consume()?.length);
      inbound.pump();
    }
    assert.deepEqual(seen, [30_009, 30_009, 30_009, 14]);
  });

  it('V2: R15: goes by message when it is too large for the ring, and keeps its place', () => {
    const { receive, consume, largeSets } = anInbound();
    const large = aSet('x'.repeat(100_000));
    receive(aSet('a'));
    receive(large);
    receive(aSet('b'));
    assert.deepEqual([consume(), consume(), consume()], ['default: a', 'marker 1', 'default: b']);
    assert.deepEqual(
      largeSets.map((set) => Buffer.from(set)),
      [Buffer.from(large)],
    );
  });

  it('grants credit for what the task emits', () => {
    const { receive, consume, granted } = anInbound();
    receive(grantedBytesSet(3, 500));
    assert.deepEqual(granted, [500]);
    assert.equal(consume(), undefined);
  });

  it('that is broken ends the connection with a code', () => {
    const { receive } = anInbound();
    assert.throws(() => receive(Buffer.from([0x0a, 0x05])), { code: 'PACKET_MALFORMED' });
  });

  it('is counted', () => {
    const { inbound, receive } = anInbound();
    receive(aSet('a'));
    receive(tupleSetBytes({ task: 1, endOfInput: true }));
    assert.deepEqual(inbound.takeCounts(), { setsReceived: 1, bytesReceived: SET_BYTES });
    assert.deepEqual(inbound.takeCounts(), { setsReceived: 0, bytesReceived: 0 });
  });
});

describe('what the task has consumed', () => {
  it('R4: is reported by the quarter of a window', async () => {
    const { inbound, receive, consume } = anInbound({ windowBytes: 8 * SET_BYTES });
    const peer = new GatewayConnection();
    inbound.connect(peer.connection);
    for (const word of 'abcd') receive(aSet(word));
    consume();
    inbound.pump();
    assert.deepEqual(await peer.take(), []);
    consume();
    inbound.pump();
    assert.deepEqual(await peer.take(), [`consumed ${2 * SET_BYTES}`]);
  });

  it('R4: is reported when everything has been', async () => {
    const { inbound, receive, consume } = anInbound({ windowBytes: 1_000_000 });
    const peer = new GatewayConnection();
    inbound.connect(peer.connection);
    receive(aSet('a'));
    receive(tupleSetBytes({ task: 1, endOfInput: true }));
    consume();
    inbound.pump();
    inbound.pump();
    assert.deepEqual(await peer.take(), [`consumed ${SET_BYTES}`]);
  });

  it('R4: bytes of an earlier connection earn no credit with the next', async () => {
    const { inbound, receive, consume } = anInbound();
    inbound.connect(new GatewayConnection().connection);
    receive(aSet('a'));
    receive(aSet('b'));
    consume(); // Not noticed before the connection is lost.
    inbound.disconnect();
    const peer = new GatewayConnection();
    inbound.connect(peer.connection);
    receive(aSet('c'));
    consume();
    inbound.pump();
    assert.deepEqual(await peer.take(), []);
    consume();
    inbound.pump();
    assert.deepEqual(await peer.take(), [`consumed ${SET_BYTES}`]);
  });

  it('R4: bytes that waited outside of the ring count as those of their connection', async () => {
    const { inbound, receive, consume } = anInbound({ windowBytes: 1_000_000 });
    inbound.connect(new GatewayConnection().connection);
    for (let sets = 0; sets < 10; sets += 1) receive(aSet('x'.repeat(20_000)));
    inbound.disconnect();
    const peer = new GatewayConnection();
    inbound.connect(peer.connection);
    receive(aSet('b'));
    while (consume() !== undefined) inbound.pump();
    assert.deepEqual(await peer.take(), [`consumed ${SET_BYTES}`]);
  });

  it('while there is no connection is forgotten', async () => {
    const { inbound, receive, consume } = anInbound();
    inbound.connect(new GatewayConnection().connection);
    receive(aSet('a'));
    inbound.disconnect();
    consume();
    inbound.pump();
    const peer = new GatewayConnection();
    inbound.connect(peer.connection);
    inbound.pump();
    assert.deepEqual(await peer.take(), []);
  });

  it('V3: what comes after the end of the task is dropped and credited', async () => {
    const { inbound, receive, consume } = anInbound({ windowBytes: 1_000_000 });
    const peer = new GatewayConnection();
    inbound.connect(peer.connection);
    receive(aSet('a'));
    receive(aSet('unread'));
    consume();
    inbound.end();
    assert.deepEqual(await peer.take(), [`consumed ${SET_BYTES + aSet('unread').length}`]);
    receive(aSet('late'));
    receive(tupleSetBytes({ task: 1, endOfInput: true }));
    assert.deepEqual(await peer.take(), [`consumed ${aSet('late').length}`]);
    assert.equal(consume(), 'default: unread');
    assert.equal(consume(), undefined);
  });
});
