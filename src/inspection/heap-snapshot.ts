import { closeSync, openSync, renameSync, rmSync, statfsSync, writeSync } from 'node:fs';
import { dirname } from 'node:path';
import { environmentError } from '../base/errors.ts';
import { BYTES_PER_MB } from '../base/units.ts';
import type { InspectionFile } from './requests.ts';
import type { ThreadSession } from './thread-session.ts';

/*
  A heap snapshot, as Chrome reads it, written while it is made: what V8 hands out goes to the disk
  in the same turn.

  N1. The thread that is looked at stands still meanwhile, about a second for 100 MB of heap.
  N2. A snapshot never takes the last of the disk, which logs and dead letters need: one that is not
      expected to fit is refused, and one that is larger than expected is given up.
*/

/** Snapshots of heaps full of small objects are up to twice the heap; measured, and some more. */
const BYTES_PER_HEAP_BYTE = 3;
/** What has to be left on the disk (N2). */
const RESERVE_BYTES = 64 * BYTES_PER_MB;
/** How often to look what is left. */
const LOOK_BYTES = 16 * BYTES_PER_MB;
/** A heap of the largest size that is usual takes a minute; a thread in a native call for ever. */
const SNAPSHOT_MS_MAX = 240_000;

export interface HeapWish {
  /** Absolute; appears whole. */
  readonly file: string;
}

/** @throws EngineError INSPECTION_FAILED when the disk has no room */
export async function writeHeapSnapshot(
  session: ThreadSession,
  { file }: HeapWish,
): Promise<InspectionFile> {
  const folder = dirname(file);
  const { usedSize } = await session.ask('Runtime.getHeapUsage');
  const expected = Number(usedSize) * BYTES_PER_HEAP_BYTE;
  if (roomIn(folder) < expected) throw noRoom(expected, folder);
  const part = `${file}.part`;
  const destination = new SnapshotFile(part);
  try {
    session.on('HeapProfiler.addHeapSnapshotChunk', ({ params }) => {
      destination.add(String(params['chunk']));
    });
    await session.ask('HeapProfiler.enable');
    await session.ask('HeapProfiler.takeHeapSnapshot', {}, SNAPSHOT_MS_MAX);
    const bytes = destination.finish();
    renameSync(part, file);
    return { bytes };
  } catch (error) {
    destination.close();
    rmSync(part, { force: true });
    throw error;
  }
}

class SnapshotFile {
  readonly #file: string;
  #descriptor: number | undefined;
  #bytes = 0;
  #nextLook = LOOK_BYTES;
  #failure: Error | undefined;

  constructor(file: string) {
    this.#file = file;
    this.#descriptor = openSync(file, 'w', 0o600);
  }

  /** V8 cannot be told to stop: after a failure the rest goes nowhere. */
  add(chunk: string): void {
    if (this.#descriptor === undefined) return;
    try {
      const bytes = Buffer.from(chunk);
      for (let at = 0; at < bytes.length; ) at += writeSync(this.#descriptor, bytes, at);
      this.#bytes += bytes.length;
      if (this.#bytes >= this.#nextLook) this.#look();
    } catch (error) {
      this.#failure = error as Error; // Of the file system, or ours.
      this.close();
    }
  }

  /** @throws what kept it from being written */
  finish(): number {
    this.close();
    if (this.#failure !== undefined) throw this.#failure;
    return this.#bytes;
  }

  close(): void {
    if (this.#descriptor !== undefined) closeSync(this.#descriptor);
    this.#descriptor = undefined;
  }

  #look(): void {
    this.#nextLook += LOOK_BYTES;
    const folder = dirname(this.#file);
    if (roomIn(folder) < LOOK_BYTES) throw noRoom(this.#bytes + LOOK_BYTES, folder);
  }
}

/** Bytes that may be written, the reserve left out. */
function roomIn(folder: string): number {
  const { bavail, bsize } = statfsSync(folder);
  return bavail * bsize - RESERVE_BYTES;
}

function noRoom(bytes: number, folder: string): Error {
  const [needed, room] = [bytes, Math.max(0, roomIn(folder))].map((count) =>
    Math.ceil(count / BYTES_PER_MB),
  );
  const text =
    `a heap snapshot may take ${needed} MB, and the disk of ${folder} has ${room} MB to spare: ` +
    'make room there, or remove older inspections';
  return environmentError('INSPECTION_FAILED', text);
}
