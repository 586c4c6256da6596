import { delay, systemClock } from '../../src/base/clock.ts';

const PAUSE_MS = 5;

export interface EventuallyOptions {
  /** How long the condition may take; far above what it needs, so that a slow machine passes. */
  readonly timeoutMs?: number;
  /** How long to wait between two looks; longer where a look costs much. */
  readonly pauseMs?: number;
}

/**
 * Waits until `check` neither throws nor gives `false`, and returns what
 * it gave. For real sockets and processes only; whatever has a Clock is tested by a ManualClock.
 *
 * @throws the last error of `check` when the time is over, with the time in its message.
 */
export async function eventually<Result>(
  check: () => Result | Promise<Result>,
  { timeoutMs = 10_000, pauseMs = PAUSE_MS }: EventuallyOptions = {},
): Promise<Exclude<Result, false>> {
  const deadlineMs = systemClock.now() + timeoutMs;
  for (;;) {
    const outcome = await attempt(check);
    if (outcome.held) return outcome.result;
    if (systemClock.now() >= deadlineMs) {
      throw new Error(`not so within ${timeoutMs} ms: ${outcome.why}`, { cause: outcome.cause });
    }
    await delay(systemClock, pauseMs);
  }
}

type Outcome<Result> =
  | { readonly held: true; readonly result: Exclude<Result, false> }
  | { readonly held: false; readonly why: string; readonly cause?: unknown };

async function attempt<Result>(check: () => Result | Promise<Result>): Promise<Outcome<Result>> {
  try {
    const result = await check();
    if (result === false) return { held: false, why: 'the condition is false' };
    return { held: true, result: result as Exclude<Result, false> };
  } catch (cause) {
    return { held: false, why: cause instanceof Error ? cause.message : String(cause), cause };
  }
}
