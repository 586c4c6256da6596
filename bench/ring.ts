/*
  The ring between two threads: how many frames a second, and how long a wake-up takes.

  Left out: encoding of what is in the frames (each byte is written and read once by a native fill
  and copy), and sockets. On a machine with fewer free cores than two the figures say little.

  Run: node bench/ring.ts
*/
import { once } from 'node:events';
import { isMainThread, Worker, workerData } from 'node:worker_threads';
import { createRingMemory, NO_ROOM, RingReader, RingWriter } from '../src/ring/byte-ring.ts';
import { AtomicsDoorbell } from '../src/ring/atomics-doorbell.ts';

const RING_BYTES = 2 * 1024 * 1024;
const SET_BYTES = 32 * 1024;
const ROUNDS = 5;
const ROUND_TRIPS = 3000;

interface Shared {
  readonly there: SharedArrayBuffer;
  readonly back: SharedArrayBuffer;
  readonly mainBell: SharedArrayBuffer;
  readonly workerBell: SharedArrayBuffer;
}

/** A frame of no bytes is sent back: it asks whether everything before it has been read. */
async function answer(shared: Shared): Promise<void> {
  const bell = new AtomicsDoorbell(shared.workerBell);
  const mainBell = new AtomicsDoorbell(shared.mainBell);
  const reader = new RingReader(shared.there, mainBell);
  const writer = new RingWriter(shared.back, bell, mainBell);
  const scratch = Buffer.alloc(RING_BYTES);
  for (;;) {
    const seen = bell.sequence();
    if (reader.isAtEnd) return;
    if (!reader.next()) {
      await bell.wait(seen);
      continue;
    }
    if (reader.start === reader.end) writer.writeMarker(1);
    else reader.bytes.copy(scratch, 0, reader.start, reader.end);
    reader.release();
  }
}

class Bench {
  readonly #mainBell = new AtomicsDoorbell();
  readonly #writer: RingWriter;
  readonly #reader: RingReader;
  readonly #worker: Worker;

  constructor() {
    const shared: Shared = {
      there: createRingMemory(RING_BYTES),
      back: createRingMemory(RING_BYTES),
      mainBell: this.#mainBell.memory,
      workerBell: new AtomicsDoorbell().memory,
    };
    const workerBell = new AtomicsDoorbell(shared.workerBell);
    this.#writer = new RingWriter(shared.there, this.#mainBell, workerBell);
    this.#reader = new RingReader(shared.back, workerBell);
    this.#worker = new Worker(new URL(import.meta.url), { workerData: shared });
  }

  async roundTrip(): Promise<void> {
    await this.#write(0);
    for (;;) {
      const seen = this.#mainBell.sequence();
      if (this.#reader.next()) break;
      await this.#mainBell.wait(seen);
    }
    this.#reader.release();
  }

  async framesPerSecond(bytes: number, frames: number): Promise<number> {
    const startMs = performance.now();
    for (let count = 0; count < frames; count += 1) {
      if (!this.#tryWrite(bytes)) await this.#write(bytes);
    }
    await this.roundTrip();
    return (frames / (performance.now() - startMs)) * 1000;
  }

  async close(): Promise<void> {
    this.#writer.close();
    await once(this.#worker, 'exit');
  }

  async #write(bytes: number): Promise<void> {
    while (!this.#tryWrite(bytes)) await this.#writer.waitForRoom(bytes);
  }

  #tryWrite(bytes: number): boolean {
    const at = this.#writer.reserve(bytes);
    if (at === NO_ROOM) return false;
    this.#writer.bytes.fill(1, at, at + bytes);
    this.#writer.commit(at, at + bytes);
    return true;
  }
}

function percentile(sorted: readonly number[], share: number): number {
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? Number.NaN;
}

/** Two ways to copy a set out of a chunk of a socket into a ring; a gateway does it for each. */
function copyMicroseconds(copy: (from: Buffer, ring: Buffer, at: number) => void): number {
  const ring = Buffer.from(createRingMemory(RING_BYTES));
  const chunk = Buffer.alloc(64 * 1024, 1);
  const copies = 20_000;
  const startMs = performance.now();
  for (let count = 0; count < copies; count += 1) copy(chunk, ring, (count % 32) * SET_BYTES);
  return ((performance.now() - startMs) * 1000) / copies;
}

async function main(): Promise<void> {
  const bench = new Bench();
  await bench.roundTrip();
  for (const [bytes, frames] of [
    [100, 1_000_000],
    [1024, 500_000],
    [32 * 1024, 50_000],
  ] as const) {
    const rates: number[] = [];
    for (let round = 0; round < ROUNDS; round += 1) {
      rates.push(await bench.framesPerSecond(bytes, frames));
    }
    rates.sort((one, other) => one - other);
    const median = percentile(rates, 0.5);
    const gibibytes = (median * bytes) / 2 ** 30;
    const rate = (median / 1e6).toFixed(3);
    console.log(`${bytes} bytes: ${rate} M frames/s, ${gibibytes.toFixed(2)} GiB/s`);
  }
  const tripsUs: number[] = [];
  for (let trip = 0; trip < ROUND_TRIPS; trip += 1) {
    // Every third time both threads get the chance to fall asleep first.
    if (trip % 3 === 0) await new Promise((resolve) => setImmediate(resolve));
    const startMs = performance.now();
    await bench.roundTrip();
    tripsUs.push((performance.now() - startMs) * 1000);
  }
  tripsUs.sort((one, other) => one - other);
  const [half, most] = [percentile(tripsUs, 0.5), percentile(tripsUs, 0.99)];
  console.log(`wake and answer: p50 ${half.toFixed(0)} us, p99 ${most.toFixed(0)} us`);
  await bench.close();
  const copied = copyMicroseconds((from, ring, at) => from.copy(ring, at, 8, 8 + SET_BYTES));
  const set = copyMicroseconds((from, ring, at) => ring.set(from.subarray(8, 8 + SET_BYTES), at));
  console.log(
    `${SET_BYTES} bytes into a ring: copy ${copied.toFixed(1)} us, set ${set.toFixed(1)} us`,
  );
}

await (isMainThread ? main() : answer(workerData as Shared));
