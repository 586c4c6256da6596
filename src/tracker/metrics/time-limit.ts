import type { Clock } from '../../base/clock.ts';

/** What a promise gives, or undefined when it takes longer: then nobody minds what it does. */
export async function within<Result>(
  clock: Clock,
  limitMs: number,
  promise: Promise<Result>,
): Promise<Result | undefined> {
  const { promise: limit, resolve } = Promise.withResolvers<undefined>();
  const timer = clock.after(limitMs, () => resolve(undefined));
  try {
    return await Promise.race([promise, limit]);
  } finally {
    timer.cancel();
  }
}
