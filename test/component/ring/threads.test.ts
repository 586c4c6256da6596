/*
  The ring between real threads. What is proved here and cannot be proved in one thread: frames
  arrive whole and in order while both sides run, no wake-up is lost, and a dead thread is noticed.
*/
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { test, type TestContext } from 'node:test';
import { fileURLToPath } from 'node:url';
import { Worker } from 'node:worker_threads';
import { createSeededRandom } from '../../../src/base/random.ts';
import {
  closeRingReader,
  closeRingWriter,
  createRingMemory,
  RingReader,
  RingWriter,
} from '../../../src/ring/byte-ring.ts';
import { AtomicsDoorbell } from '../../../src/ring/atomics-doorbell.ts';
import { checkFrame, writeFrame } from './numbered-frames.ts';
import type { WorkerJob } from './ring-worker.ts';

/** A lost wake-up shows as a test that hangs. */
const TEST_MS_MAX = 120_000;
const NEVER = -1;

interface Setup {
  readonly kind: WorkerJob['kind'];
  readonly frames?: number;
  readonly bytesMax?: number;
  readonly dieAfter?: number;
  readonly ringBytes?: number;
}

function startWorker(t: TestContext, setup: Setup) {
  const { kind, frames = 0, bytesMax = 200, dieAfter = NEVER, ringBytes = 64 * 1024 } = setup;
  const toWorker = createRingMemory(ringBytes);
  const fromWorker = createRingMemory(ringBytes);
  const mainBell = new AtomicsDoorbell();
  const workerBell = new AtomicsDoorbell();
  const workerData: WorkerJob = {
    kind,
    inbound: toWorker,
    outbound: fromWorker,
    mainBell: mainBell.memory,
    ownBell: workerBell.memory,
    frames,
    bytesMax,
    dieAfter,
  };
  const worker = new Worker(new URL('./ring-worker.ts', import.meta.url), { workerData });
  const exited = once(worker, 'exit').then(([code]) => code as number);
  t.after(() => worker.terminate());
  const writer = new RingWriter(toWorker, mainBell, workerBell);
  const reader = new RingReader(fromWorker, workerBell);
  return { exited, writer, reader, toWorker, fromWorker, mainBell, workerBell, bytesMax };
}

type Started = ReturnType<typeof startWorker>;

async function writeFrames({ writer, bytesMax }: Started, from: number, to: number): Promise<void> {
  for (let number = from; number < to; number += 1) {
    while (!writeFrame(writer, number, bytesMax)) {
      assert.equal(await writer.waitForRoom(bytesMax), true);
    }
  }
}

/** Reads and checks frames until number `to`, or the end; returns the number after the last one. */
async function readFrames(started: Started, from: number, to: number): Promise<number> {
  const { reader, mainBell, bytesMax } = started;
  for (let expected = from; expected < to; expected += 1) {
    for (;;) {
      const seen = mainBell.sequence();
      if (reader.isAtEnd) return expected;
      if (reader.next()) break;
      await mainBell.wait(seen);
    }
    assert.equal(checkFrame(reader, bytesMax), expected);
    reader.release();
  }
  return to;
}

test('a million frames each way, of any size', { timeout: TEST_MS_MAX }, async (t) => {
  const frames = 1_000_000;
  const started = startWorker(t, { kind: 'echo' });
  const [, read] = await Promise.all([
    writeFrames(started, 0, frames).then(() => started.writer.close()),
    readFrames(started, 0, frames + 1),
  ]);
  assert.equal(read, frames);
  assert.equal(await started.exited, 0);
});

test('no wake-up is lost between idle and busy', { timeout: TEST_MS_MAX }, async (t) => {
  const random = createSeededRandom(17);
  const started = startWorker(t, { kind: 'echo', ringBytes: 4096, bytesMax: 500 });
  let number = 0;
  for (let round = 0; round < 5000; round += 1) {
    const next = number + 1 + random.below(round % 10 === 0 ? 50 : 2);
    await Promise.all([writeFrames(started, number, next), readFrames(started, number, next)]);
    number = next;
    // From no pause at all to one that surely lets the other thread fall asleep.
    for (let pauses = random.below(4); pauses > 0; pauses -= 1) {
      await new Promise((resolve) => setImmediate(resolve));
    }
  }
});

test('a writer that blocks the main thread goes on with each release', {
  timeout: TEST_MS_MAX,
}, async (t) => {
  const frames = 20_000;
  const { writer, bytesMax, exited } = startWorker(t, { kind: 'check', frames, ringBytes: 4096 });
  let waits = 0;
  for (let number = 0; number < frames; number += 1) {
    while (!writeFrame(writer, number, bytesMax)) {
      writer.waitForRoomBlocking(bytesMax, 1000);
      waits += 1;
    }
  }
  assert.equal(await exited, 0);
  assert.ok(waits > 100, `the ring was full only ${waits} times`);
});

test('a reader that died is noticed by a writer that waits', {
  timeout: TEST_MS_MAX,
}, async (t) => {
  const started = startWorker(t, { kind: 'check', frames: 1000, dieAfter: 100, ringBytes: 4096 });
  const { writer, exited, toWorker, mainBell, bytesMax } = started;
  void exited.then(() => closeRingReader(toWorker, mainBell));
  for (let number = 0; ; number += 1) {
    assert.ok(number < 1000, 'nothing was noticed');
    if (writeFrame(writer, number, bytesMax)) continue;
    if (!(await writer.waitForRoom(bytesMax))) break;
    number -= 1;
  }
  assert.equal(writer.isReaderClosed, true);
  assert.equal(await exited, 3);
});

test('a writer that died leaves its whole frames, then the end', {
  timeout: TEST_MS_MAX,
}, async (t) => {
  const started = startWorker(t, { kind: 'write', frames: 1000, dieAfter: 432 });
  void started.exited.then(() => closeRingWriter(started.fromWorker, started.mainBell));
  assert.equal(await readFrames(started, 0, 1000), 433);
});

test('a writer that is done ends the reader', { timeout: TEST_MS_MAX }, async (t) => {
  const started = startWorker(t, { kind: 'write', frames: 5000, ringBytes: 4096 });
  assert.equal(await readFrames(started, 0, 10_000), 5000);
  assert.equal(await started.exited, 0);
});

test('waiting keeps a process alive, and only waiting does', () => {
  const file = fileURLToPath(new URL('./waiting-process.ts', import.meta.url));
  const child = spawnSync(process.execPath, [file], { encoding: 'utf8', timeout: TEST_MS_MAX });
  assert.equal(child.stdout, 'woken\n', child.stderr);
  assert.equal(child.status, 0);
});
