import { delay } from '../../base/clock.ts';
import { paths } from '../../state-manager/paths.ts';
import type { CommandContext } from '../command-context.ts';
import type { FoundTopology } from '../find-topology.ts';
import type { AllLogs } from './all-logs.ts';
import { WakeUp } from './wake-up.ts';

/** Events of the file system make it quick, the periodic look makes it right. */
const LOOK_PERIOD_MS = 500;
/** Other machines tell of nothing: they are asked as often as a person would notice. */
const SPREAD_PERIOD_MS = 300;
/** Between two looks, however much is written: each costs a list of all files. */
const PAUSE_MS = 50;

export interface FollowOptions {
  /** It ends then; undefined: only with the topology. By the wall clock. */
  readonly untilMs: number | undefined;
  readonly look: () => Promise<void>;
}

/** Looks again and again, until the topology is gone or nobody wants more. */
export async function followLooks(
  all: AllLogs,
  { cluster: { stateManager }, status: { record } }: FoundTopology,
  { clock, interruption }: Pick<CommandContext, 'clock' | 'interruption'>,
  { untilMs, look }: FollowOptions,
): Promise<void> {
  if (!record.hasNodes) return;
  const end = new AbortController();
  using wake = new WakeUp(clock, all.isSpread ? SPREAD_PERIOD_MS : LOOK_PERIOD_MS);
  const stop = (): void => {
    end.abort();
    wake.now();
  };
  const limitMs = untilMs === undefined ? undefined : Math.max(0, untilMs - clock.wallNow());
  const limit = limitMs === undefined ? undefined : clock.after(limitMs, stop);
  const node = stateManager.watch(paths.topology(record.name), (bytes) => {
    if (bytes === undefined) stop();
  });
  interruption.addEventListener('abort', stop);
  if (interruption.aborted) stop();
  try {
    while (!end.signal.aborted) {
      // What comes from elsewhere has to be there when the order of time is told.
      if (!all.isSpread) wake.watchFolders(all.folders);
      await wake.next();
      await look();
      await delay(clock, PAUSE_MS);
    }
  } finally {
    limit?.cancel();
    interruption.removeEventListener('abort', stop);
    node.close();
  }
}
