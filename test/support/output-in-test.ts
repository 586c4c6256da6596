import { taskId } from '../../src/base/ids.ts';
import { TupleOutput } from '../../src/instance/task/tuple-output.ts';
import { createRingMemory, RingReader, RingWriter } from '../../src/ring/byte-ring.ts';
import type { AckFold } from '../../src/wire/ack-fold.ts';
import { ManualClock } from './manual-clock.ts';
import { PromiseDoorbell } from './promise-doorbell.ts';
import { setText } from './task-in-test.ts';
import { headerOf } from './tuple-sets.ts';

export const RING_BYTES = 256 * 1024;

/** An output over a real ring; whoever waits for room finds that the test has read it empty. */
export function anOutput({
  ringBytes = RING_BYTES,
  tupleBytesMax = 1024 * 1024,
  canBlock = (): boolean => true,
  acks,
  onWait,
}: {
  readonly ringBytes?: number;
  readonly tupleBytesMax?: number;
  readonly canBlock?: () => boolean;
  readonly acks?: AckFold;
  /** Makes room for who waits for it; the ring is read empty unless this does so. */
  readonly onWait?: () => void;
} = {}) {
  const memory = createRingMemory(ringBytes);
  const bell = new PromiseDoorbell();
  const reader = new RingReader(memory, bell);
  const clock = new ManualClock();
  const frames: string[] = [];
  const sizes: number[] = [];
  const largeSets: Uint8Array[] = [];
  const waits: number[] = [];
  const drain = (framesMax = Number.POSITIVE_INFINITY): void => {
    for (let count = 0; count < framesMax && reader.next(); count += 1) {
      const { kind, bytes, start, end } = reader;
      sizes.push(end - start);
      frames.push(kind === 0 ? setText(bytes.subarray(start, end)) : `marker ${kind}`);
      reader.release();
    }
  };
  const ring = new RingWriter(memory, bell, new PromiseDoorbell());
  const output = new TupleOutput({
    ring,
    task: taskId(3),
    headers: [headerOf('words', 'default'), headerOf('words', 'late')],
    tupleBytesMax,
    roomWait: {
      wait(bytes) {
        waits.push(bytes);
        if (!canBlock()) return false;
        if (onWait === undefined) drain();
        else onWait();
        return true;
      },
    },
    clock,
    sendLargeSet: (bytes) => void largeSets.push(bytes),
    acks,
  });
  output.attended = true;
  return { output, ring, memory, bell, reader, clock, frames, sizes, largeSets, waits, drain };
}
