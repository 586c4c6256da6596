import { join } from 'node:path';
import {
  type ContainerId,
  containerId,
  type TopologyId,
  type TopologyName,
} from '../../base/ids.ts';
import type { SchedulerTarget } from '../scheduler.ts';

/*
  Where the local scheduler keeps what belongs to one topology:

    <data root>/topologies/<cluster>/<role>/<topology>/
      launch.json          what was asked for, so that a scheduler that died can be started again
      kill.json            there from the moment a kill is asked for
      scheduler.pid        the scheduler, executor-<n>.pid its executors
      scheduler.log        JSON lines; scheduler.out its standard output and error
      executors.json       the state of the executors, for people
      container-<n>/       an executor's folder: the unpacked archive, log-files/, dead-letters/,
                           pid files, executor.beat; gone when the container leaves the topology
    <data root>/repository/topologies/<cluster>/<role>/<topology>/<topology id>.tar.gz    the upload
    <data root>/logs/<topology id>/container-<n>/     log files that outlive their topology or
                                                      their container, and its dead-letters/
    <data root>/compile-cache/                        Node's, for all topologies
*/

export interface WorkingFolder {
  readonly root: string;
  readonly launchFile: string;
  readonly killFile: string;
  readonly schedulerLog: string;
  readonly schedulerOutput: string;
  readonly executorsFile: string;
}

export const SCHEDULER = 'scheduler';
export const CONTAINER_PREFIX = 'container-';

export function workingFolderOf(dataRoot: string, target: SchedulerTarget): WorkingFolder {
  const { cluster, role, topologyName } = target;
  return workingFolderAt(join(allTopologiesFolder(dataRoot), cluster, role, topologyName));
}

export function allTopologiesFolder(dataRoot: string): string {
  return join(dataRoot, 'topologies');
}

/** The folder of a topology's uploads; each is named after its topology's id. */
export function uploadsFolder(dataRoot: string, target: SchedulerTarget): string {
  const { cluster, role, topologyName } = target;
  return join(dataRoot, 'repository', 'topologies', cluster, role, topologyName);
}

export function workingFolderAt(root: string): WorkingFolder {
  return {
    root,
    launchFile: join(root, 'launch.json'),
    killFile: join(root, 'kill.json'),
    schedulerLog: join(root, 'scheduler.log'),
    schedulerOutput: join(root, 'scheduler.out'),
    executorsFile: join(root, 'executors.json'),
  };
}

/** The name of a container's executor, as its pid file has it. */
export function executorName(container: ContainerId): string {
  return `executor-${container}`;
}

/** Whose executor has this name; undefined when it is no executor's. */
export function containerOf(name: string): ContainerId | undefined {
  const digits = /^executor-(\d+)$/.exec(name)?.[1];
  return digits === undefined ? undefined : containerId(Number(digits));
}

export function containerFolder({ root }: WorkingFolder, container: ContainerId): string {
  return join(root, `${CONTAINER_PREFIX}${container}`);
}

/** The `.defn` file in a container's folder. */
export function definitionFile(containerPath: string, topologyName: TopologyName): string {
  return join(containerPath, `${topologyName}.defn`);
}

export function logFolder(containerPath: string): string {
  return join(containerPath, 'log-files');
}

export function executorOutput(containerPath: string, container: ContainerId): string {
  return join(logFolder(containerPath), `heron-executor-${container}.out`);
}

export function allKeptLogsFolder(dataRoot: string): string {
  return join(dataRoot, 'logs');
}

export function keptLogsFolder(dataRoot: string, topology: TopologyId): string {
  return join(allKeptLogsFolder(dataRoot), topology);
}

/** What is kept of one container; its dead letters are below. */
export function keptLogsOf(dataRoot: string, topology: TopologyId, container: ContainerId): string {
  return join(keptLogsFolder(dataRoot, topology), `${CONTAINER_PREFIX}${container}`);
}

export function compileCacheFolder(dataRoot: string): string {
  return join(dataRoot, 'compile-cache');
}
