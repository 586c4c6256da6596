import { hasCode } from '../../base/errors.ts';
import type { Completion } from '../../model/completion.ts';
import type { DrainRequest } from '../../model/drain-request.ts';
import type { LogicalTopology } from '../../model/logical-topology.ts';
import { type Cluster, targetOf } from '../cluster.ts';
import type { CommandContext, CommandResult } from '../command-context.ts';
import { withCommandLock } from '../command-lock.ts';
import { awaitDrained, requestDrain } from '../drain.ts';
import { CLI_EXIT } from '../exit-codes.ts';
import { findTopology, type FoundTopology, type TopologyArguments } from '../find-topology.ts';
import { type Place, placeText } from '../place.ts';
import { lockOf } from '../submission.ts';
import { readTopologyRecord } from '../topology-record.ts';
import type { ShownState } from '../../model/topology-state.ts';
import { confirmSubmit } from '../unconfirmed-submit.ts';

export interface DrainArguments extends TopologyArguments {
  readonly timeoutSeconds: number;
}

const MS_PER_SECOND = 1000;
const CAN_BE_DRAINED: ReadonlySet<ShownState> = new Set([
  'STARTING',
  'RUNNING',
  'PAUSED',
  'DRAINING',
  'DEGRADED',
]);

/**
 * Lets a topology process what it has taken in, then ends it. Undefined when nothing of it runs, so
 * that there is nothing to wait for.
 */
export async function drain(
  given: DrainArguments,
  context: CommandContext,
): Promise<CommandResult | undefined> {
  await using found = await findUnlessAbsent(given, context);
  if (found === undefined || !CAN_BE_DRAINED.has(found.status.state)) return undefined;
  const { cluster, place, status } = found;
  const { name, topology } = status.record;
  if (topology === undefined) return undefined;
  const lock = { ...lockOf(cluster, context, name), command: 'heron kill --drain' };
  const deadlineMs = context.clock.wallNow() + given.timeoutSeconds * MS_PER_SECOND;
  const wish: DrainRequest = { topologyId: topology.id, deadlineMs };
  const request = await withCommandLock(lock, () => requestDrain(cluster.stateManager, name, wish));
  context.afterStep('drain');
  context.output.say(`draining ${name}`);
  const completion = await awaitDrained({ place, topology }, request, cluster, context);
  await withCommandLock(lock, () => removeRemains(topology, place, cluster, context));
  return resultOf(topology, place, completion, cluster);
}

/** `kill` says best what there is to say of a topology that is not there. */
async function findUnlessAbsent(
  given: TopologyArguments,
  context: CommandContext,
): Promise<FoundTopology | undefined> {
  try {
    return await findTopology(given, context);
  } catch (error) {
    if (hasCode(error, 'TOPOLOGY_NOT_FOUND')) return undefined;
    throw error;
  }
}

/** Its scheduler has done this already, unless it is dead: this is how we know that it has. */
async function removeRemains(
  { name, id }: LogicalTopology,
  place: Place,
  cluster: Cluster,
  { afterStep }: CommandContext,
): Promise<void> {
  const { scheduler, stateManager } = cluster;
  const { topology } = await readTopologyRecord(stateManager, name);
  if (topology !== undefined && topology.id !== id) return; // Submitted anew meanwhile.
  const target = targetOf(place, name);
  await scheduler.kill(target, { keepLogs: true });
  await scheduler.awaitEnd(id);
  afterStep('kill');
  await cluster.archives(target).clear();
  await confirmSubmit(stateManager, name);
}

function resultOf(
  { name, id }: LogicalTopology,
  place: Place,
  completion: Completion | undefined,
  cluster: Cluster,
): CommandResult {
  const { incidents = [], recovered = [], result } = completion ?? {};
  const drained = result === 'completed';
  const logs = cluster.logs.keptPath(id);
  const gone = `${name} is gone from ${placeText(place)}`;
  return {
    json: {
      name,
      ...place,
      state: 'KILLED',
      wasHalfDead: false,
      deadLetters: 0,
      drained,
      incidents,
      recovered,
      logs,
    },
    text: `${gone}${outcomeText(completion)}; logs: ${logs}`,
    exitCode: drained ? CLI_EXIT.ok : CLI_EXIT.completedWithLosses,
  };
}

function outcomeText(completion: Completion | undefined): string {
  if (completion === undefined) return ', but had not processed everything in time';
  if (completion.result === 'completed') return ' and has processed everything';
  const because = completion.incidents.map(
    ({ container, process, reason }) => `container ${container}: ${process} ${reason}`,
  );
  return `, but its results may lack tuples, because of ${because.join(', ')}`;
}
