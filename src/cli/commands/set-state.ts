import { environmentError } from '../../base/errors.ts';
import type { TopologyId, TopologyName } from '../../base/ids.ts';
import { paths } from '../../state-manager/paths.ts';
import { decodePhysicalPlan } from '../../wire/physical-plan.ts';
import { awaitMaster } from '../await-master.ts';
import type { Cluster } from '../cluster.ts';
import type { CommandContext, CommandResult } from '../command-context.ts';
import { findTopology, type TopologyArguments } from '../find-topology.ts';
import { commandMaster } from '../../topology-client/master-client.ts';
import { runningId } from '../running-id.ts';

const STATES = { activate: 'RUNNING', deactivate: 'PAUSED' } as const;

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
  const { master, token } = await awaitMaster(name, id, cluster, context);
  await commandMaster(master, { command, topologyId: id, token });
  const bytes = await stateManager.read(paths.physicalPlan(name));
  const state = bytes === undefined ? undefined : decodePhysicalPlan(bytes).topology.state;
  if (state === STATES[command]) return;
  const text = `another command has made ${name} ${state ?? 'nothing'} in the same moment`;
  throw environmentError('STATE_CONFLICT', text);
}
