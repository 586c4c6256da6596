import { type EngineError, environmentError } from '../../base/errors.ts';
import type { RingWriter } from '../../ring/byte-ring.ts';
import type { TaskStatusWriter } from '../task-status.ts';

/** How `emit` waits for room in a full ring (ruling R5). The simulator has one of its own. */
export interface RoomWait {
  /**
   * Returns true when there may be room for `bytes`: callers try again. Returns false, at once,
   * where the thread cannot be blocked: callers keep what they have and go on.
   *
   * @throws EngineError CONNECTION_CLOSED when the gateway is gone: nothing will ever drain.
   */
  wait(bytes: number): boolean;
}

/**
 * How long the thread sleeps at most before it looks whether the gateway still lives. Room wakes it
 * at once; a thread that never returned would be taken for a hanging one.
 */
const WAIT_MS_MAX = 50;

/** Blocks the task's thread: `emit` is synchronous, and the gateway drains the ring meanwhile. */
export class BlockingRoomWait implements RoomWait {
  readonly #ring: RingWriter;
  readonly #status: TaskStatusWriter;

  constructor(ring: RingWriter, status: TaskStatusWriter) {
    this.#ring = ring;
    this.#status = status;
  }

  wait(bytes: number): true {
    const before = this.#status.awaitRoom();
    try {
      while (!this.#ring.waitForRoomBlocking(bytes, WAIT_MS_MAX)) {
        if (this.#ring.isReaderClosed) throw nothingIsSent();
      }
      return true;
    } finally {
      this.#status.restore(before);
    }
  }
}

/** Nobody will take anything out of the ring any more. */
export function nothingIsSent(): EngineError {
  return environmentError('CONNECTION_CLOSED', 'the instance is stopping: nothing is sent');
}
