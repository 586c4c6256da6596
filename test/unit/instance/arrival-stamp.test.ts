import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Worker } from 'node:worker_threads';
import { once } from 'node:events';
import { systemClock } from '../../../src/base/clock.ts';
import { STAMP_BYTES, waitedMs, writeArrival } from '../../../src/instance/arrival-stamp.ts';
import { createRingMemory, RingReader, RingWriter } from '../../../src/ring/byte-ring.ts';
import { AtomicsDoorbell } from '../../../src/ring/atomics-doorbell.ts';

function aRing() {
  const memory = createRingMemory(4096);
  return {
    writer: new RingWriter(memory, new AtomicsDoorbell(), new AtomicsDoorbell()),
    reader: new RingReader(memory, new AtomicsDoorbell()),
  };
}

test('a payload with a stamp tells how long it has waited, and one without nothing', () => {
  const { writer, reader } = aRing();
  for (let index = 0; index < 50; index += 1) {
    const hasStamp = index % 3 !== 0;
    const room = writer.reserve((hasStamp ? STAMP_BYTES : 0) + index);
    const at = hasStamp ? writeArrival(writer.bytes, room, 1_000 + index) : room;
    writer.commit(at, at + index);
    assert.ok(reader.next());
    assert.equal(reader.end - reader.start, index);
    const waited = waitedMs(reader.bytes, reader.start, 1_100);
    assert.equal(waited, hasStamp ? 100 - index : undefined);
    reader.release();
  }
});

test('the threads of a process have one clock: what one stamps another may read', async () => {
  const clockFile = new URL('../../../src/base/clock.ts', import.meta.url).href;
  const source = `
    const { parentPort } = require('node:worker_threads');
    import('${clockFile}').then(({ systemClock }) => parentPort.postMessage(systemClock.now()));
  `;
  const before = systemClock.now();
  const [inThread] = await once(new Worker(source, { eval: true }), 'message');
  assert.ok(inThread > before && inThread < systemClock.now(), `${inThread} after ${before}`);
});
