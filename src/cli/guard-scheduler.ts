import { messageOf } from '../base/errors.ts';
import { paths } from '../state-manager/paths.ts';
import type { Cluster } from './cluster.ts';
import type { CommandContext } from './command-context.ts';
import { ensureScheduler } from './ensure-scheduler.ts';
import type { LaunchedTopology } from './submission.ts';

/**
 * Does the work of a topology's scheduler whenever that dies, for as long as a command stays with
 * the topology. A scheduler that has died leaves no node; so does one that takes the topology
 * down, but that one lives, and is left alone.
 */
export async function whileGuarded<Result>(
  { place, topology: { name } }: Pick<LaunchedTopology, 'place' | 'topology'>,
  cluster: Cluster,
  context: CommandContext,
  work: () => Promise<Result>,
): Promise<Result> {
  let repairs: Promise<unknown> = Promise.resolve();
  const watch = cluster.stateManager.watch(paths.scheduler(name), (bytes) => {
    if (bytes !== undefined) return;
    repairs = repairs
      .then(() => ensureScheduler({ name }, place, cluster, context))
      .catch((error: unknown) => {
        const what = `the scheduler of ${name} cannot be looked after: ${messageOf(error)}`;
        context.output.warn(`warning: ${what}`);
      });
  });
  try {
    return await work();
  } finally {
    watch.close();
    await repairs;
  }
}
