import { messageOf } from '../base/errors.ts';
import type { TopologyName } from '../base/ids.ts';
import { randomHex } from '../base/random.ts';
import { ENGINE_VERSION } from '../base/version.ts';
import type { LogicalTopology } from '../model/logical-topology.ts';
import type { PackingPlan } from '../model/packing-plan.ts';
import { Settings } from '../model/settings.ts';
import type { Scheduler, SchedulerTarget } from '../scheduler/scheduler.ts';
import { paths } from '../state-manager/paths.ts';
import { encodeExecutionState } from '../wire/execution-state.ts';
import { encodePackingPlan } from '../wire/packing-plan.ts';
import { encodeTopology } from '../wire/topology.ts';
import { claimName } from './claim-name.ts';
import { type Cluster, targetOf } from './cluster.ts';
import type { CommandContext } from './command-context.ts';
import { withCommandLock } from './command-lock.ts';
import type { Place } from './place.ts';
import { prepareTopology, type TopologySource } from './prepare-topology.ts';
import { confirmSubmit, noteSubmit } from './unconfirmed-submit.ts';
import { openWorkFolder } from './work-folder.ts';

/*
  What a submit does before it waits:

    package     bundle the module, look at its topology in a process of its own, check everything
    pack        deal the tasks to containers
    claim       see that the name is free, clear away what a dead command left under it, and with
                --replace end the topology that has it
    note        say that a submit of this name is on its way (unconfirmed-submit.ts)
    upload      put the archive where the containers fetch it
    records     token, topology, packing plan, execution state, in this order (Heron's)
    launch      hand it over to the scheduler

  S1. Nothing is stored before the topology has passed every check.
  S2. A crash between any two steps leaves what the next submit or kill of this name clears away:
      a live command holds the command lock, so nodes without lock and scheduler are wreckage.
*/

export interface SubmitRequest extends TopologySource {
  readonly place: Place;
  /** A topology of this name that runs at the same place is killed first. */
  readonly replace: boolean;
}

/** A topology that its scheduler has taken over. */
export interface LaunchedTopology {
  readonly place: Place;
  readonly target: SchedulerTarget;
  readonly topology: LogicalTopology;
  readonly packingPlan: PackingPlan;
  readonly scheduler: Scheduler;
  /** The files that its module was bundled of. */
  readonly sources: readonly string[];
}

const TOKEN_BYTES = 16;
const MS_PER_SECOND = 1000;

export async function launchTopology(
  request: SubmitRequest,
  cluster: Cluster,
  context: CommandContext,
): Promise<LaunchedTopology> {
  const { place, name, replace } = request;
  await using workFolder = await openWorkFolder(context.dataRoot);
  const prepared = await prepareTopology(request, workFolder.path, context);
  const { topology, packingPlan, archivePath, sources, warnings } = prepared;
  for (const warning of warnings) context.output.warn(`warning: ${warning}`);
  const hosts = new Settings(topology.config).get('heron.scheduler.local.hosts').split(',');
  const launched: LaunchedTopology = {
    place,
    target: targetOf(place, name),
    topology,
    packingPlan,
    scheduler: cluster.schedulerOn(hosts),
    sources,
  };
  await withCommandLock({ ...lockOf(cluster, context, name), command: 'heron submit' }, () =>
    store(launched, { archivePath, replace }, cluster, context),
  );
  return launched;
}

export function lockOf(cluster: Cluster, context: CommandContext, name: TopologyName) {
  const onWait = (holder: string): void => {
    context.output.warn(`waiting for '${holder}', which works on ${name}`);
  };
  return { stateManager: cluster.stateManager, clock: context.clock, name, onWait };
}

async function store(
  { place, target, topology, packingPlan, scheduler }: LaunchedTopology,
  { archivePath, replace }: { readonly archivePath: string; readonly replace: boolean },
  cluster: Cluster,
  context: CommandContext,
): Promise<void> {
  const { stateManager } = cluster;
  const { name } = topology;
  await claimName({ name, place, replace }, cluster, context);
  context.afterStep('claim');
  try {
    await noteSubmit(stateManager, name);
    context.afterStep('note');
    const archive = await cluster.archives(target).upload(topology.id, archivePath);
    context.afterStep('upload');
    const token = randomHex(context.random, TOKEN_BYTES);
    await stateManager.write(paths.token(name), Buffer.from(token));
    context.afterStep('token');
    await stateManager.write(paths.topology(name), encodeTopology(topology));
    context.afterStep('topology');
    await stateManager.write(paths.packingPlan(name), encodePackingPlan(packingPlan));
    context.afterStep('packing-plan');
    const execution = executionStateOf(topology, place, context);
    await stateManager.write(paths.executionState(name), encodeExecutionState(execution));
    context.afterStep('execution-state');
    const { environ } = place;
    await scheduler.launch({ ...target, topologyId: topology.id, environ, archive });
    context.afterStep('launch');
  } catch (error) {
    await clearAway(target, scheduler, cluster, context);
    throw error;
  }
}

/** After a failure: its reason counts, not what the clean-up runs into. */
export async function clearAway(
  target: SchedulerTarget,
  scheduler: Scheduler,
  cluster: Cluster,
  { output }: CommandContext,
  options: { readonly keepLogs?: boolean } = {},
): Promise<void> {
  try {
    await scheduler.kill(target, options);
    await cluster.archives(target).clear();
    await confirmSubmit(cluster.stateManager, target.topologyName);
  } catch (error) {
    const what = `${target.topologyName} could not be cleared away: ${messageOf(error)}`;
    output.warn(`warning: ${what}; 'heron kill' tries it again`);
  }
}

function executionStateOf(
  topology: LogicalTopology,
  place: Place,
  { clock, currentUser }: CommandContext,
) {
  return {
    ...place,
    topologyName: topology.name,
    topologyId: topology.id,
    submittedAtSeconds: Math.floor(clock.wallNow() / MS_PER_SECOND),
    submittedBy: currentUser,
    engineVersion: ENGINE_VERSION,
  };
}
