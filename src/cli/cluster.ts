import { join } from 'node:path';
import type { TopologyId, TopologyName } from '../base/ids.ts';
import { systemFiles } from '../base/system-files.ts';
import {
  createArchives,
  createScheduler,
  keptLogFolders,
  keptLogsFolder,
  type LogFolder,
  runningLogFolders,
  workingRootOf,
} from '../scheduler/create.ts';
import type { Scheduler, SchedulerTarget } from '../scheduler/scheduler.ts';
import { createStateManager } from '../state-manager/create.ts';
import type { StateManager } from '../state-manager/state-manager.ts';
import { systemProcessTable } from '../supervision/system-process-table.ts';
import type { Uploader } from '../uploader/uploader.ts';
import type { CommandContext } from './command-context.ts';
import type { Place } from './place.ts';

/** The parts of a cluster that commands work with. */
export interface Cluster extends AsyncDisposable {
  readonly name: string;
  readonly stateManager: StateManager;
  readonly scheduler: Scheduler;
  /** The same, but what it launches runs on these addresses. */
  schedulerOn(hosts: readonly string[]): Scheduler;
  archives(target: SchedulerTarget): Uploader;
  readonly logs: TopologyLogs;
}

/** Where the log files of topologies are on this machine. */
export interface TopologyLogs {
  /** For people to look into. */
  runningPath(target: SchedulerTarget): string;
  keptPath(id: TopologyId): string;
  running(target: SchedulerTarget): Promise<readonly LogFolder[]>;
  kept(id: TopologyId): Promise<readonly LogFolder[]>;
}

/** Opens a cluster by its name, which `parsePlace` has checked. Touches nothing yet. */
export function openCluster(name: string, context: CommandContext): Cluster {
  const { dataRoot, clock, random, logger } = context;
  const root = join(dataRoot, 'repository', 'state', name);
  const machine = { files: systemFiles, processes: systemProcessTable, clock, random, logger };
  const stateManager = createStateManager({ ...machine, kind: 'file', root });
  const parts = {
    ...machine,
    dataRoot,
    stateRoot: root,
    stateManager,
    executable: process.execPath,
    variables: process.env,
  };
  return {
    name,
    stateManager,
    scheduler: createScheduler({ ...parts, kind: 'local' }),
    schedulerOn: (hosts) => createScheduler({ ...parts, kind: 'local', hosts }),
    archives: (target) => createArchives(parts, target),
    logs: {
      runningPath: (target) => workingRootOf(dataRoot, target),
      keptPath: (id) => keptLogsFolder(dataRoot, id),
      running: (target) => runningLogFolders(systemFiles, dataRoot, target),
      kept: (id) => keptLogFolders(systemFiles, dataRoot, id),
    },
    [Symbol.asyncDispose]: () => stateManager.close(),
  };
}

export function targetOf({ cluster, role }: Place, topologyName: TopologyName): SchedulerTarget {
  return { topologyName, cluster, role };
}
