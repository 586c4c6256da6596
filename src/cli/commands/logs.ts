import type { LogLevel } from '../../base/log-file.ts';
import { didYouMean } from '../../model/nearest.ts';
import { quotable } from '../../model/quotable.ts';
import type { LogFolder } from '../../scheduler/create.ts';
import { paths } from '../../state-manager/paths.ts';
import { AdvisedError } from '../advised-error.ts';
import { targetOf } from '../cluster.ts';
import type { CommandContext, CommandResult } from '../command-context.ts';
import { findTopology, type FoundTopology, type TopologyArguments } from '../find-topology.ts';
import { listLogFiles } from '../logs/log-files.ts';
import { componentOf, humanLine, isWanted, jsonLine } from '../logs/log-line.ts';
import { LogReader } from '../logs/log-reader.ts';
import { WakeUp } from '../logs/wake-up.ts';

export interface LogsArguments extends TopologyArguments {
  readonly follow: boolean;
  readonly component?: string | undefined;
  readonly container?: number | undefined;
  readonly level?: LogLevel | undefined;
}

/**
 * Prints the log lines of a topology's containers in the order of time; with `follow` also those
 * that come, until the topology is gone. With --json it prints one value for each line.
 */
export async function logs(given: LogsArguments, context: CommandContext): Promise<CommandResult> {
  const { output, interruption } = context;
  await using found = await findTopology(given, context);
  const { name } = found.status.record;
  await checkComponent(found, given.component);
  const reader = new LogReader();
  const print = async (isFinal: boolean): Promise<void> => {
    const folders = await foldersOf(found, given.container);
    for await (const line of reader.look(folders, { isFinal })) {
      if (interruption.aborted) return;
      if (!isWanted(line, given)) continue;
      output.write(output.isJson ? jsonLine(line) : humanLine(line, output));
    }
  };
  if (!given.follow && (await foldersOf(found, given.container)).length === 0) {
    throw noLogs(found, given.container);
  }
  await print(!given.follow);
  if (given.follow) {
    await follow(found, context, given.container, () => print(false));
    await print(true);
    if (!output.isJson && !interruption.aborted) output.warn(`${name} is gone`);
  }
  return { text: '', json: undefined };
}

/** Of a running topology, or where they were kept when it ended. */
async function foldersOf(
  { cluster, place, status: { record, id } }: FoundTopology,
  container: number | undefined,
): Promise<readonly LogFolder[]> {
  const running = await cluster.logs.running(targetOf(place, record.name));
  const folders = running.length > 0 || id === undefined ? running : await cluster.logs.kept(id);
  return folders.filter((folder) => container === undefined || folder.container === container);
}

/** @throws EngineError INVALID_ARGUMENT when the topology has no such component. */
async function checkComponent(found: FoundTopology, component: string | undefined): Promise<void> {
  if (component === undefined) return;
  const { topology, name } = found.status.record;
  const known = new Set<string>(topology?.components.map((each) => each.name));
  if (topology === undefined) {
    for (const { process } of await listLogFiles(await foldersOf(found, undefined))) {
      const logged = componentOf(process);
      if (logged !== undefined) known.add(logged);
    }
  }
  if (known.has(component) || known.size === 0) return;
  const hint = didYouMean(component, known);
  const text = `${name} has no component '${quotable(component)}'${hint}`;
  throw new AdvisedError('INVALID_ARGUMENT', text, {
    domain: 'user',
    next: `it has ${[...known].toSorted().join(', ')}`,
  });
}

/** Events of the file system make it quick, the periodic look makes it right. */
const LOOK_PERIOD_MS = 500;

async function follow(
  found: FoundTopology,
  { clock, interruption }: CommandContext,
  container: number | undefined,
  look: () => Promise<void>,
): Promise<void> {
  const { record } = found.status;
  if (!record.hasNodes) return;
  const { stateManager } = found.cluster;
  const end = new AbortController();
  using wake = new WakeUp(clock, LOOK_PERIOD_MS);
  const stop = (): void => {
    end.abort();
    wake.now();
  };
  const node = stateManager.watch(paths.topology(record.name), (bytes) => {
    if (bytes === undefined) stop();
  });
  interruption.addEventListener('abort', stop);
  if (interruption.aborted) stop();
  try {
    while (!end.signal.aborted) {
      wake.watchFolders((await foldersOf(found, container)).map(({ path }) => path));
      await wake.next();
      await look();
    }
  } finally {
    interruption.removeEventListener('abort', stop);
    node.close();
  }
}

function noLogs({ status: { record } }: FoundTopology, container: number | undefined) {
  const where = container === undefined ? '' : ` of container ${container}`;
  return new AdvisedError('FILE_FAILED', `there are no logs${where} of ${record.name}`, {
    domain: 'environment',
    next: `'heron status' shows its containers`,
  });
}
