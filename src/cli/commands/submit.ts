import type { ConfigMap } from '../../model/logical-topology.ts';
import { awaitStart } from '../await-start.ts';
import { openCluster } from '../cluster.ts';
import type { CommandContext, CommandResult } from '../command-context.ts';
import { completePlace, parsePlace, placeText } from '../place.ts';
import { launchTopology } from '../submission.ts';
import { parseTopologyName } from '../topology-record.ts';
import { confirmSubmit } from '../unconfirmed-submit.ts';

export interface SubmitArguments {
  readonly place: string;
  readonly file: string;
  readonly name: string;
  readonly args: readonly string[];
  readonly config: ConfigMap;
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
  await using cluster = openCluster(place.cluster, context);
  const launched = await context.output.whileWaiting(`packaging ${given.file}`, () =>
    launchTopology({ ...given, place, name }, cluster, context),
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
  return {
    json: { ...base, state: 'RUNNING' },
    text: `${name} runs; next: 'heron status ${there} ${name}', 'heron logs -f ${there} ${name}'`,
  };
}
