import type { Clock } from '../base/clock.ts';
import type { StateManager } from '../state-manager/state-manager.ts';

export interface WatchedNode {
  readonly stateManager: StateManager;
  readonly clock: Clock;
  readonly path: string;
  readonly limitMs: number;
}

/** Waits until a node is as wanted; false when that takes too long. */
export function watchUntil(
  { stateManager, clock, path, limitMs }: WatchedNode,
  isWanted: (bytes: Uint8Array | undefined) => boolean,
): Promise<boolean> {
  return new Promise((resolve, reject) => {
    const settle = (end: () => void): void => {
      limit.cancel();
      // The first call of a watch may come before `watch` has returned.
      clock.soon(() => watch.close());
      end();
    };
    const limit = clock.after(Math.max(0, limitMs), () => settle(() => resolve(false)));
    const watch = stateManager.watch(path, (bytes) => {
      try {
        if (isWanted(bytes)) settle(() => resolve(true));
      } catch (error) {
        settle(() => reject(error instanceof Error ? error : new Error(String(error))));
      }
    });
  });
}
