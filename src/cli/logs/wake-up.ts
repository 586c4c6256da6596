import { type FSWatcher, watch } from 'node:fs';
import type { Clock } from '../../base/clock.ts';

/** Resolves `next` when something may have changed, and at the latest after a period. */
export class WakeUp implements Disposable {
  readonly #clock: Clock;
  readonly #periodMs: number;
  readonly #watchers = new Map<string, FSWatcher>();
  #wake: (() => void) | undefined;
  #isDue = false;

  constructor(clock: Clock, periodMs: number) {
    this.#clock = clock;
    this.#periodMs = periodMs;
  }

  now(): void {
    this.#isDue = true;
    this.#wake?.();
  }

  watchFolders(folders: readonly string[]): void {
    for (const folder of folders) {
      if (this.#watchers.has(folder)) continue;
      try {
        const watcher = watch(folder, () => this.now());
        watcher.on('error', () => watcher.close()); // Moved away; the periodic look goes on.
        this.#watchers.set(folder, watcher);
      } catch {
        // Gone already, or no watches are left: the periodic look does it.
      }
    }
  }

  async next(): Promise<void> {
    if (!this.#isDue) {
      await new Promise<void>((resolve) => {
        const limit = this.#clock.after(this.#periodMs, resolve);
        this.#wake = () => {
          limit.cancel();
          resolve();
        };
      });
    }
    this.#wake = undefined;
    this.#isDue = false;
  }

  [Symbol.dispose](): void {
    for (const watcher of this.#watchers.values()) watcher.close();
  }
}
