import { join } from 'node:path';
import type { Clock, Timer } from '../base/clock.ts';
import { messageOf } from '../base/errors.ts';
import type { Files } from '../base/files.ts';
import type { Logger } from '../base/logger.ts';
import { systemCodeOf } from '../base/system-codes.ts';

/*
  The beat of a process that its supervisor may not have started (base/beat.ts): an empty file in
  the process's folder, whose date changes. The supervisor makes it, since there may be no room for
  it later; to date it needs none. Dates are compared for being different only, so the wall clock
  may be any.
*/

const NAME = 'executor.beat';

/** Rarer than beats through a pipe: each makes the disk write something, sooner or later. */
const PERIOD_MAX_MS = 5_000;
const BEATS_PER_LIMIT = 4;

export interface BeatFileOptions {
  readonly files: Files;
  readonly clock: Clock;
  readonly logger: Logger;
  /** The folder of the process that beats. */
  readonly folder: string;
}

/** Makes the file where it is missing; what prevents that shows when it is read. */
export function makeBeatFile({ files, folder, logger }: Omit<BeatFileOptions, 'clock'>): void {
  try {
    files.writeNow(beatFile(folder), new Uint8Array());
  } catch (error) {
    logger.warn('there is no file to beat with', { folder, reason: messageOf(error) });
  }
}

/** The date of the last beat; undefined when there is no file, or nobody can tell. */
export async function lastBeatMs(files: Files, folder: string): Promise<number | undefined> {
  try {
    return (await files.facts(beatFile(folder))).modifiedAtMs;
  } catch {
    return undefined; // Whoever asks has nothing to judge by, whatever the reason.
  }
}

/**
 * Beats from now on, often enough for somebody who acts after `silenceMs` without a beat. A beat
 * that fails is passed over, and said once; while one hangs there is no other.
 */
export function startFileBeat(options: BeatFileOptions, silenceMs: number): Timer {
  const { files, clock, folder, logger } = options;
  let isUnderWay = false;
  let hasFailed = false;
  const beat = async (): Promise<void> => {
    if (isUnderWay) return;
    isUnderWay = true;
    try {
      await files.date(beatFile(folder), clock.wallNow());
      hasFailed = false;
    } catch (error) {
      if (!hasFailed) logger.warn('cannot beat', { folder, reason: messageOf(error) });
      hasFailed = true;
      if (systemCodeOf(error) === 'ENOENT') makeBeatFile(options);
    }
    isUnderWay = false;
  };
  void beat();
  const periodMs = Math.min(PERIOD_MAX_MS, Math.floor(silenceMs / BEATS_PER_LIMIT));
  return clock.every(periodMs, () => void beat());
}

function beatFile(folder: string): string {
  return join(folder, NAME);
}
