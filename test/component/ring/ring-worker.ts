/* The other thread of the ring's tests. What it does is said by `workerData`. */
import { workerData } from 'node:worker_threads';
import { NO_ROOM, RingReader, RingWriter } from '../../../src/ring/byte-ring.ts';
import { AtomicsDoorbell } from '../../../src/ring/atomics-doorbell.ts';
import { checkFrame, writeFrame } from './numbered-frames.ts';

export interface WorkerJob {
  readonly kind: 'echo' | 'check' | 'write' | 'ring';
  readonly inbound: SharedArrayBuffer;
  readonly outbound: SharedArrayBuffer;
  /** The doorbell of the main thread, and that of this one. */
  readonly mainBell: SharedArrayBuffer;
  readonly ownBell: SharedArrayBuffer;
  readonly frames: number;
  readonly bytesMax: number;
  /** End the thread abruptly after so many frames. */
  readonly dieAfter: number;
}

const job = workerData as WorkerJob;
const mainBell = new AtomicsDoorbell(job.mainBell);
const ownBell = new AtomicsDoorbell(job.ownBell);
const reader = new RingReader(job.inbound, mainBell);
const writer = new RingWriter(job.outbound, ownBell, mainBell);

/** Sends every frame back as it came. */
async function echo(): Promise<void> {
  for (;;) {
    const seen = ownBell.sequence();
    if (reader.isAtEnd) break;
    if (!reader.next()) {
      await ownBell.wait(seen);
      continue;
    }
    const bytes = reader.end - reader.start;
    let at = writer.reserve(bytes);
    while (at === NO_ROOM) {
      await writer.waitForRoom(bytes);
      at = writer.reserve(bytes);
    }
    reader.bytes.copy(writer.bytes, at, reader.start, reader.end);
    writer.commit(at, at + bytes);
    reader.release();
  }
  writer.close();
}

/** Reads and checks, slowly now and then, so that the ring is full most of the time. */
function check(): void {
  for (let expected = 0; expected < job.frames; expected += 1) {
    for (let seen = ownBell.sequence(); !reader.next(); seen = ownBell.sequence()) {
      ownBell.waitBlocking(seen, 10_000);
    }
    if (checkFrame(reader, job.bytesMax) !== expected) throw new Error('out of order');
    if (expected % 1000 === 999) ownBell.waitBlocking(ownBell.sequence(), 1);
    if (expected === job.dieAfter) process.exit(3);
    reader.release();
  }
  reader.close();
}

function write(): void {
  for (let number = 0; number < job.frames; number += 1) {
    while (!writeFrame(writer, number, job.bytesMax)) writer.waitForRoomBlocking(job.bytesMax, 100);
    if (number === job.dieAfter) process.exit(3);
  }
  writer.close();
}

switch (job.kind) {
  case 'echo':
    await echo();
    break;
  case 'check':
    check();
    break;
  case 'write':
    write();
    break;
  case 'ring':
    ownBell.waitBlocking(ownBell.sequence(), 200);
    mainBell.ring();
    break;
}
