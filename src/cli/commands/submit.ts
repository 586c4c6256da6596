import type { ConfigMap } from '../../model/logical-topology.ts';
import { awaitStart } from '../await-start.ts';
import { checkCluster, openCluster } from '../cluster.ts';
import type { CommandContext, CommandResult } from '../command-context.ts';
import { dryRunJson, dryRunText } from '../dry-run.ts';
import type { DryRunFormat } from '../dry-run-format.ts';
import { completePlace, parsePlace, placeText } from '../place.ts';
import { prepareTopology, type TopologySource } from '../prepare-topology.ts';
import { launchTopology } from '../submission.ts';
import { parseTopologyName } from '../topology-record.ts';
import { confirmSubmit } from '../unconfirmed-submit.ts';
import { openWorkFolder } from '../work-folder.ts';

export interface SubmitArguments {
  readonly place: string;
  readonly file: string;
  readonly name: string;
  readonly args: readonly string[];
  readonly config: ConfigMap;
  /** The spouts rest until `heron activate`. */
  readonly deactivated: boolean;
  readonly replace: boolean;
  /** Only says what would run where. */
  readonly dryRun: DryRunFormat | undefined;
  /** False: returns when the scheduler has it, whether it will run or not. */
  readonly wait: boolean;
  readonly timeoutSeconds: number;
}

/** Starts a topology that goes on without this command. */
export async function submit(
  given: SubmitArguments,
  context: CommandContext,
): Promise<CommandResult> {
  const place = completePlace(parsePlace(given.place), context.currentUser);
  const name = parseTopologyName(given.name);
  await checkCluster(place.cluster, context);
  const initialState = given.deactivated ? 'PAUSED' : 'RUNNING';
  const source: TopologySource = { ...given, place, name, initialState };
  if (given.dryRun !== undefined) return dryRun(source, given.dryRun, context);
  await using cluster = await openCluster(place.cluster, context);
  const launched = await context.output.whileWaiting(`packaging ${given.file}`, () =>
    launchTopology({ ...source, replace: given.replace }, cluster, context),
  );
  const { topology, target } = launched;
  const there = placeText(place);
  const base = { name, id: topology.id, ...place, logs: cluster.logs.runningPath(target) };
  if (!given.wait) {
    await confirmSubmit(cluster.stateManager, name);
    return {
      json: { ...base, state: 'STARTING' },
      text: `${name} is launched; whether it runs says 'heron status ${there} ${name}'`,
    };
  }
  const outcome = await context.output.whileWaiting(`starting ${name}`, () =>
    awaitStart(launched, given.timeoutSeconds, cluster, context),
  );
  if (outcome === 'completed') {
    const logs = cluster.logs.keptPath(topology.id);
    return {
      json: { ...base, logs, state: 'COMPLETED' },
      text: `${name} ran and has completed already; its logs are in ${logs}`,
    };
  }
  if (initialState === 'PAUSED') {
    return {
      json: { ...base, state: 'PAUSED' },
      text: `${name} is there and its spouts rest; next: 'heron activate ${there} ${name}'`,
    };
  }
  return {
    json: { ...base, state: 'RUNNING' },
    text: `${name} runs; next: 'heron status ${there} ${name}', 'heron logs -f ${there} ${name}'`,
  };
}

/** Neither reads nor writes the state: it says the same whether the name is free or not. */
async function dryRun(
  source: TopologySource,
  format: DryRunFormat,
  context: CommandContext,
): Promise<CommandResult> {
  const { output } = context;
  await using workFolder = await openWorkFolder(context.dataRoot);
  const prepared = await output.whileWaiting(`packaging ${source.file}`, () =>
    prepareTopology(source, workFolder.path, context),
  );
  for (const warning of prepared.warnings) output.warn(`warning: ${warning}`);
  return {
    json: dryRunJson(prepared, source.place),
    text: dryRunText(prepared, source.place, format, output),
  };
}
