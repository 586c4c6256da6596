import { hasCode, messageOf } from '../base/errors.ts';
import type { RepairOutcome } from '../scheduler/scheduler.ts';
import { paths } from '../state-manager/paths.ts';
import { type Cluster, targetOf } from './cluster.ts';
import type { CommandContext } from './command-context.ts';
import type { Place } from './place.ts';
import type { TopologyRecord } from './topology-record.ts';

/**
 * Does the work of a dead local scheduler before a command looks at its topology. Not while another
 * command works on the topology, which may be about to start or to end that scheduler.
 */
export async function ensureScheduler(
  { name }: Pick<TopologyRecord, 'name'>,
  place: Place,
  { scheduler, stateManager }: Cluster,
  { output }: CommandContext,
): Promise<RepairOutcome | undefined> {
  if ((await stateManager.read(paths.command(name))) !== undefined) return undefined;
  try {
    const outcome = await scheduler.repair(targetOf(place, name));
    if (outcome === 'restarted') output.warn(`the scheduler of ${name} had died; it runs again`);
    return outcome;
  } catch (error) {
    if (!hasCode(error, 'PROCESS_FAILED', 'START_TIMEOUT', 'STATE_CORRUPTED')) throw error;
    output.warn(`warning: the scheduler of ${name} is dead: ${messageOf(error)}`);
    return undefined;
  }
}
