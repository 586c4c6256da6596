import { join } from 'node:path';
import type { TopologyId, TopologyName } from '../base/ids.ts';
import { systemFiles } from '../base/system-files.ts';
import {
  createArchives,
  createScheduler,
  type DeadLetterFolder,
  keptDeadLetterFolders,
  keptLogFolders,
  keptLogsFolder,
  type LogFolder,
  runningDeadLetterFolders,
  runningLogFolders,
  workingRootOf,
} from '../scheduler/create.ts';
import type { Scheduler, SchedulerTarget } from '../scheduler/scheduler.ts';
import { createStateManager } from '../state-manager/create.ts';
import type { StateManager } from '../state-manager/state-manager.ts';
import type { ProcessTable } from '../supervision/process-table.ts';
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
  readonly deadLetters: DeadLetterFolders;
}

/** Where the dead letters of topologies are on this machine. */
export interface DeadLetterFolders {
  running(target: SchedulerTarget): Promise<readonly DeadLetterFolder[]>;
  kept(id: TopologyId): Promise<readonly DeadLetterFolder[]>;
}

/** Where the log files of topologies are on this machine. */
export interface TopologyLogs {
  /** For people to look into. */
  runningPath(target: SchedulerTarget): string;
  keptPath(id: TopologyId): string;
  running(target: SchedulerTarget): Promise<readonly LogFolder[]>;
  kept(id: TopologyId): Promise<readonly LogFolder[]>;
}

/** What runs a cluster's processes, and the variables that they get. */
export interface ClusterMachine {
  readonly processes: ProcessTable;
  readonly variables: NodeJS.ProcessEnv;
}

/** Opens a cluster by its name, which `parsePlace` has checked. Touches nothing yet. */
export function openCluster(
  name: string,
  context: CommandContext,
  machine: ClusterMachine = { processes: systemProcessTable, variables: process.env },
): Cluster {
  const { dataRoot, clock, random, logger } = context;
  const root = join(dataRoot, 'repository', 'state', name);
  const { processes, variables } = machine;
  const base = { files: systemFiles, processes, clock, random, logger };
  const stateManager = createStateManager({ ...base, kind: 'file', root });
  const parts = {
    ...base,
    dataRoot,
    stateRoot: root,
    stateManager,
    executable: process.execPath,
    variables,
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
    deadLetters: {
      running: (target) => runningDeadLetterFolders(systemFiles, dataRoot, target),
      kept: (id) => keptDeadLetterFolders(systemFiles, dataRoot, id),
    },
    [Symbol.asyncDispose]: () => stateManager.close(),
  };
}

export function targetOf({ cluster, role }: Place, topologyName: TopologyName): SchedulerTarget {
  return { topologyName, cluster, role };
}
