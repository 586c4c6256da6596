import { paths } from '../state-manager/paths.ts';
import type { SchedulerTarget } from '../scheduler/scheduler.ts';
import { AdvisedError } from './advised-error.ts';
import type { Cluster } from './cluster.ts';

/**
 * Refuses a topology whose scheduler lives, but not here: machines may share a state store, but a
 * local scheduler and its processes are ended on their own machine only. Taken for wreckage, the
 * topology's nodes would go and its processes would stay.
 *
 * @throws EngineError TOPOLOGY_NOT_READY
 */
export async function refuseForeignScheduler(
  { scheduler, stateManager }: Pick<Cluster, 'scheduler' | 'stateManager'>,
  target: SchedulerTarget,
): Promise<void> {
  const { topologyName: name } = target;
  const { schedulerPid } = await scheduler.describe(target);
  if (schedulerPid !== undefined) return;
  // Of a scheduler that has died here the node reads as absent.
  if ((await stateManager.read(paths.scheduler(name))) === undefined) return;
  const message = `the scheduler of ${name} lives, but not on this machine, below this HERON_DATA`;
  throw new AdvisedError('TOPOLOGY_NOT_READY', message, {
    domain: 'user',
    next: 'run the command where the topology was submitted',
  });
}
