import { join } from 'node:path';
import type { TopologyName } from '../base/ids.ts';
import { createScheduler } from '../scheduler/create.ts';
import type { Scheduler, SchedulerTarget } from '../scheduler/scheduler.ts';
import { createStateManager } from '../state-manager/create.ts';
import type { StateManager } from '../state-manager/state-manager.ts';
import type { CommandContext } from './command-context.ts';
import type { Place } from './place.ts';

/** The parts of a cluster that commands work with. */
export interface Cluster extends AsyncDisposable {
  readonly name: string;
  readonly stateManager: StateManager;
  readonly scheduler: Scheduler;
  /** The same, whose new topologies run on these addresses. */
  schedulerOn(hosts: readonly string[]): Scheduler;
}

/** Opens a cluster by its name, which `parsePlace` has checked. Touches nothing yet. */
export function openCluster(name: string, context: CommandContext): Cluster {
  const { dataRoot, clock, random, logger } = context;
  const stateRoot = join(dataRoot, 'repository', 'state', name);
  const stateManager = createStateManager({ kind: 'file', root: stateRoot, clock, random, logger });
  const options = { kind: 'local', dataRoot, stateRoot, stateManager, clock, random, logger } as const;
  return {
    name,
    stateManager,
    scheduler: createScheduler(options),
    schedulerOn: (hosts) => createScheduler({ ...options, hosts }),
    [Symbol.asyncDispose]: () => stateManager.close(),
  };
}

export function targetOf({ cluster, role }: Place, topologyName: TopologyName): SchedulerTarget {
  return { topologyName, cluster, role };
}
