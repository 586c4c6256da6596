import { userError } from '../base/errors.ts';
import type { TopologyId, TopologyName } from '../base/ids.ts';
import { systemFiles } from '../base/system-files.ts';
import { knownClusters } from '../config/cluster-settings.ts';
import { quotable } from '../model/quotable.ts';
import { tcpNetwork } from '../net/tcp-network.ts';
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
import { createStateManager, grantedSessionMs } from '../state-manager/create.ts';
import type { StateAddress } from '../state-manager/state-address.ts';
import type { StateManager } from '../state-manager/state-manager.ts';
import type { ProcessTable } from '../supervision/process-table.ts';
import { systemProcessTable } from '../supervision/system-process-table.ts';
import type { Uploader } from '../uploader/uploader.ts';
import { withAdvice } from './advised-state.ts';
import { stateAddressOf } from './cluster-state.ts';
import type { CommandContext } from './command-context.ts';
import type { Place } from './place.ts';

/** The parts of a cluster that commands work with. */
export interface Cluster extends AsyncDisposable {
  readonly name: string;
  /** Where its state tree is. */
  readonly state: StateAddress;
  readonly stateManager: StateManager;
  /** How long its servers remember a silent process; undefined where there are none. */
  grantedSessionMs(): Promise<number | undefined>;
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

/**
 * Opens a cluster by its name. Reads its settings, and touches nothing else yet.
 *
 * @throws EngineError INVALID_ARGUMENT when there is none of this name, INVALID_CONFIG.
 */
export async function openCluster(name: string, context: CommandContext): Promise<Cluster> {
  await checkCluster(name, context);
  const state = await stateAddressOf(name, context);
  return openClusterAt(state, name, context);
}

/** @throws EngineError INVALID_ARGUMENT that names the clusters that there are. */
export async function checkCluster(
  name: string,
  { configRoot }: Pick<CommandContext, 'configRoot'>,
): Promise<void> {
  const known = await knownClusters(configRoot);
  if (known.includes(name)) return;
  const there = known.map((each) => `'${each}'`).join(', ');
  const unknown = `there is no cluster '${quotable(name)}'; there is ${there}`;
  const remedy = `settings in ${configRoot}/${quotable(name)} would make one`;
  throw userError('INVALID_ARGUMENT', `${unknown}; ${remedy}`);
}

/** The same for a state store that is not the settings' to choose. */
export function openClusterAt(
  state: StateAddress,
  name: string,
  context: CommandContext,
  machine: ClusterMachine = { processes: systemProcessTable, variables: process.env },
): Cluster {
  const { dataRoot, clock, random, logger } = context;
  const { processes, variables } = machine;
  const base = { files: systemFiles, processes, clock, random, logger, variables };
  const ports = { ...base, network: tcpNetwork, variables: context.variables };
  // A command that has lost its lock must not go on in its name.
  const stateManager = withAdvice(
    createStateManager(state, ports, { endsWithLostNodes: true }),
    name,
    state,
  );
  const parts = {
    ...base,
    dataRoot,
    state,
    stateManager,
    executable: process.execPath,
  };
  return {
    name,
    state,
    stateManager,
    grantedSessionMs: () => grantedSessionMs(state, ports),
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
