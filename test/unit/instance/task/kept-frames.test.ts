import assert from 'node:assert/strict';
import { describe, it, test } from 'node:test';
import fc from 'fast-check';
import { LARGE_SET_MARKER } from '../../../../src/instance/ring-markers.ts';
import { KeptFrames } from '../../../../src/instance/task/kept-frames.ts';
import {
  closeRingReader,
  createRingMemory,
  RingReader,
  RingWriter,
} from '../../../../src/ring/byte-ring.ts';
import { anOutput, RING_BYTES } from '../../../support/output-in-test.ts';
import { PromiseDoorbell } from '../../../support/promise-doorbell.ts';
import { settled } from '../../../support/settled.ts';
import { setText } from '../../../support/task-in-test.ts';

/** Two frames of this size fill the ring. */
const HALF_BYTES = 2048 - 16;

function aKeeper() {
  const memory = createRingMemory(4096);
  const bell = new PromiseDoorbell();
  const ring = new RingWriter(memory, bell, new PromiseDoorbell());
  const reader = new RingReader(memory, bell);
  /** Reads one frame: the letter that a set is full of, or the kind of a marker. */
  const take = (): string | undefined => {
    if (!reader.next()) return undefined;
    const { kind, bytes, start } = reader;
    const text = kind === 0 ? String.fromCharCode(bytes[start] ?? 0) : `marker ${kind}`;
    reader.release();
    return text;
  };
  return { kept: new KeptFrames(ring), memory, bell, take };
}

function setOf(letter: string): Buffer {
  return Buffer.alloc(HALF_BYTES, letter);
}

test('what there is room for is not kept', async () => {
  const { kept, take } = aKeeper();
  kept.addSet(setOf('a'));
  kept.addMarker(2);
  assert.equal(kept.isEmpty, true);
  assert.equal(await kept.moved(), true);
  assert.deepEqual([take(), take()], ['a', 'marker 2']);
});

test('F2: frames move by themselves, in their order, as room comes', async () => {
  const { kept, take } = aKeeper();
  for (const letter of 'abc') kept.addSet(setOf(letter));
  kept.addMarker(1);
  kept.addSet(setOf('d'));
  assert.equal(kept.bytes, 2 * HALF_BYTES);
  assert.equal(kept.firstBytes, HALF_BYTES);
  assert.equal(take(), 'a');
  await settled();
  assert.equal(kept.bytes, HALF_BYTES, 'one set has moved, the marker waits behind it');
  const seen: (string | undefined)[] = [];
  for (let count = 0; count < 4; count += 1) {
    seen.push(take());
    await settled();
  }
  assert.deepEqual(seen, ['b', 'c', 'marker 1', 'd']);
  assert.equal(await kept.moved(), true);
});

test('F1: a frame that would fit does not pass those that are kept', async () => {
  const { kept, take } = aKeeper();
  for (const letter of 'abc') kept.addSet(setOf(letter));
  take();
  kept.addMarker(1);
  assert.equal(kept.move(), false, 'the marker stands behind a set that fills the ring');
  assert.equal(take(), 'b');
  assert.equal(kept.move(), true);
  assert.deepEqual([take(), take()], ['c', 'marker 1']);
  // What moves them has found nothing to do by then: it begins anew.
  await settled();
  for (const letter of 'def') kept.addSet(setOf(letter));
  take();
  await settled();
  assert.equal(kept.isEmpty, true);
});

test('a set is copied when it is kept: its memory is used again', async () => {
  const { kept, take } = aKeeper();
  const spare = setOf('a');
  for (const letter of 'abc') kept.addSet(spare.fill(letter));
  spare.fill('x');
  assert.deepEqual([take(), take()], ['a', 'b']);
  await settled();
  assert.equal(take(), 'c');
});

test('nobody waits for ever for a reader that is gone', async () => {
  const { kept, memory, bell } = aKeeper();
  for (const letter of 'abc') kept.addSet(setOf(letter));
  const moved = kept.moved();
  closeRingReader(memory, bell);
  assert.equal(await moved, false);
  assert.equal(await kept.moved(), false);
});

describe('O5: what a task emits on a thread that cannot wait', () => {
  const canBlock = (): boolean => false;

  it('is kept when it finds no room; and there is no room until all of it has moved', async () => {
    const { output, drain, frames } = anOutput({ canBlock });
    const texts = Array.from({ length: 40 }, (_, index) => `${index}`.repeat(10_000));
    for (const text of texts) output.emit(0, [text]);
    assert.ok(output.keptBytes > RING_BYTES / 2);
    const room = output.waitForRoom();
    for (let kept = output.keptBytes; kept > 0; kept = output.keptBytes) {
      assert.equal(output.hasRoom, false);
      drain();
      assert.equal(output.hasRoom, false, 'there is room in the ring, for what is kept');
      await settled();
      assert.ok(output.keptBytes < kept, 'it moves by itself');
    }
    drain();
    assert.equal(await room, true);
    assert.equal(output.hasRoom, true);
    assert.deepEqual(frames.join(' ').replaceAll('default: ', '').split(' '), texts);
  });

  it('has no room while a set is open outside of the ring, although the ring is empty', () => {
    const { output, drain, frames, waits } = anOutput({ canBlock });
    while (waits.length === 0) output.emit(0, ['x'.repeat(1_000)]);
    drain();
    frames.length = 0;
    assert.equal(output.keptBytes, 0);
    assert.equal(output.hasRoom, false);
    output.flush();
    assert.equal(output.hasRoom, true);
    drain();
    assert.deepEqual(frames, [`default: ${'x'.repeat(1_000)}`]);
  });

  it('has room again after a set that was begun outside of the ring and given up', async () => {
    const { output, drain, frames } = anOutput({ canBlock });
    while (output.keptBytes === 0) output.emit(0, ['y'.repeat(100_000)]);
    output.emit(0, ['z'.repeat(100_000)]);
    while (output.keptBytes > 0) {
      drain();
      await settled();
    }
    drain();
    assert.equal(output.hasRoom, true);
    output.emit(0, ['a']);
    output.flush();
    drain();
    assert.deepEqual(
      frames.slice(-2).map((frame) => frame.slice(0, 10)),
      ['default: z', 'default: a'],
    );
  });

  it('goes first when the thread can wait after all', () => {
    const rights = { canBlock: false };
    const { output, waits, frames } = anOutput({ canBlock: () => rights.canBlock });
    while (output.keptBytes === 0) output.emit(0, ['y'.repeat(100_000)]);
    rights.canBlock = true;
    const kept = output.keptBytes;
    output.emit(1, ['a']);
    assert.equal(waits.at(-1), kept, 'waits for room for the oldest');
    output.end();
    assert.equal(output.keptBytes, 0);
    assert.ok(frames.every((frame) => frame.startsWith('default: y')));
  });

  it('keeps its place among large sets and the end', async () => {
    const { output, drain, frames, largeSets } = anOutput({ canBlock });
    const large = 'x'.repeat(200_000);
    while (output.keptBytes === 0) output.emit(0, ['y'.repeat(100_000)]);
    output.emit(0, ['a']);
    output.emit(0, [large]);
    output.emit(1, ['b']);
    output.emit(1, ['z'.repeat(100_000)]);
    output.end();
    for (let turn = 0; turn < 5; turn += 1) {
      drain();
      await settled();
    }
    assert.equal(await output.written(), true);
    const order = frames.map((frame) => frame.slice(0, 10)).slice(-6);
    assert.deepEqual(order, [
      'default: y',
      'default: a',
      `marker ${LARGE_SET_MARKER}`,
      'late: b',
      'late: zzzz',
      'marker 2',
    ]);
    assert.deepEqual(largeSets.map(setText), [`default: ${large}`]);
  });

  it('is lost when nobody will make room any more', async () => {
    const { output, memory, bell } = anOutput({ canBlock });
    while (output.keptBytes === 0) output.emit(0, ['y'.repeat(100_000)]);
    const [written, room] = [output.written(), output.waitForRoom()];
    closeRingReader(memory, bell);
    assert.deepEqual(await Promise.all([written, room]), [false, false]);
  });
});

/** A reader that lags behind, and a thread that can be blocked now and then. */
type Step =
  | { readonly kind: 'emit'; readonly stream: number; readonly length: number }
  | { readonly kind: 'flush' | 'turn' | 'wait' }
  | { readonly kind: 'read'; readonly frames: number };

const step: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 8,
    arbitrary: fc.record({
      kind: fc.constant('emit' as const),
      stream: fc.nat(1),
      length: fc.oneof(fc.nat(100), fc.nat(30_000), fc.nat(60_000)),
    }),
  },
  { weight: 3, arbitrary: fc.record({ kind: fc.constantFrom('flush', 'turn', 'wait') }) },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('read' as const), frames: fc.nat(9) }) },
);

/** All that comes out of the ring, and what went by message. */
async function outcomeOf(steps: readonly Step[], canBlock: () => boolean) {
  const { output, reader, drain, frames, largeSets } = anOutput({
    ringBytes: 64 * 1024,
    tupleBytesMax: 50_000,
    canBlock,
  });
  const refused: number[] = [];
  for (const [index, { kind, ...rest }] of steps.entries()) {
    // What is kept stays below what has been emitted since the last look at the room.
    if (output.hasRoom) assert.equal(output.keptBytes, 0);
    if ('length' in rest) {
      try {
        output.emit(rest.stream, [`${index}`.padEnd(rest.length, 'x')]);
      } catch {
        refused.push(index);
      }
    } else if (kind === 'flush') output.flush();
    else if (kind === 'wait') void output.waitForRoom();
    else if ('frames' in rest) drain(rest.frames);
    await settled();
  }
  output.end();
  do {
    drain();
    await settled();
  } while (output.keptBytes > 0 || reader.hasNext());
  assert.equal(await output.written(), true);
  return { frames, largeSets: largeSets.map(setText), refused };
}

test('O5: the frames are those of a thread that waits, whatever happens when', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(step, { maxLength: 60 }),
      fc.infiniteStream(fc.boolean()),
      async (steps, answers) => {
        const waiting = await outcomeOf(steps, () => true);
        const neverWaiting = await outcomeOf(steps, () => false);
        const sometimesWaiting = await outcomeOf(steps, () => answers.next().value === true);
        assert.deepEqual(neverWaiting, waiting);
        assert.deepEqual(sometimesWaiting, waiting);
      },
    ),
    { numRuns: 200 },
  );
});
