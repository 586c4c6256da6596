import type { Clock } from '../../base/clock.ts';
import { targetOf, type Cluster } from '../cluster.ts';
import { LocalLogs } from '../logs/local-logs.ts';
import { componentOf, type LogLine } from '../logs/log-line.ts';
import { LogReader } from '../logs/log-reader.ts';
import { WakeUp } from '../logs/wake-up.ts';
import type { LaunchedTopology } from '../submission.ts';

const LOOK_PERIOD_MS = 500;

/**
 * Hands out what user code prints and throws, and what the engine warns of, until it is closed;
 * then the rest of it.
 */
export function followLogs(
  { place, topology }: Pick<LaunchedTopology, 'place' | 'topology'>,
  cluster: Cluster,
  clock: Clock,
  onLine: (line: LogLine) => void,
): { readonly close: () => Promise<void> } {
  const reader = new LogReader();
  const local = new LocalLogs({ holdsFiles: false });
  const wake = new WakeUp(clock, LOOK_PERIOD_MS);
  const end = new AbortController();
  const look = async (): Promise<void> => {
    const running = await cluster.logs.running(targetOf(place, topology.name));
    const folders = running.length > 0 ? running : await cluster.logs.kept(topology.id);
    wake.watchFolders(folders.map(({ path }) => path));
    const options = { isFinal: end.signal.aborted, nowMs: clock.wallNow() };
    for await (const line of reader.look(await local.list(folders), options)) {
      if (isForAuthor(line)) onLine(line);
    }
  };
  const looking = (async (): Promise<void> => {
    while (!end.signal.aborted) {
      await look();
      await wake.next();
    }
    await look();
    wake[Symbol.dispose]();
  })();
  return {
    close: () => {
      end.abort();
      wake.now();
      return looking;
    },
  };
}

/** What the engine says of its own life in good times would bury what the author prints. */
function isForAuthor({ process, level, fields }: LogLine): boolean {
  if (level === 'error') return true;
  const isPrinted = componentOf(process) !== undefined && Object.keys(fields).length === 0;
  return isPrinted && !process.endsWith('/gateway');
}
