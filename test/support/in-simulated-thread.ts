import assert from 'node:assert/strict';
import type { Kernel } from '../../src/simulation/kernel/kernel.ts';
import type { SimulatedThread } from '../../src/simulation/kernel/simulated-thread.ts';

const LIMITS = { simulatedMsMax: 3_600_000, eventsMax: 1_000_000 };

/** Runs `body` as an event of the thread, and the world until it has settled; ends as it does. */
export async function inThread<T>(
  kernel: Kernel,
  thread: SimulatedThread,
  body: () => T | Promise<T>,
): Promise<T> {
  let outcome: { readonly value: T } | { readonly error: unknown } | undefined;
  thread.post(0, () => {
    Promise.resolve()
      .then(body)
      .then(
        (value) => {
          outcome = { value };
        },
        (error: unknown) => {
          outcome = { error };
        },
      );
  });
  const end = await kernel.run(() => outcome !== undefined, LIMITS);
  assert.ok(outcome !== undefined, `the world ended before the call did: ${end}`);
  if ('error' in outcome) throw outcome.error;
  return outcome.value;
}

/** Runs all that is going to happen. */
export async function untilIdle(kernel: Kernel): Promise<void> {
  assert.equal(await kernel.run(() => false, LIMITS), 'idle');
}
