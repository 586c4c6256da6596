import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { taskId } from '../../../src/base/ids.ts';
import { BATCH_BYTES, BatchPool } from '../../../src/stream-manager/batch-pool.ts';
import { SendWindow } from '../../../src/stream-manager/credits.ts';
import { EndMarkerSet } from '../../../src/stream-manager/end-marker-set.ts';
import { FlushSchedule } from '../../../src/stream-manager/flush-schedule.ts';
import { Lane } from '../../../src/stream-manager/lane.ts';
import { LocalSource, type SourcePacing } from '../../../src/stream-manager/local-source.ts';
import { Outbox, type SetSink } from '../../../src/stream-manager/outbox.ts';
import type { OutgoingSet } from '../../../src/stream-manager/outgoing-set.ts';
import { ManualClock } from '../../support/manual-clock.ts';
import { aSetOf } from '../../support/pressure-mesh.ts';
import { aTuple, headerOf, openTuple, readTupleSet } from '../../support/tuple-sets.ts';

/** What has left, in words: the tuples' values by set, `end 3` for an end marker of task 3. */
class WordSink implements SetSink {
  readonly sets: string[] = [];
  bytes = 0;

  send(set: OutgoingSet): void {
    const { srcTaskId, endOfInput, data } = readTupleSet(set.bytes.subarray(set.start, set.end));
    const words = data?.tuples.map(({ values }) =>
      Buffer.from(values[0] ?? []).toString('latin1', 1),
    );
    this.sets.push(endOfInput ? `end ${srcTaskId}` : `${srcTaskId}: ${words?.join(' ')}`);
    if (!endOfInput) this.bytes += set.byteLength;
    set.release();
  }
}

class PacingLog implements SourcePacing {
  released = 0;
  isBlocked = false;

  release(bytes: number): void {
    this.released += bytes;
  }

  setBlocked(isBlocked: boolean): void {
    this.isBlocked = isBlocked;
  }
}

function anOutbox({ windowBytes = 1_000_000 } = {}) {
  const clock = new ManualClock();
  const schedule = new FlushSchedule(clock);
  const outbox = new Outbox(taskId(9), new SendWindow(windowBytes), schedule);
  const pool = new BatchPool();
  const aLane = (task: number) => {
    const source = new LocalSource(taskId(task), 400, schedule);
    const pacing = new PacingLog();
    source.connect(pacing);
    const lane = new Lane(source, outbox, pool);
    return { lane, source, pacing };
  };
  return { clock, outbox, aLane, sink: new WordSink() };
}

function put(lane: Lane, text: string, stream = 'default'): void {
  const tuple = openTuple(aTuple(text));
  lane.append(headerOf('word', stream), tuple.bytes, tuple.tupleStart, tuple.tupleEnd, 1);
}

describe('Outbox', () => {
  it('gathers what one turn brings into one set for each source', () => {
    const { clock, outbox, aLane, sink } = anOutbox();
    outbox.connect(sink);
    const [a, b] = [aLane(1), aLane(2)];
    put(a.lane, 'a');
    put(b.lane, 'b');
    put(a.lane, 'aa');
    assert.deepEqual(sink.sets, []);
    clock.runSoon();
    assert.deepEqual(sink.sets, ['1: a aa', '2: b']);
  });

  it('sends a full batch before the turn is over', () => {
    const { outbox, aLane, sink } = anOutbox();
    outbox.connect(sink);
    const { lane } = aLane(1);
    put(lane, 'x'.repeat(BATCH_BYTES));
    assert.equal(sink.sets.length, 1);
  });

  it('gives each stream a set of its own and keeps their order', () => {
    const { clock, outbox, aLane, sink } = anOutbox();
    outbox.connect(sink);
    const { lane } = aLane(1);
    put(lane, 'a');
    put(lane, 'b', 'other');
    put(lane, 'c');
    clock.runSoon();
    assert.deepEqual(sink.sets, ['1: a', '1: b', '1: c']);
  });

  it('keeps everything until there is a way', () => {
    const { clock, outbox, aLane, sink } = anOutbox();
    const { lane, pacing } = aLane(1);
    put(lane, 'a');
    put(lane, 'b', 'other');
    lane.finish();
    outbox.add(new EndMarkerSet(1));
    clock.runSoon();
    assert.ok(pacing.isBlocked);
    outbox.connect(sink);
    clock.runSoon();
    assert.ok(!pacing.isBlocked);
    assert.deepEqual(sink.sets, ['1: a', '1: b', 'end 1']);
  });

  it('sends an end marker behind the data of its source, without credit', () => {
    const { clock, outbox, aLane, sink } = anOutbox({ windowBytes: 1 });
    outbox.connect(sink);
    const { lane } = aLane(1);
    put(lane, 'a');
    clock.runSoon();
    put(lane, 'b');
    lane.finish();
    outbox.add(new EndMarkerSet(1));
    clock.runSoon();
    assert.deepEqual(sink.sets, ['1: a']);
    outbox.refill(1_000);
    assert.deepEqual(sink.sets, ['1: a', '1: b', 'end 1']);
  });

  it('goes on filling a batch that may not leave', () => {
    const { clock, outbox, aLane, sink } = anOutbox({ windowBytes: 1 });
    outbox.connect(sink);
    const { lane } = aLane(1);
    for (const text of ['a', 'b', 'c']) {
      put(lane, text);
      clock.runSoon();
    }
    assert.deepEqual(sink.sets, ['1: a']);
    outbox.refill(sink.bytes);
    assert.deepEqual(sink.sets, ['1: a', '1: b c']);
  });

  it('has no more under way than its window and one set, and loses none of what waits', () => {
    const { clock, outbox, aLane, sink } = anOutbox({ windowBytes: 5_000 });
    outbox.connect(sink);
    const { lane } = aLane(1);
    for (let index = 0; index < 100; index += 1) {
      put(lane, `${index}`.padStart(900, '.'), index % 2 === 0 ? 'even' : 'odd');
      clock.runSoon();
    }
    assert.ok(sink.bytes >= 5_000 && sink.bytes < 6_000, `${sink.bytes} bytes under way`);
    for (let consumed = 0; sink.sets.length < 100; consumed += 1) {
      assert.ok(consumed < 200, 'credit that comes back lets the rest go');
      outbox.refill(1_000);
    }
    const numbers = sink.sets.map((set) => Number(/\d+$/.exec(set)?.[0]));
    assert.deepEqual(
      numbers,
      Array.from({ length: 100 }, (_, index) => index),
    );
  });

  it('starts with a full window when the way is there again, and counts what was under way', () => {
    const { clock, outbox, aLane, sink } = anOutbox({ windowBytes: 1 });
    outbox.connect(sink);
    const { lane } = aLane(1);
    put(lane, 'lost');
    put(lane, 'lost, too');
    clock.runSoon();
    put(lane, 'waits');
    clock.runSoon();
    assert.equal(outbox.disconnect(), 2);
    const next = new WordSink();
    outbox.connect(next);
    assert.deepEqual(next.sets, ['1: waits']);
  });

  it('stops when the way breaks in the middle of sending', () => {
    const { clock, outbox, aLane } = anOutbox();
    const { lane } = aLane(1);
    put(lane, 'a');
    put(lane, 'b', 'other');
    put(lane, 'c');
    clock.runSoon();
    const sent: OutgoingSet[] = [];
    outbox.connect({
      send: (set) => {
        sent.push(set);
        outbox.disconnect();
      },
    });
    assert.equal(sent.length, 1);
    const rest = new WordSink();
    outbox.connect(rest);
    assert.deepEqual(rest.sets, ['1: b', '1: c']);
  });
});

describe('what an outbox tells of itself', () => {
  const bytesOf = (outbox: Outbox) => {
    const { queuedBytes, waitingBytes, acceptedBytes, takenBytes, underWayBytes } = outbox;
    assert.equal(takenBytes + underWayBytes + waitingBytes, acceptedBytes);
    assert.equal(outbox.tuplesOut, Math.ceil((acceptedBytes - takenBytes) / 100));
    return { queuedBytes, waitingBytes, takenBytes };
  };

  it('adds up at every step, and counts markers only as what is queued', () => {
    const { outbox, sink } = anOutbox({ windowBytes: 1_000 });
    for (let index = 0; index < 20; index += 1) outbox.add(aSetOf(100));
    outbox.add(aSetOf(40, 0));
    assert.deepEqual(bytesOf(outbox), { queuedBytes: 2_040, waitingBytes: 2_000, takenBytes: 0 });
    outbox.connect({ send: (set) => set.release() });
    assert.deepEqual(bytesOf(outbox), { queuedBytes: 1_040, waitingBytes: 1_000, takenBytes: 0 });
    outbox.refill(350);
    assert.deepEqual(bytesOf(outbox), { queuedBytes: 640, waitingBytes: 600, takenBytes: 350 });
    outbox.disconnect(); // What was under way is lost: nobody has to wait for it any more.
    assert.deepEqual(bytesOf(outbox), { queuedBytes: 640, waitingBytes: 600, takenBytes: 1_400 });
    outbox.connect({ send: (set) => set.release() });
    assert.deepEqual(bytesOf(outbox), { queuedBytes: 0, waitingBytes: 0, takenBytes: 1_400 });
    outbox.refill(600);
    assert.deepEqual(bytesOf(outbox), { queuedBytes: 0, waitingBytes: 0, takenBytes: 2_000 });
    assert.deepEqual(sink.sets, []);
  });

  it('counts the batches of lanes, too', () => {
    const { clock, outbox, aLane, sink } = anOutbox();
    outbox.connect(sink);
    put(aLane(1).lane, 'a');
    clock.runSoon();
    assert.equal(bytesOf(outbox).takenBytes, 0);
    outbox.refill(sink.bytes);
    assert.equal(bytesOf(outbox).takenBytes, sink.bytes);
  });

  it('is away between the end of a way and the next one, not before the first', () => {
    const { outbox, sink } = anOutbox();
    assert.ok(!outbox.isAway);
    outbox.connect(sink);
    assert.ok(!outbox.isAway);
    outbox.disconnect();
    assert.ok(outbox.isAway);
    outbox.connect(sink);
    assert.ok(!outbox.isAway);
  });
});

describe('an outbox whose task has left the plan', () => {
  it('gives back what waits in it, in batches that are open too, and tells of its trees', () => {
    const { clock, outbox, aLane, sink } = anOutbox({ windowBytes: 1 });
    outbox.connect(sink);
    const { lane, source, pacing } = aLane(1);
    const sent: string[] = [];
    outbox.add({ ...aSetOf(50, 2), onSent: () => void sent.push('sent') });
    const roots = Int32Array.of(1, 2, 3);
    const release = (): void => void sent.push('released');
    outbox.add({ ...aSetOf(70, 3), roots, onSent: () => void sent.push('left'), release });
    source.received(400);
    put(lane, 'open');
    clock.runSoon();
    assert.ok(pacing.isBlocked);
    const lost: (readonly number[])[] = [];
    assert.equal(
      outbox.close((trees) => lost.push([...trees])),
      4,
    );
    clock.runSoon();
    assert.deepEqual(lost, [[1, 2, 3]]);
    assert.deepEqual(sent, ['sent', 'left', 'released']);
    assert.ok(!pacing.isBlocked);
    assert.deepEqual([outbox.queuedBytes, outbox.waitingBytes, outbox.underWayBytes], [0, 0, 0]);
    assert.equal(outbox.takenBytes, outbox.acceptedBytes);
  });

  it('tells nothing of trees of what was sent: that was consumed', () => {
    const { outbox, sink } = anOutbox();
    outbox.connect(sink);
    outbox.add({ ...aSetOf(50, 2), roots: Int32Array.of(1, 2, 3) });
    assert.equal(
      outbox.close(() => assert.fail('a tree')),
      0,
    );
  });
});

describe('LocalSource', () => {
  it('gets its bytes back when nothing of it waits', () => {
    const { clock, outbox, aLane, sink } = anOutbox({ windowBytes: 1 });
    outbox.connect(sink);
    const { lane, source, pacing } = aLane(1);
    for (const text of ['a', 'b']) {
      source.received(200);
      put(lane, text);
      clock.runSoon();
    }
    assert.equal(pacing.released, 200);
    assert.ok(pacing.isBlocked);
    outbox.refill(1_000);
    clock.runSoon();
    assert.equal(pacing.released, 400);
    assert.ok(!pacing.isBlocked);
  });

  it('does not wait for its batches where tuples are dropped, only for what has no plan', () => {
    const clock = new ManualClock();
    const schedule = new FlushSchedule(clock);
    const source = new LocalSource(taskId(1), 400, schedule, { waitsForBatches: false });
    const pacing = new PacingLog();
    source.connect(pacing);
    source.batchOpened();
    source.received(400);
    clock.runSoon();
    assert.deepEqual([pacing.released, pacing.isBlocked], [400, false]);
    source.setHeldBack();
    source.received(400);
    source.batchSent();
    clock.runSoon();
    assert.deepEqual([pacing.released, pacing.isBlocked], [400, true]);
    source.setLetGo();
    clock.runSoon();
    assert.deepEqual([pacing.released, pacing.isBlocked], [800, false]);
  });

  it('gives nothing to an instance that has gone, and a full window to the next', () => {
    const { clock, aLane } = anOutbox();
    const { source, pacing } = aLane(1);
    source.received(400);
    source.disconnect();
    clock.runSoon();
    const next = new PacingLog();
    source.connect(next);
    clock.runSoon();
    assert.equal(pacing.released, 0);
    assert.equal(next.released, 0);
  });
});
