import type { Clock } from '../base/clock.ts';
import type { StateManager } from '../state-manager/state-manager.ts';

export interface WatchedNode {
  readonly stateManager: StateManager;
  readonly clock: Clock;
  readonly path: string;
  readonly limitMs: number;
  /** Another node, which tells that the wait is in vain. */
  readonly unless?: {
    readonly path: string;
    /** Throws what ends the wait. */
    readonly check: (bytes: Uint8Array | undefined) => void;
  };
}

/** Waits until a node is as wanted; false when that takes too long. */
export function watchUntil(
  { stateManager, clock, path, limitMs, unless }: WatchedNode,
  isWanted: (bytes: Uint8Array | undefined) => boolean,
): Promise<boolean> {
  return new Promise((resolve, reject) => {
    let isOver = false;
    const settle = (end: () => void): void => {
      isOver = true;
      limit.cancel();
      // The first call of a watch may come before `watch` has returned.
      clock.soon(() => {
        for (const watch of watches) watch.close();
      });
      end();
    };
    const limit = clock.after(Math.max(0, limitMs), () => settle(() => resolve(false)));
    const follow = (followed: string, look: (bytes: Uint8Array | undefined) => void) =>
      stateManager.watch(followed, (bytes) => {
        if (isOver) return;
        try {
          look(bytes);
        } catch (error) {
          settle(() => reject(error instanceof Error ? error : new Error(String(error))));
        }
      });
    const watches = [
      follow(path, (bytes) => {
        if (isWanted(bytes)) settle(() => resolve(true));
      }),
      ...(unless === undefined ? [] : [follow(unless.path, unless.check)]),
    ];
  });
}
