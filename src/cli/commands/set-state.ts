import { environmentError } from '../../base/errors.ts';
import type { TopologyId, TopologyName } from '../../base/ids.ts';
import { paths } from '../../state-manager/paths.ts';
import { decodePhysicalPlan } from '../../wire/physical-plan.ts';
import type { Cluster } from '../cluster.ts';
import type { CommandContext, CommandResult } from '../command-context.ts';
import { findTopology, type TopologyArguments } from '../find-topology.ts';
import { commandState, type MasterPorts, masterIn } from '../master-client.ts';
import { runningId } from '../running-id.ts';
import { watchWhileRunning } from '../watch-while-running.ts';

const STATES = { activate: 'RUNNING', deactivate: 'PAUSED' } as const;

/** A master that died is started again by its executor, within the back-off's limit of 10 s. */
const MASTER_LIMIT_MS = 30_000;
/** Between two attempts with a master that answers, but has no plan yet. */
const PLAN_LIMIT_MS = 30_000;

/** `activate` and `deactivate`: resolves when the stored plan says so. */
export async function setState(
  command: keyof typeof STATES,
  given: TopologyArguments,
  context: CommandContext,
): Promise<CommandResult> {
  const wanted = STATES[command];
  await using found = await findTopology(given, context);
  const { cluster, place, status } = found;
  const { name } = status.record;
  const id = runningId(found);
  const before = status.physicalPlan?.topology.state;
  const base = { name, id, ...place, state: wanted };
  if (before === wanted) {
    const adjective = wanted === 'RUNNING' ? 'active' : 'inactive';
    return { json: { ...base, changed: false }, text: `${name} is ${adjective} already` };
  }
  await change({ command, name, id }, cluster, context);
  return { json: { ...base, changed: true }, text: `${name} is ${command}d` };
}

interface Change {
  readonly command: keyof typeof STATES;
  readonly name: TopologyName;
  readonly id: TopologyId;
}

async function change(
  { command, name, id }: Change,
  cluster: Cluster,
  context: CommandContext,
): Promise<void> {
  const { stateManager } = cluster;
  const secret = await stateManager.read(paths.token(name));
  const token = Buffer.from(secret ?? []).toString();
  await firstPlan(name, id, cluster, context);
  const master = await awaitMaster(name, id, cluster, context);
  await commandState(master, { command, topologyId: id, token });
  const bytes = await stateManager.read(paths.physicalPlan(name));
  const state = bytes === undefined ? undefined : decodePhysicalPlan(bytes).topology.state;
  if (state === STATES[command]) return;
  const text = `another command has made ${name} ${state ?? 'nothing'} in the same moment`;
  throw environmentError('STATE_CONFLICT', text);
}

/** A topology that is still coming up has no state to change yet. */
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

async function awaitMaster(
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
