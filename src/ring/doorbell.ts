/*
  What a thread sleeps on when it has nothing to do, and what others ring to wake it. Each thread
  has one, for everything that it waits for: frames to read, room to write. The memory is shared;
  each thread makes its own Doorbell over it.

  How to wait without losing a wake-up:

      const seen = doorbell.sequence();    // first
      if (nothing to do)                   // then look at every ring
        await doorbell.wait(seen);         // returns at once when it rang since `seen` was read

  D1. Whoever rings makes its news visible before it rings. So either the owner's look finds the
      news, or the ring comes after `seen` was read.
  D2. Waking up early is harmless and may happen; the owner looks again.
  D3. Several waits of one owner may be pending at once; a ring ends all of them.
  D4. Waiters loop: a wait that never ends is a thread asleep, one that always ends at once is a
      thread that spins. So the wait of a thread that is gone never ends.
*/

export interface Doorbell {
  /** To be handed to the other threads. */
  readonly memory: SharedArrayBuffer;

  /** Wakes the owner. Any thread; the news must be visible before (D1). */
  ring(): void;

  /** Read before looking for work; see the header. */
  sequence(): number;

  /**
   * Resolves when it rang since `seen` was read. Keeps the event loop alive meanwhile. Owner only.
   */
  wait(seen: number): Promise<void>;

  /**
   * Blocks the thread until it rang since `seen` was read, or `maxMs` are over. Nothing else runs
   * on the thread meanwhile, so keep it short. Owner only; also on Node's main thread.
   */
  waitBlocking(seen: number, maxMs: number): void;
}

/**
 * Makes the doorbell over this memory, or a new one with memory of its own. Memory that has come by
 * message is another object over the same bytes.
 */
export type Doorbells = (memory?: SharedArrayBuffer) => Doorbell;
