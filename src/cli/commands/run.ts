import { environmentError } from '../../base/errors.ts';
import type { Completion } from '../../model/completion.ts';
import { paths } from '../../state-manager/paths.ts';
import { AdvisedError, Interrupted } from '../advised-error.ts';
import { awaitStart } from '../await-start.ts';
import { type Cluster, openCluster } from '../cluster.ts';
import type { CommandContext, CommandResult } from '../command-context.ts';
import { countLetters, lettersText } from '../dead-letters/letter-files.ts';
import { CLI_EXIT } from '../exit-codes.ts';
import { incidentLines } from '../incident-lines.ts';
import { followRun, type RunEnd } from '../follow-run.ts';
import { whileGuarded } from '../guard-scheduler.ts';
import { completePlace, parsePlace, type Place, placeText } from '../place.ts';
import type { ProcessEvent } from '../process-events.ts';
import { clearAway, type LaunchedTopology, launchTopology } from '../submission.ts';
import { parseTopologyName } from '../topology-record.ts';
import { readCompletion } from '../topology-watch.ts';
import { watchUntil } from '../watch-until.ts';
import type { SubmitArguments } from './submit.ts';
import { TAKE_DOWN_LIMIT_MS } from '../take-down-limit.ts';

const MS_PER_SECOND = 1000;

/** Starts a topology, stays until it ends, and leaves nothing behind. */
export async function run(
  given: Omit<SubmitArguments, 'wait' | 'deactivated' | 'dryRun'>,
  context: CommandContext,
): Promise<CommandResult> {
  const { clock, output } = context;
  const place = completePlace(parsePlace(given.place), context.currentUser);
  const name = parseTopologyName(given.name);
  await using cluster = await openCluster(place.cluster, context);
  output.say(`packaging ${given.file}`);
  const launched = await launchTopology(
    { ...given, place, name, initialState: 'RUNNING' },
    cluster,
    context,
  );
  const startedAtMs = clock.now();
  output.say(describeLaunch(launched));
  output.say(`logs: ${cluster.logs.runningPath(launched.target)}`);
  const started = await awaitStart(launched, given.timeoutSeconds, cluster, context);
  if (started === 'running') output.say(`${name} runs; Ctrl-C kills it`);
  const events: ProcessEvent[] = [];
  const end = await whileGuarded(launched, cluster, context, () =>
    followRun(launched, cluster, context, (event) => {
      events.push(event);
      output.say(output.style('yellow', describeEvent(event)));
    }),
  );
  const completion = await finish(end, launched, cluster, context);
  const seconds = (clock.now() - startedAtMs) / MS_PER_SECOND;
  const logs = cluster.logs.keptPath(launched.topology.id);
  const { result, incidents, recovered, completedAtMs } = completion;
  // They are kept with its logs.
  const deadLetters = await countLetters(await cluster.deadLetters.kept(launched.topology.id));
  return {
    json: {
      name,
      id: launched.topology.id,
      ...place,
      state: 'COMPLETED',
      result,
      incidents,
      recovered,
      completedAtMs,
      seconds,
      restarts: events.length,
      deadLetters,
      logs,
    },
    text: [
      describeEnd(name, completion, seconds),
      ...deadLetterLines(deadLetters, place, name),
      `logs: ${logs}`,
    ].join('\n'),
    exitCode: result === 'completed' ? CLI_EXIT.ok : CLI_EXIT.completedWithLosses,
  };
}

/** Resolves when nothing of the topology is left but its logs and the record of its completion. */
async function finish(
  end: RunEnd,
  launched: LaunchedTopology,
  cluster: Cluster,
  context: CommandContext,
): Promise<Completion> {
  const { target, scheduler, topology, place } = launched;
  const { name } = topology;
  switch (end.kind) {
    case 'completed': {
      const { stateManager } = cluster;
      const { clock } = context;
      const path = paths.topology(name);
      const watched = { stateManager, clock, path, limitMs: TAKE_DOWN_LIMIT_MS };
      const isGone = await whileGuarded(launched, cluster, context, () =>
        watchUntil(watched, (bytes) => bytes === undefined),
      );
      if (!isGone) {
        throw environmentError('PROCESS_LOST', `${name} has completed but is not taken down`);
      }
      await scheduler.awaitEnd(topology.id);
      return end.completion;
    }
    case 'gone': {
      const completion = await readCompletion(cluster.stateManager, topology);
      if (completion !== undefined) return completion;
      throw new AdvisedError('TOPOLOGY_NOT_FOUND', `${name} was killed by another command`, {
        domain: 'user',
        next: `'heron list ${placeText(place)}' shows what there is`,
      });
    }
    case 'interrupted':
      context.output.say(`killing ${name}`);
      await clearAway(target, scheduler, cluster, context);
      throw new Interrupted(`${name} was interrupted and killed`);
    case 'failed': {
      await clearAway(target, scheduler, cluster, context, { keepLogs: true });
      const { process, exit } = end.event;
      const text = `${name} was killed because ${process} died too often: it ${exit.reason}`;
      throw new AdvisedError('PROCESS_FAILED', text, {
        domain: 'environment',
        details: exit.lastLines,
        next: `the logs are in ${cluster.logs.keptPath(topology.id)}`,
      });
    }
  }
}

function describeLaunch({ topology, packingPlan }: LaunchedTopology): string {
  const { containers } = packingPlan;
  const tasks = containers.reduce((sum, { instances }) => sum + instances.length, 0);
  const where = containers.length === 1 ? 'one container' : `${containers.length} containers`;
  return `starting ${topology.name}: ${tasks} tasks in ${where}`;
}

function describeEvent({ container, process, state, exit }: ProcessEvent): string {
  const then = state === 'failed' ? 'it is not started again' : 'it is started again';
  return `container ${container}: ${process} ${exit.reason}; ${then}`;
}

function describeEnd(name: string, completion: Completion, seconds: number): string {
  const time = `after ${seconds.toFixed(1)} s`;
  const first =
    completion.result === 'completed'
      ? `${name} has completed ${time}`
      : `${name} has completed ${time}, but its results may lack tuples, because of:`;
  return [first, ...incidentLines(completion)].join('\n');
}

function deadLetterLines(count: number, place: Place, name: string): readonly string[] {
  if (count === 0) return [];
  return [
    `${lettersText(count)}: 'heron dead-letters list ${placeText(place)} ${name}' shows them`,
  ];
}
