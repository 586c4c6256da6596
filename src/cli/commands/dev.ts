import { once } from 'node:events';
import { basename, extname, resolve } from 'node:path';
import type { TopologyName } from '../../base/ids.ts';
import { systemFiles } from '../../base/system-files.ts';
import type { ConfigMap } from '../../model/logical-topology.ts';
import { Interrupted } from '../advised-error.ts';
import { awaitStart } from '../await-start.ts';
import type { Cluster } from '../cluster.ts';
import type { CommandContext, CommandResult } from '../command-context.ts';
import { readComponentMetrics } from '../dev/component-metrics.ts';
import { openDependentCluster } from '../dev/dependent-cluster.ts';
import { followLogs } from '../dev/follow-logs.ts';
import { LiveTable } from '../dev/live-table.ts';
import { SourceWatch } from '../dev/source-watch.ts';
import { errorReportOf } from '../error-report.ts';
import { followRun } from '../follow-run.ts';
import { humanLine } from '../logs/log-line.ts';
import { findMaster } from '../../topology-client/master-client.ts';
import { completePlace, type Place } from '../place.ts';
import { clearAway, type LaunchedTopology, launchTopology } from '../submission.ts';
import { parseTopologyName } from '../topology-record.ts';
import { openWorkFolder } from '../work-folder.ts';

/*
  `heron dev`: one topology in the foreground, started anew at each change of its sources, with its
  output and a table of its components. It lives in a cluster of its own in a folder of its own, so
  it meets no other topology, and nothing is left of it.

  V1. A round begins when the one before it has left nothing: its processes, state and files.
  V2. Whatever goes wrong with a round, the next change begins another; only Ctrl-C ends it.
*/

export interface DevArguments {
  readonly file: string;
  readonly args: readonly string[];
  readonly config: ConfigMap;
  /** `<component>=<port>` (executor/inspect-flags.ts). */
  readonly inspect: string | undefined;
  readonly timeoutSeconds: number;
}

/** How often the table is drawn; the metrics come as often. */
const TABLE_PERIOD_MS = 1_000;
const METRICS = new Map([['heron.metrics.export.interval.ms', `${TABLE_PERIOD_MS}`]]);

export async function dev(given: DevArguments, context: CommandContext): Promise<CommandResult> {
  const { interruption, clock, output } = context;
  const name = nameOf(given.file);
  await using folder = await openWorkFolder(context.dataRoot);
  let change = new AbortController();
  using sources = new SourceWatch({
    files: systemFiles,
    clock,
    onChange: (file) => change.abort(file),
  });
  await sources.watch([resolve(given.file)]);
  while (!interruption.aborted) {
    change = new AbortController();
    const ends = AbortSignal.any([interruption, change.signal]);
    const round = { ...context, dataRoot: folder.path, interruption: ends };
    try {
      await runRound(given, name, sources, round);
    } catch (error) {
      if (!(error instanceof Interrupted)) tell(error, context);
    }
    if (!ends.aborted) {
      output.say('waiting for a change of the sources; Ctrl-C ends it');
      await aborted(ends);
    }
    if (change.signal.aborted) output.say(`${String(change.signal.reason)} has changed`);
  }
  return { json: { name, state: 'ENDED' }, text: `${name} is gone` };
}

/** Runs the topology until it ends by itself or is told to; then nothing of it is left. */
async function runRound(
  given: DevArguments,
  name: TopologyName,
  sources: SourceWatch,
  round: CommandContext,
): Promise<void> {
  const { output, clock } = round;
  const place: Place = completePlace({ cluster: 'local', environ: 'dev' }, round.currentUser);
  const inspect = given.inspect === undefined ? {} : { HERON_INSPECT: given.inspect };
  await using cluster = openDependentCluster(round, inspect);
  const config = new Map([...METRICS, ...given.config]);
  const request = {
    ...given,
    config,
    place,
    name,
    initialState: 'RUNNING',
    replace: true,
  } as const;
  const launched = await launchTopology(request, cluster, round);
  await sources.watch(launched.sources);
  const table = new LiveTable(output);
  const logs = followLogs(launched, cluster, clock, (line) => table.write(humanLine(line, output)));
  const drawing = clock.every(TABLE_PERIOD_MS, () => void draw(table, launched, cluster));
  try {
    await awaitStart(launched, given.timeoutSeconds, cluster, round);
    table.write(`${name} runs; a change of its sources starts it anew, Ctrl-C ends it\n`);
    const end = await followRun(launched, cluster, round, ({ process, exit }) =>
      table.write(`${output.style('yellow', `${process} ${exit.reason}`)}\n`),
    );
    await draw(table, launched, cluster);
    if (end.kind === 'completed') table.write(`${name} has completed\n`);
  } finally {
    drawing.cancel();
    table.leave();
    await clearAway(launched.target, launched.scheduler, cluster, round, { keepLogs: true });
    await logs.close();
  }
}

/** What cannot be read now is read a moment later. */
async function draw(
  table: LiveTable,
  { topology }: LaunchedTopology,
  { stateManager }: Cluster,
): Promise<void> {
  try {
    const master = await findMaster(stateManager, topology.name, topology.id);
    if (master !== undefined) table.update(await readComponentMetrics(master, topology));
  } catch {
    // The master starts, or ends.
  }
}

function tell(error: unknown, { output }: CommandContext): void {
  const { message, details = [], next } = errorReportOf(error);
  output.warn(`${output.warningStyle('red', 'error:')} ${message}`);
  for (const line of details) output.warn(`    ${line}`);
  output.warn(`Next: ${next}`);
}

async function aborted(signal: AbortSignal): Promise<void> {
  if (!signal.aborted) await once(signal, 'abort');
}

/** Topologies of `heron dev` are named after their modules. */
function nameOf(file: string): TopologyName {
  const stem = basename(file, extname(file)).replaceAll(/[^A-Za-z0-9_-]/g, '-');
  return parseTopologyName(stem);
}
