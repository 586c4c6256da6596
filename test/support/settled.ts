import { systemClock } from '../../src/base/clock.ts';

/** Resolves when every promise that can settle without time or input has settled. */
export function settled(): Promise<void> {
  return new Promise((resolve) => {
    systemClock.soon(resolve);
  });
}
