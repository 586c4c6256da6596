import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { taskId } from '../../../../src/base/ids.ts';
import { Inbound } from '../../../../src/instance/gateway/inbound.ts';
import { TaskStatusReader, TaskStatusWriter } from '../../../../src/instance/task-status.ts';
import { createTaskStatusMemory } from '../../../../src/instance/task-status.ts';
import { createRingMemory, RingReader, RingWriter } from '../../../../src/ring/byte-ring.ts';
import { AtomicsDoorbell } from '../../../../src/ring/atomics-doorbell.ts';
import { backPressureSet } from '../../../../src/wire/back-pressure-notice.ts';
import { encodePacket, FrameAssembler, NO_REQUEST_ID } from '../../../../src/wire/frame.ts';
import { TUPLE_SET_2_TYPE } from '../../../../src/wire/tuple-set-format.ts';
import { grantedBytesSet } from '../../../../src/wire/tuple-set-writer.ts';
import { GatewayConnection } from '../../../support/gateway-connection.ts';
import { ManualClock } from '../../../support/manual-clock.ts';
import { setText } from '../../../support/task-in-test.ts';
import { settledSet } from '../../../support/tracked-task.ts';
import {
  aTuple,
  controlTexts,
  readTupleSet,
  type TestSet,
  tupleSetBytes,
} from '../../../support/tuple-sets.ts';

const aSet = (word: string, set: Partial<TestSet> = {}): Uint8Array =>
  tupleSetBytes({ task: 1, tuples: [aTuple(word)], ...set });

const SET_BYTES = aSet('a').length;

function anInbound({ windowBytes = 4 * SET_BYTES, ringBytes = 64 * 1024, isTracked = false } = {}) {
  const memory = createRingMemory(ringBytes);
  const statusMemory = createTaskStatusMemory();
  const status = new TaskStatusWriter(statusMemory);
  const reader = new RingReader(memory, new AtomicsDoorbell());
  const bell = new AtomicsDoorbell();
  const largeSets: Uint8Array[] = [];
  const granted: number[] = [];
  const inbound = new Inbound({
    clock: new ManualClock(),
    ring: new RingWriter(memory, new AtomicsDoorbell(), new AtomicsDoorbell()),
    task: taskId(3),
    status: new TaskStatusReader(statusMemory),
    windowBytes,
    sendLargeSet: (bytes) => void largeSets.push(bytes),
    isTracked,
    onGrant: (bytes) => void granted.push(bytes),
    ringTask: () => bell.ring(),
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
    const { control } = readTupleSet(kind === 0 ? frame : new Uint8Array(aSet('')));
    const isData = kind === 0 && control === undefined;
    if (isData) status.addConsumed(end - start);
    reader.release();
    if (control !== undefined) return controlTexts(control).join(', ');
    return kind === 0 ? setText(frame) : `marker ${kind}`;
  };
  return { inbound, receive, consume, largeSets, granted, status, bell };
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
    const none = { setsReceived: 0, bytesReceived: 0, ringFull: 0 };
    assert.deepEqual(inbound.takeCounts(), { ...none, setsReceived: 1, bytesReceived: SET_BYTES });
    assert.deepEqual(inbound.takeCounts(), none);
  });

  it('is counted where it finds no room', () => {
    const { inbound, receive } = anInbound({ ringBytes: 4096 });
    for (let sets = 0; sets < 8; sets += 1) receive(aSet('x'.repeat(1_500)));
    assert.equal(inbound.takeCounts().ringFull, 6, 'the ring has room for two');
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

  it('R4: is reported when it is as much as what is left', async () => {
    const { inbound, receive, consume } = anInbound({ windowBytes: 1_000_000 });
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

/** One whose task keeps account; `receive` takes several sets. */
function aTrackedInbound({ isTracked = true } = {}) {
  const { receive, consume, ...rest } = anInbound({ isTracked, windowBytes: 1_000_000 });
  const consumeAll = (): string[] => {
    const seen: string[] = [];
    for (let frame = consume(); frame !== undefined; frame = consume()) {
      seen.push(frame);
      rest.inbound.pump();
    }
    return seen;
  };
  return { ...rest, receive: (...sets: Uint8Array[]) => sets.forEach(receive), consumeAll };
}

describe('what a stream manager says of acks and connections', () => {
  it('V4: reaches a task that keeps account, in order with the sets', () => {
    const { receive, consumeAll } = aTrackedInbound();
    receive(aSet('a'), settledSet({ acks: [{ key: 5n }] }), aSet('b'));
    assert.deepEqual(consumeAll(), ['default: a', 'ack 1:5=0', 'default: b']);
  });

  it('V4: keeps its place while sets wait for room', () => {
    const { receive, consumeAll } = aTrackedInbound();
    const long = 'x'.repeat(20_000);
    receive(aSet(long), aSet(long), aSet(long), aSet(long), settledSet({ acks: [{ key: 5n }] }));
    receive(aSet('b'));
    assert.deepEqual(consumeAll().slice(4), ['ack 1:5=0', 'default: b']);
  });

  it('V4: neither costs nor earns credit', async () => {
    const { inbound, receive, consumeAll } = aTrackedInbound();
    const peer = new GatewayConnection();
    inbound.connect(peer.connection);
    receive(settledSet({ acks: [{ key: 5n }] }), aSet('a'), settledSet({ fails: [{ key: 6n }] }));
    consumeAll();
    assert.deepEqual(await peer.take(), [`consumed ${aSet('a').length}`]);
  });

  it('does not reach a task that keeps no account', () => {
    const { inbound, receive, consumeAll } = aTrackedInbound({ isTracked: false });
    receive(settledSet({ acks: [{ key: 5n }] }));
    assert.equal(inbound.connect(new GatewayConnection().connection), false);
    inbound.disconnect();
    assert.equal(inbound.connect(new GatewayConnection().connection), false);
    assert.deepEqual(consumeAll(), []);
  });

  it('R14: G1: is divided by a marker for each connection but the first', () => {
    const { inbound, receive, consumeAll } = aTrackedInbound();
    assert.equal(inbound.connect(new GatewayConnection().connection), false);
    receive(aSet('a'));
    inbound.disconnect();
    assert.equal(inbound.connect(new GatewayConnection().connection), true);
    receive(aSet('b'));
    inbound.disconnect();
    assert.equal(inbound.connect(new GatewayConnection().connection), true);
    receive(aSet('c'));
    assert.deepEqual(consumeAll(), [
      'default: a',
      'marker 3',
      'default: b',
      'marker 3',
      'default: c',
    ]);
  });

  it('V6: R14: what waits is dropped with its connection, markers keep their place', () => {
    const { inbound, receive, consumeAll } = aTrackedInbound();
    const long = 'x'.repeat(20_000);
    inbound.connect(new GatewayConnection().connection);
    receive(aSet(long), aSet(long), aSet(long), aSet(long), settledSet({ acks: [{ key: 5n }] }));
    inbound.disconnect();
    inbound.connect(new GatewayConnection().connection);
    receive(aSet(long), aSet('lost'));
    assert.equal(inbound.waitingBytes, aSet(long).length + aSet('lost').length);
    inbound.disconnect();
    inbound.connect(new GatewayConnection().connection);
    receive(aSet('b'));
    assert.deepEqual(consumeAll().slice(3), ['marker 3', 'marker 3', 'default: b']);
  });

  it('V6: what was dropped is not waited for: the next set earns its credit', async () => {
    const { inbound, receive, consumeAll } = aTrackedInbound();
    const long = 'x'.repeat(20_000);
    inbound.connect(new GatewayConnection().connection);
    receive(aSet(long), aSet(long), aSet(long), aSet(long), settledSet({ acks: [{ key: 5n }] }));
    inbound.disconnect();
    const peer = new GatewayConnection();
    inbound.connect(peer.connection);
    receive(aSet('b'));
    consumeAll();
    assert.deepEqual(await peer.take(), [`consumed ${aSet('b').length}`]);
  });

  it('a task that has ended is told nothing, and has nothing to answer', () => {
    const { inbound, receive, consumeAll } = aTrackedInbound();
    inbound.connect(new GatewayConnection().connection);
    inbound.end();
    inbound.disconnect();
    assert.equal(inbound.connect(new GatewayConnection().connection), false);
    receive(settledSet({ acks: [{ key: 5n }] }));
    assert.deepEqual(consumeAll(), []);
  });

  it('T3: whether it forgets what times out is known from its credits', () => {
    const { inbound, status } = aTrackedInbound();
    inbound.connect(new GatewayConnection().connection, true);
    assert.equal(status.forgetsTimeOuts, true);
    inbound.connect(new GatewayConnection().connection, false);
    assert.equal(status.forgetsTimeOuts, false);
  });
});

describe('back pressure', () => {
  const notice = (isHeld: boolean): Uint8Array =>
    backPressureSet(3, { isHeld, component: 'sink', streamManager: 'stmgr-2' });

  for (const isTracked of [true, false]) {
    it(`V5: R12: holds and lets go, ${isTracked ? 'with' : 'without'} acks, and rings`, () => {
      const { receive, consumeAll, status, bell } = aTrackedInbound({ isTracked });
      const before = bell.sequence();
      receive(notice(true));
      assert.deepEqual([status.isHeld, bell.sequence()], [true, before + 1]);
      receive(notice(false));
      assert.deepEqual([status.isHeld, bell.sequence()], [false, before + 2]);
      assert.deepEqual(consumeAll(), []);
    });
  }

  it('V5: R12: of a stream manager that is gone holds nobody', () => {
    const { inbound, receive, status } = aTrackedInbound();
    inbound.connect(new GatewayConnection().connection);
    receive(notice(true));
    inbound.disconnect();
    assert.equal(status.isHeld, false);
  });
});
