import { Backoff } from '../base/backoff.ts';
import { delay } from '../base/clock.ts';
import { messageOf, userError } from '../base/errors.ts';
import type { ReplayableSource } from './replayable-source.ts';
import type { StreamDeclarations } from './streams.ts';
import type { TopologyContext } from './topology-context.ts';

/** A store that is just starting is the usual reason, so the first pause is short. */
const PAUSE_MIN_MS = 100;
const PAUSE_MAX_MS = 10_000;
/** With the pauses about half a minute; the process that is started then asks again. */
const ATTEMPTS_MAX = 10;

/**
 * The position that a source has been committed to (row S17): an answer that cannot be had is never
 * taken for "none".
 *
 * @throws EngineError COMPONENT_FAILED when the attempts are used up.
 */
export async function committedPosition(
  source: Pick<ReplayableSource<StreamDeclarations, unknown>, 'committed'>,
  { clock, random, log }: Pick<TopologyContext, 'clock' | 'random' | 'log'>,
): Promise<unknown> {
  const backoff = new Backoff(random, PAUSE_MIN_MS, PAUSE_MAX_MS);
  for (let attempts = 1; ; attempts += 1) {
    try {
      return await source.committed();
    } catch (cause) {
      const failed = `the source does not say where it was committed to: ${messageOf(cause)}`;
      if (attempts === ATTEMPTS_MAX) throw userError('COMPONENT_FAILED', failed, cause);
      const pauseMs = backoff.next();
      log.warn(`${failed}; asking again`, { pauseMs });
      await delay(clock, pauseMs);
    }
  }
}
