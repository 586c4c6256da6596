import assert from 'node:assert/strict';
import { test } from 'node:test';
import { KeptFrames } from '../../../../src/instance/task/kept-frames.ts';
import {
  closeRingReader,
  createRingMemory,
  RingReader,
  RingWriter,
} from '../../../../src/ring/byte-ring.ts';
import { PromiseDoorbell } from '../../../support/promise-doorbell.ts';
import { settled } from '../../../support/settled.ts';

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
