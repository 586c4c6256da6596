import { environmentError } from '../base/errors.ts';
import type { TopologyId, TopologyName } from '../base/ids.ts';
import { paths } from '../state-manager/paths.ts';
import { decodePhysicalPlan } from '../wire/physical-plan.ts';
import type { Cluster } from './cluster.ts';
import type { CommandContext } from './command-context.ts';
import { type MasterPorts, masterIn } from '../topology-client/master-client.ts';
import { watchWhileRunning } from './watch-while-running.ts';

/** A master that died is started again by its executor, within the back-off's limit of 10 s. */
const MASTER_LIMIT_MS = 30_000;
/** Between two attempts with a master that answers, but has no plan yet. */
const PLAN_LIMIT_MS = 30_000;

/** A topology whose master is asked something, and the secret that it demands. */
export interface CommandedMaster {
  readonly master: MasterPorts;
  readonly token: string;
}

/**
 * Waits until a topology has a plan and a master that can change it. One that is still coming up
 * has nothing to change yet.
 *
 * @throws EngineError START_TIMEOUT, REQUEST_TIMEOUT, or TOPOLOGY_NOT_FOUND when it has ended
 */
export async function awaitMaster(
  name: TopologyName,
  id: TopologyId,
  cluster: Cluster,
  context: CommandContext,
): Promise<CommandedMaster> {
  const secret = await cluster.stateManager.read(paths.token(name));
  await firstPlan(name, id, cluster, context);
  const master = await nextMaster(name, id, cluster, context);
  return { master, token: Buffer.from(secret ?? []).toString() };
}

async function firstPlan(
  name: TopologyName,
  id: TopologyId,
  { stateManager }: Cluster,
  { clock }: CommandContext,
): Promise<void> {
  const path = paths.physicalPlan(name);
  const isThere = await watchWhileRunning(
    { stateManager, clock, path, limitMs: PLAN_LIMIT_MS, name, id },
    (bytes) => bytes !== undefined && decodePhysicalPlan(bytes).topology.id === id,
  );
  if (isThere) return;
  throw environmentError('START_TIMEOUT', `${name} has not come up within ${PLAN_LIMIT_MS} ms`);
}

async function nextMaster(
  name: TopologyName,
  id: TopologyId,
  { stateManager }: Cluster,
  { clock }: CommandContext,
): Promise<MasterPorts> {
  const path = paths.topologyMaster(name);
  const watched = { stateManager, clock, path, limitMs: MASTER_LIMIT_MS, name, id };
  let master: MasterPorts | undefined;
  await watchWhileRunning(watched, (bytes) => {
    master = bytes === undefined ? undefined : masterIn(bytes, id);
    return master !== undefined;
  });
  if (master !== undefined) return master;
  throw environmentError(
    'REQUEST_TIMEOUT',
    `the topology master of ${name} has been away for ${MASTER_LIMIT_MS} ms`,
  );
}
